import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "@/lib/protocol/hash";
import { may, type Right } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import type { Door } from "./door";
import { DOORS } from "./doors";
import { ApiWorld, CALLERS, type CallerName, type SendOptions } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

const COLUMN: Readonly<Record<CallerName, Pick<Caller, "kind" | "role">>> = {
  agent: { kind: "agent", role: null },
  anotherAgent: { kind: "agent", role: null },
  operatorKey: { kind: "operator", role: null },
  workerKey: { kind: "worker", role: null },
  approver: { kind: "person", role: "approver" },
  operator: { kind: "person", role: "operator" },
  owner: { kind: "person", role: "owner" },
};

/** A valid request for each door, about a run that `agent` opened. A door without one fails the suite until it has. */
const hash = "a".repeat(64);
const state = new TextEncoder().encode("a saved state");
const REQUESTS: Readonly<Record<string, (caller: CallerName) => SendOptions>> = {
  "POST /api/v1/agents/{name}/snapshots": () => ({ body: { tools: [] } }),
  "POST /api/v1/runs": (caller) => ({ body: { agent: `agent-of-${caller}` } }),
  "POST /api/v1/runs/{run_id}/calls": () => ({
    body: { step: 1, calls: [{ action: "send_money", args: { amount: 5 }, output: "account:1" }] },
  }),
  "POST /api/v1/runs/{run_id}/ask": () => ({ body: { call_id: "q", question: "?" } }),
  "POST /api/v1/runs/{run_id}/waits": () => ({ body: { call_id: "w", event: "paid" } }),
  "POST /api/v1/runs/{run_id}/calls/{call}/begin": () => ({
    body: { request_id: "r", action: "send_money", args: {}, output: null },
  }),
  "POST /api/v1/runs/{run_id}/calls/{call}/renew": () => ({ body: { attempt: 1 } }),
  "POST /api/v1/runs/{run_id}/calls/{call}/complete": () => ({ body: { attempt: 1, output: null } }),
  "POST /api/v1/runs/{run_id}/calls/{call}/withdraw": () => ({ body: { reason: "r" } }),
  "POST /api/v1/runs/{run_id}/calls/{call}/settle": () => ({ body: { verdict: "happened", evidence: "e" } }),
  "POST /api/v1/runs/{run_id}/pause": () => ({ body: { reason: "r" } }),
  "POST /api/v1/runs/{run_id}/resume-failed": () => ({ body: { error: "e" } }),
  "PUT /api/v1/runs/{run_id}/states/{sha256}": () => ({ body: state }),
  "GET /api/v1/runs/{run_id}/state": () => ({}),
  "POST /api/v1/runs/{run_id}/messages": () => ({ body: { id: "m", text: "t" } }),
  "POST /api/v1/runs/{run_id}/finish": () => ({ body: { status: "completed" } }),
  "POST /api/v1/runs/{run_id}/cancel": () => ({ body: { reason: "r" } }),
  "GET /api/v1/runs/{run_id}": () => ({}),
  "GET /api/v1/runs/{run_id}/trace": () => ({}),
  "GET /api/v1/runs/{run_id}/bundle": () => ({}),
  "GET /api/v1/tickets": () => ({}),
  "GET /api/v1/tickets/{ticket_id}": () => ({}),
  "POST /api/v1/tickets/{ticket_id}/decision": () => ({
    body: { decision_id: randomUUID(), decision: "deny", proposal_hash: hash, view_digest: hash },
  }),
  "POST /api/v1/tickets/{ticket_id}/replace": () => ({ body: { reason: "r" } }),
  "POST /api/v1/tickets/{ticket_id}/cancel": () => ({ body: { reason: "r" } }),
  "POST /api/v1/mailboxes/{mailbox_id}/jobs": () => ({ body: {} }),
  "POST /api/v1/mailboxes/{mailbox_id}/claim": () => ({ body: { worker: "w" } }),
  "POST /api/v1/mailboxes/{mailbox_id}/interrupt": () => ({ body: { reason: "r" } }),
  "POST /api/v1/jobs/claim": () => ({ body: { worker: "w" } }),
  "POST /api/v1/jobs/{job_id}/ack": () => ({ body: { claim_token: "t" } }),
  "POST /api/v1/jobs/{job_id}/nack": () => ({ body: { claim_token: "t", error: "e" } }),
  "POST /api/v1/jobs/{job_id}/defer": () => ({ body: { claim_token: "t", until_ms: 0 } }),
  "POST /api/v1/jobs/{job_id}/extend": () => ({ body: { claim_token: "t" } }),
  "POST /api/v1/jobs/{job_id}/cancel": () => ({ body: { reason: "r" } }),
  "POST /api/v1/jobs/{job_id}/requeue": () => ({ body: { reason: "r" } }),
  "GET /api/v1/jobs": () => ({}),
};

