import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { refusalRule } from "@/lib/protocol/refusals";
import { ApiWorld } from "./testing/api-world";

let api: ApiWorld;
let admin: postgres.Sql;
beforeAll(async () => {
  api = await ApiWorld.open();
  admin = postgres(api.world.adminUrl, { max: 2, onnotice: () => undefined });
});
afterAll(async () => {
  expect(api.faults).toEqual([]);
  await admin.end();
  await api.close();
});

const money = { action: "send_money", args: { amount: 5 }, output: "account:1" };

describe("a body", () => {
  const post = (body: string | Uint8Array) => api.send("agent", "POST", "/api/v1/runs", { body });

  test.each([
    ["", 422, "invalid_body", ""],
    ["[]", 422, "invalid_body", ""],
    ['{"agent":"a"', 422, "invalid_body", ""],
    ['{"agent":"a","agent":"a"}', 422, "duplicate_key", "agent"],
    ['{"agent":"\\ud800"}', 422, "invalid_unicode", "agent"],
    ['{"agent":"a","x":1e400}', 422, "number_not_representable", "x"],
    ['{"agent":"a","x":1}', 422, "unknown_field", "x"],
    ["\ufeff{}", 422, "invalid_body", ""],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 422, "invalid_unicode", ""],
  ])("%j is refused at its path", async (body, status, code, path) => {
    const sent = await post(body);
    expect([sent.status, sent.json.code, sent.json.path]).toEqual([status, code, path]);
  });

  test("of a mebibyte is read, one byte more is not", async () => {
    const padded = (size: number) => `{"agent":"a","input":"${"x".repeat(size - 24)}"}`;
    expect((await post(padded(1_048_576))).status).toBe(201);
    const sent = await post(padded(1_048_577));
    expect([sent.status, sent.json.code]).toEqual([413, "too_large"]);
  });

  test("is not kept when it only says that it is small", async () => {
    const chunk = new TextEncoder().encode("x".repeat(65_536));
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        if (pulled > 1_000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const { readBytes } = await import("./read-body");
    const init = { method: "POST", body, duplex: "half" };
    expect(await readBytes(new Request("http://holdpoint.test", init), 1_048_576)).toMatchObject({
      ok: false,
      refusal: { code: "too_large" },
    });
    expect(pulled).toBeLessThan(25);
  });

  test("that is refused stores nothing: one bad argument refuses the whole batch", async () => {
    const runId = await api.openRun();
    const deep = `${"[".repeat(65)}${"]".repeat(65)}`;
    const body = `{"step":1,"calls":[{"action":"a","args":1},{"action":"a","args":${deep}}]}`;
    const sent = await api.send("agent", "POST", `/api/v1/runs/${runId}/calls`, { body });
    expect([sent.json.code, sent.json.path]).toEqual(["too_deep", `calls[1].args${"[0]".repeat(64)}`]);
    expect((await api.get("agent", `/api/v1/runs/${runId}`)).json.batches).toEqual([]);
  });
});

