import { createHash, randomUUID } from "node:crypto";
import { Busy, inWorkspaceByKey, Unsure } from "@/db/client";
import type { Refused } from "@/db/store/refuse";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal, refusalAt } from "@/lib/protocol/refusals";
import { parseBody } from "@/lib/protocol/wire";
import { LONGEST_ID, MAX_BODY_BYTES } from "@/lib/protocol/wire/parts";
import { ok, type Result, refuse } from "@/lib/result";
import type { Answered, Door, DoorVisit, Opened } from "./door";
import { withKey } from "./idempotency";
import { callerOf } from "./key";
import { paramsOf } from "./params";
import { faultProblem, JSON_HEADERS, problemOf } from "./problem";
import { readBytes, readEnvelope } from "./read-body";
import type { Services } from "./services";

/**
 * Serve one request at one door. No call of the API goes by another way: the key, the size and form of the body, the idempotency key, the
 * rate of refusals and the form of every answer are judged here, in this order, and what a door throws becomes an incident.
 */
export async function serve(door: Door, request: Request, services: Services): Promise<Response> {
  const started = performance.now();
  const response = await answer(door, request, services);
  const isHeld =
    new URL(request.url).searchParams.has("wait") || response.headers.get("content-type") === "text/event-stream";
  services.metrics.answered(
    door.method,
    door.path,
    response.status,
    isHeld ? null : (performance.now() - started) / 1000,
  );
  return response;
}

async function answer(door: Door, request: Request, services: Services): Promise<Response> {
  try {
    const authorization = request.headers.get("authorization");
    const caller = await callerOf(services.db, authorization);
    if (!caller) return refused(services, refusal("unauthenticated"));
    const opened = await admit(door, request, services, caller);
    return opened instanceof Response ? opened : opened.ok ? answered(opened.value) : refused(services, opened.refusal);
  } catch (fault) {
    if (fault instanceof Busy && !(fault instanceof Unsure)) return refused(services, refusal("busy"));
    const incident = randomUUID();
    services.report(incident, fault);
    return faultProblem(incident);
  }
}

function refused(services: Services, why: Refusal | Refused): Response {
  services.metrics.refused(why.code);
  return problemOf(why);
}

function answered({ status, json }: Answered, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(status === 204 ? null : canonicalJson(json), {
    status,
    headers: { ...JSON_HEADERS, ...headers },
  });
}

/** From a known caller to the door's answer. */
async function admit(door: Door, request: Request, services: Services, caller: Caller): Promise<Opened> {
  const url = new URL(request.url);
  const params = paramsOf(door.path, url.pathname);
  if (!params) return refuse(refusal("unknown_run"));
  const long = Object.keys(params).find((name) => [...(params[name] ?? "")].length > LONGEST_ID);
  if (long !== undefined) return refuse(refusalAt("invalid_body", long, `at most ${LONGEST_ID} characters`));
  const odd = [...url.searchParams].find(([, value]) => value.includes("\0"));
  if (odd) return refuse(refusalAt("invalid_body", `?${odd[0]}`, "U+0000 cannot stand here"));
  const object = params.run_id ?? params.ticket_id ?? "";
  // Reading stays possible: waiting by ?wait= is what a caller that is slowed down should do.
  const wait = door.method === "GET" ? 0 : services.refusalRate.waitSeconds(caller.principal, object);
  if (wait > 0) return refuse(refusal("slow_down", { retry_after_s: wait }));
  const read = await readRequest(door, request);
  if (!read.ok) return read;

  const visit: Omit<DoorVisit<unknown>, "scope"> = {
    ...read.value,
    db: services.db,
    services,
    caller,
    request,
    params,
    query: url.searchParams,
    stillCalls: async () => {
      const now = await callerOf(services.db, request.headers.get("authorization"));
      return now !== null && isSame(caller, now) && may(now, door.verb) !== "no";
    },
  };
  const opened = await openSurely(door, visit, url.pathname);
  if (!(opened instanceof Response) && !opened.ok) {
    if (isRecorded(opened.refusal)) services.refusalRate.count(caller.principal, object);
    return refuse(discreet(opened.refusal, caller, params));
  }
  return opened;
}

/**
 * Where nobody heard whether the work was kept, the same request again tells: by its key or its own id it is answered with what was done
 * the first time, or it is done now. A claim that is over answers nothing any more, so a job's report is not said twice.
 */
async function openSurely(door: Door, visit: Omit<DoorVisit<unknown>, "scope">, path: string): Promise<Opened> {
  try {
    return await open(door, visit, path);
  } catch (fault) {
    if (!(fault instanceof Unsure) || door.verb === "report_job") throw fault;
    return open(door, visit, path);
  }
}

async function open(door: Door, visit: Omit<DoorVisit<unknown>, "scope">, path: string): Promise<Opened> {
  if (door.repeats === "own" || door.repeats === "none") return door.open({ ...visit, scope: visit.db });
  const mayReplay = may(visit.caller, door.verb) !== "no";
  const keyed = await inWorkspaceByKey(visit.db, visit.caller.workspace, (tx) =>
    withKey(tx, visit, { method: door.method, path, repeats: door.repeats, mayReplay }, async () => {
      const opened = await door.open({ ...visit, scope: tx });
      if (opened instanceof Response)
        throw new Error(`${door.method} ${door.path} answers with no JSON and cannot be kept`);
      return opened;
    }),
  );
  if (!keyed.ok) return keyed;
  return keyed.value.replayed ? answered(keyed.value, { "idempotency-replayed": "true" }) : keyed;
}

interface ReadRequest {
  readonly body: unknown;
  readonly raw: Uint8Array;
  readonly bodySha256: string;
}

async function readRequest(door: Door, request: Request): Promise<Result<ReadRequest, Refusal>> {
  if (!door.body && door.rawBody === undefined) return ok({ body: undefined, raw: new Uint8Array(), bodySha256: "" });
  const bytes = await readBytes(request, door.rawBody ?? MAX_BODY_BYTES);
  if (!bytes.ok) return bytes;
  const raw = bytes.value;
  const bodySha256 = createHash("sha256").update(raw).digest("hex");
  if (!door.body) return ok({ body: undefined, raw, bodySha256 });
  const envelope = readEnvelope(raw);
  if (!envelope.ok) return envelope;
  const body = parseBody(door.body, envelope.value);
  return body.ok ? ok({ body: body.value, raw, bodySha256 }) : body;
}

/** What the ledger has, so that what is slowed down is what is written. An attempt that is merely running is no refusal. */
function isRecorded(why: Refusal | Refused): why is Refused {
  return "traceSeq" in why && why.code !== "in_progress";
}

/** One key of one principal. What it may is asked beside this: a person may have lost the role that opened the stream. */
function isSame(before: Caller, now: Caller): boolean {
  return now.principal === before.principal && now.credential === before.credential;
}

/** To a caller without a right to read tickets, a ticket's refusal tells nothing about its run. */
function discreet(why: Refusal | Refused, caller: Caller, params: Readonly<Record<string, string>>): Refusal | Refused {
  if (why.code !== "not_permitted") return why;
  const mayRead = may(caller, params.run_id === undefined ? "read_tickets" : "read_run") !== "no";
  return mayRead ? why : refusal("not_permitted");
}