const TESTED = DOORS.filter((door) => !door.path.endsWith("/resume"));
const CELLS = TESTED.flatMap((door) =>
  CALLERS.map((caller) => ({ door, caller, name: `${door.method} ${door.path}` })),
);

/** Whether the path names an object of one run; then another agent, or a right on own runs alone, is answered 404. */
function expectedOf(door: Door, caller: CallerName): "admitted" | "not_permitted" | "unknown" {
  const right: Right = may(COLUMN[caller], door.verb);
  const namesObject = /\{(run_id|ticket_id)\}/.test(door.path);
  if (namesObject && caller === "anotherAgent" && right !== "yes")
    return isRead(door) && right === "no" ? "not_permitted" : "unknown";
  if (right === "no") return "not_permitted";
  // No such job or mailbox is there: whoever may ask is told so.
  if (/\{job_id\}|interrupt/.test(door.path)) return "unknown";
  return right === "own" && namesObject && caller !== "agent" ? "unknown" : "admitted";
}

/** These look up no object before they judge the caller. */
function isRead(door: Door): boolean {
  return door.method === "GET" && !door.path.endsWith("/state");
}

describe("every door, called by everyone", () => {
  test("has a request in this suite", () => {
    expect(TESTED.map((door) => `${door.method} ${door.path}`).sort()).toEqual(Object.keys(REQUESTS).sort());
  });

  test.each(CELLS)("$name by $caller", async ({ door, caller, name }) => {
    const { runId, ticketId } = await api.parked();
    const path = door.path
      .replace("{name}", `agent-of-${caller}`)
      .replace("{run_id}", runId)
      .replace("{ticket_id}", ticketId)
      .replace("{call}", "s1.0")
      .replace("{mailbox_id}", `mailbox-of-${caller}-${randomUUID()}`)
      .replace("{job_id}", randomUUID())
      .replace("{sha256}", sha256Hex(state));
    const { status, json } = await api.send(caller, door.method, path, REQUESTS[name]?.(caller));
    const outcome =
      json.code === "not_permitted"
        ? "not_permitted"
        : status === 404
          ? "unknown"
          : status === 401 || status >= 500
            ? status
            : "admitted";
    expect(
      outcome,
      JSON.stringify(json, (_key, value) => (typeof value === "bigint" ? String(value) : value)),
    ).toBe(expectedOf(door, caller));
    expect(api.faults).toEqual([]);
  });

  test.each(TESTED)("$method $path is closed without a good key, and tells nothing", async (door) => {
    const path = door.path.replace(/\{\w+\}/g, "x");
    for (const key of [
      null,
      "",
      "hp_",
      "hp_0123456789abcdef0123456789",
      `${api.keys.owner}x`,
      api.keys.owner.slice(0, -1),
    ]) {
      const { status, json } = await api.send("owner", door.method, path, { ...(door.body ? { body: {} } : {}), key });
      expect([status, json.code]).toEqual([401, "unauthenticated"]);
    }
  });
});

describe("resume", () => {
  const command = async (
    runId: string,
    result: { kind: "continue" } | { kind: "tool_result"; call_id: string; output: null },
  ) => {
    const run = await api.get("agent", `/api/v1/runs/${runId}`);
    const [ticket] = run.json.tickets as unknown as [{ correlation_id: string; thread_id: string }];
    return { correlation_id: ticket.correlation_id, run_id: runId, thread_id: ticket.thread_id, result };
  };

  test.each(CALLERS)("of the agent's own wait by %s", async (caller) => {
    const { runId } = await api.parked({ target: "client_execution" });
    const body = await command(runId, { kind: "tool_result", call_id: "s1.0", output: null });
    const { status, json } = await api.post(caller, `/api/v1/runs/${runId}/resume`, body);
    const expected =
      caller === "agent" ? [200, undefined] : caller === "anotherAgent" ? [404, "unknown_run"] : [403, "not_permitted"];
    expect([status, json.code]).toEqual(expected);
  });

  test.each(CALLERS)("of a pause by %s", async (caller) => {
    const runId = await api.openRun();
    await api.post("operator", `/api/v1/runs/${runId}/pause`, { reason: "look" });
    const { json: page } = await api.get("operator", `/api/v1/tickets?run_id=${runId}`);
    const [ticket] = page.items as unknown as [{ ticket_id: string }];
    const named = await api.verdict(ticket.ticket_id, {});
    const body = { ...(await command(runId, { kind: "continue" })), ...named };
    const { status, json } = await api.post(caller, `/api/v1/runs/${runId}/resume`, body);
    const may = caller === "operator" || caller === "owner";
    const expected = may ? [200, undefined] : caller === "anotherAgent" ? [404, "unknown_run"] : [403, "not_permitted"];
    expect([status, json.code]).toEqual(expected);
  });
});