describe("a refusal", () => {
  test("is problem+json with its code, title, advice, run and the event that recorded it", async () => {
    const { runId } = await api.parked();
    const sent = await api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    expect(sent.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
    const { title, advice } = refusalRule("run_awaiting");
    expect(sent.json).toMatchObject({ status: 409, code: "run_awaiting", title, advice, run_id: runId, trace_seq: 3 });
    const trace = await api.get("agent", `/api/v1/runs/${runId}/trace`);
    expect((trace.json.events as readonly JsonObject[])[2]).toMatchObject({
      seq: 3,
      payload: { reason: "run_awaiting" },
    });
  });

  test("for another's object has the same body as for one that does not exist", async () => {
    const { runId, ticketId } = await api.parked();
    const bodies = async (path: (run: string, ticket: string) => string, body?: JsonObject) => {
      const send = (run: string, ticket: string) =>
        body ? api.post("anotherAgent", path(run, ticket), body) : api.get("anotherAgent", path(run, ticket));
      const [theirs, none] = [await send(runId, ticketId), await send("no-such-run", randomUUID())];
      expect([theirs.status, theirs.text]).toEqual([404, none.text]);
    };
    await bodies((run) => `/api/v1/runs/${run}`);
    await bodies((run) => `/api/v1/runs/${run}/trace`);
    await bodies((run) => `/api/v1/runs/${run}/finish`, { status: "completed" });
    await bodies((run) => `/api/v1/runs/${run}/calls`, { step: 1, calls: [money] });
    await bodies((run) => `/api/v1/runs/${run}/resume`, {
      correlation_id: "c",
      run_id: "r",
      thread_id: "t",
      result: { kind: "continue" },
    });
    await bodies((_run, ticket) => `/api/v1/tickets/${ticket}`);
    await bodies((_run, ticket) => `/api/v1/tickets/${ticket}/cancel`, { reason: "r" });
  });

  test("to a caller who may not even read tells nothing about the run behind a ticket", async () => {
    const { runId, ticketId } = await api.parked();
    for (const [path, body] of [
      ["decision", { decision_id: "d", decision: "allow", proposal_hash: "a".repeat(64), view_digest: "a".repeat(64) }],
      ["cancel", { reason: "r" }],
    ] as const) {
      const sent = await api.post("workerKey", `/api/v1/tickets/${ticketId}/${path}`, body);
      expect([sent.status, sent.json.code]).toEqual([403, "not_permitted"]);
      expect(sent.text).not.toContain(runId);
      expect(sent.json.trace_seq).toBeUndefined();
    }
    expect(
      (await api.post("operatorKey", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId))).json
        .trace_seq,
    ).toBe(5);
  });

  test("comes to a stop: after sixty in a minute on one run the caller is told to wait, others are not", async () => {
    const { runId } = await api.parked();
    const finish = () => api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    const codes: unknown[] = [];
    for (let index = 0; index < 63; index += 1) codes.push((await finish()).json.code);
    expect(codes).toEqual([...Array(61).fill("run_awaiting"), "slow_down", "slow_down"]);
    const slowed = await finish();
    expect(slowed.status).toBe(429);
    expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThan(0);
    for (const caller of ["agent", "owner"] as const)
      expect((await api.get(caller, `/api/v1/runs/${runId}?wait=0`)).status).toBe(200);
    expect(
      (await api.post("agent", `/api/v1/runs/${await api.openRun()}/finish`, { status: "completed" })).status,
    ).toBe(200);
  });

  test("by a busy run is 503, and nothing was done", async () => {
    const { runId } = await api.parked();
    const held = await admin.reserve();
    await held`begin`;
    await held`select from runs where run_id = ${runId} for update`;
    const sent = await api.post("operator", `/api/v1/runs/${runId}/cancel`, { reason: "r" });
    expect([sent.status, sent.json.code, sent.headers.get("retry-after")]).toEqual([503, "busy", "1"]);
    await held`rollback`;
    held.release();
    expect((await api.get("agent", `/api/v1/runs/${runId}`)).json.state).toBe("awaiting");
  });
});

describe("/metrics", () => {
  const read = async (key: string | null) => {
    const { serveMetrics } = await import("./serve-metrics");
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    return serveMetrics(new Request("http://holdpoint.test/metrics", { headers }), api.services);
  };

  test("is for an operator's key alone", async () => {
    expect((await read(null)).status).toBe(401);
    for (const caller of ["agent", "workerKey", "approver", "operator", "owner"] as const) {
      expect((await read(api.keys[caller])).status).toBe(403);
    }
    expect((await read(api.keys.operatorKey)).status).toBe(200);
  });

  test("counts answers and refusals by template and code, and names no run, person or workspace", async () => {
    const { runId } = await api.parked();
    await api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    const text = await (await read(api.keys.operatorKey)).text();
    expect(text).toMatch(
      /holdpoint_http_requests_total\{method="POST",door="\/api\/v1\/runs\/\{run_id\}\/finish",status="409"\} [1-9]/,
    );
    expect(text).toMatch(/holdpoint_refusals_total\{code="run_awaiting"\} [1-9]/);
    for (const word of [runId, "ada", "desk", api.world.workspace]) expect(text).not.toContain(word);
  });
});

describe("few connections", () => {
  test("serve many requests at once: none hangs, none fails", async () => {
    const { connect } = await import("@/db/client");
    const { serve } = await import("./serve");
    const { openRunDoor } = await import("./doors/runs");
    const db = await connect(api.world.appUrl, { role: "holdpoint_app", max: 3 });
    const open = () => {
      const headers = { authorization: `Bearer ${api.keys.agent}`, "idempotency-key": randomUUID() };
      const request = new Request("http://holdpoint.test/api/v1/runs", {
        method: "POST",
        headers,
        body: '{"agent":"writer"}',
      });
      return serve(openRunDoor, request, { ...api.services, db });
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await open()).status));
    await db.close();
    expect(statuses).toEqual(Array(200).fill(201));
  });
});
