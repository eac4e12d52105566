import { randomUUID } from "node:crypto";
import { connect, type Db, inWorkspace } from "@/db/client";
import { Listener, Notifier } from "@/db/notifier";
import { makeKey, makeKeyFor } from "@/db/store/identity";
import { newWorld, type World } from "@/db/testing/world";
import { isObject, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import type { Door } from "../door";
import { DOORS } from "../doors";
import { Metrics } from "../metrics";
import { RefusalRate } from "../refusal-rate";
import { serve } from "../serve";
import type { Services } from "../services";
import { WaiterCount } from "../waiter-count";

/** Who calls in the tests, by name. `anotherAgent` owns nothing that `agent` opened. */
export const CALLERS = ["agent", "anotherAgent", "operatorKey", "workerKey", "approver", "operator", "owner"] as const;
export type CallerName = (typeof CALLERS)[number];

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly json: JsonObject;
  readonly text: string;
}

export interface SendOptions {
  readonly key?: string | null;
  readonly body?: JsonObject | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** The server's connections, where they are not the usual ones. */
  readonly db?: Db;
}

/** A world behind the API's own wrapper: requests in, answers out, each answer held against its door's schema. */
export class ApiWorld {
  private constructor(
    readonly world: World,
    readonly services: Services,
    /** Everything that the wrapper reported as a fault of ours. */
    readonly faults: readonly unknown[],
    readonly keys: Readonly<Record<CallerName, string>>,
    private readonly stop: () => Promise<void>,
  ) {}

  static async open(): Promise<ApiWorld> {
    const world = await newWorld(4);
    const notifier = new Notifier(world.appUrl);
    const listener = new Listener(world.appUrl);
    const db = await connect(world.appUrl, { role: "holdpoint_app", max: 20, onCommit: notifier.tell });
    const keys = await makeKeys(world);
    const faults: unknown[] = [];
    const services: Services = {
      db,
      changes: listener,
      refusalRate: new RefusalRate(),
      waiters: new WaiterCount(),
      metrics: new Metrics({ ofProcess: false }),
      report: (_incident, fault) => faults.push(fault),
    };
    return new ApiWorld(world, services, faults, keys, async () => {
      await Promise.all([notifier.close(), listener.close(), db.close()]);
      await world.close();
    });
  }

  async close(): Promise<void> {
    await this.stop();
  }

  /** The raw response, for streams and bytes. */
  async request(
    caller: CallerName,
    method: string,
    path: string,
    options: SendOptions = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const url = new URL(path, "http://holdpoint.test");
    const door = doorAt(method, url.pathname);
    const key = options.key === undefined ? this.keys[caller] : options.key;
    const { body } = options;
    const headers = new Headers({ "idempotency-key": randomUUID(), ...options.headers });
    if (key !== null) headers.set("authorization", `Bearer ${key}`);
    if (options.headers?.["idempotency-key"] === "") headers.delete("idempotency-key");
    const sent =
      body === undefined || typeof body === "string"
        ? body
        : body instanceof Uint8Array
          ? Buffer.from(body)
          : JSON.stringify(body);
    const init: RequestInit = {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal ? { signal } : {}),
    };
    return serve(door, new Request(url, init), options.db ? { ...this.services, db: options.db } : this.services);
  }

  async send(caller: CallerName, method: string, path: string, options: SendOptions = {}): Promise<Sent> {
    const response = await this.request(caller, method, path, options);
    const text = await response.text();
    const read = text === "" ? { ok: true as const, value: {} } : readJson(text, { maxDepth: 200, maxKeys: 1_000_000 });
    if (!read.ok || !isObject(read.value)) throw new Error(`not a JSON object: ${text}`);
    const { answer } = doorAt(method, new URL(path, "http://holdpoint.test").pathname);
    if (response.ok && response.status !== 204 && answer) {
      const judged = answer.safeParse(read.value);
      if (!judged.success)
        throw new Error(`${method} ${path} answered ${text}\nwhich is not its schema: ${judged.error.message}`);
    }
    return { status: response.status, headers: response.headers, json: read.value, text };
  }

  post(
    caller: CallerName,
    path: string,
    body: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Sent> {
    return this.send(caller, "POST", path, { body, headers });
  }

  get(caller: CallerName, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Sent> {
    return this.send(caller, "GET", path, { headers });
  }

  /** A run of `agent` with one call that waits for a person. */
  async parked(over: JsonObject = {}): Promise<{ runId: string; ticketId: string; requestId: string }> {
    const runId = await this.openRun();
    const call = { action: "send_money", args: { amount: 5 }, output: "account:1", ...over };
    const step = await this.post("agent", `/api/v1/runs/${runId}/calls`, { step: 1, calls: [call] });
    const [answer] = step.json.calls as unknown as [{ ticket: { ticket_id: string; request_id: string } }];
    return { runId, ticketId: answer.ticket.ticket_id, requestId: answer.ticket.request_id };
  }

  async openRun(): Promise<string> {
    const opened = await this.post("agent", "/api/v1/runs", { agent: "writer" });
    if (opened.status !== 201) throw new Error(opened.text);
    return String(opened.json.run_id);
  }

  /** A verdict on the ticket as it is shown now. */
  async verdict(ticketId: string, decision: JsonObject = { decision: "allow" }): Promise<JsonObject> {
    const { json } = await this.get("approver", `/api/v1/tickets/${ticketId}`);
    const { proposal_hash } = json.view as JsonObject;
    return {
      decision_id: randomUUID(),
      ...decision,
      proposal_hash: proposal_hash ?? null,
      view_digest: json.view_digest ?? null,
    };
  }
}

/** By the path's shape alone, as the router finds it. */
export function doorAt(method: string, pathname: string): Door {
  const door = DOORS.find((candidate) => {
    const shape = candidate.path.replace(/\{\w+\}/g, "[^/]+");
    return candidate.method === method && new RegExp(`^${shape}$`).test(pathname);
  });
  if (!door) throw new Error(`no door for ${method} ${pathname}`);
  return door;
}

async function makeKeys(world: World): Promise<Readonly<Record<CallerName, string>>> {
  const { db, workspace } = world;
  const ofPerson = async ({ principal }: Caller) =>
    (await inWorkspace(db, workspace, (tx) => makeKey(tx, principal, "person"))).key;
  const ofKind = async (kind: "agent" | "operator" | "worker", name: string) =>
    (await makeKeyFor(db, workspace, kind, name)).key;
  return {
    agent: await ofKind("agent", "desk"),
    anotherAgent: await ofKind("agent", "other-desk"),
    operatorKey: await ofKind("operator", "ops"),
    workerKey: await ofKind("worker", "works"),
    approver: await ofPerson(world.approver),
    operator: await ofPerson(world.operator),
    owner: await ofPerson(world.owner),
  };
}
