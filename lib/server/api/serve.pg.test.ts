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
const open = (headers: Readonly<Record<string, string>>, body: JsonObject = { agent: "writer" }) =>
  api.post("agent", "/api/v1/runs", body, headers);

describe("the Idempotency-Key", () => {
  test.each(["", "a b", "ü", "x".repeat(256), "a\tb"])("%j is refused before anything is done", async (key) => {
    const before = await countRuns();
    // A header cannot carry every text; what it cannot is refused by the platform, which is as good.
    const sent = await open({ "idempotency-key": key }).catch(() => null);
    if (sent) expect([sent.status, sent.json.code]).toEqual([400, "idempotency_key_missing"]);
    expect(await countRuns()).toBe(before);
  });

  test("of 255 characters is good", async () => {
    expect((await open({ "idempotency-key": "~".repeat(255) })).status).toBe(201);
  });

  test("sent again gets the first answer, and nothing is done twice", async () => {
    const key = { "idempotency-key": randomUUID() };
    const first = await open(key);
    const before = await countRuns();
    const again = await open(key);
    expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([201, first.text, "true"]);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(await countRuns()).toBe(before);
  });

  test("is another one for another body, which is refused, and for another caller or path, which is not", async () => {
    const key = { "idempotency-key": randomUUID() };
    await open(key);
    const other = await open(key, { agent: "reader" });
    expect([other.status, other.json.code]).toEqual([422, "idempotency_key_reused"]);
    expect((await api.post("anotherAgent", "/api/v1/runs", { agent: "its-own" }, key)).status).toBe(201);
    expect(
      (await api.post("agent", "/api/v1/agents/writer/snapshots", { tools: [] }, key)).headers.get(
        "idempotency-replayed",
      ),
    ).toBeNull();
  });

  test("sent fifty times at once opens one run; the others are told to wait, or get its answer", async () => {
    const before = await countRuns();
    const key = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(Array.from({ length: 50 }, () => open(key)));
    expect(await countRuns()).toBe(before + 1);
    const runs = new Set(answers.filter((answer) => answer.status === 201).map((answer) => answer.json.run_id));
    expect(runs.size).toBe(1);
    for (const { status, json, headers } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, json.code, headers.get("retry-after")]).toEqual([409, "idempotency_in_progress", "1"]);
    }
  });

  test("keeps no refusal: what was refused is judged afresh", async () => {
    const { runId, ticketId } = await api.parked();
    const key = { "idempotency-key": randomUUID() };
    const finish = () => api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" }, key);
    expect((await finish()).json.code).toBe("run_awaiting");
    await api.post(
      "approver",
      `/api/v1/tickets/${ticketId}/decision`,
      await api.verdict(ticketId, { decision: "deny" }),
    );
    expect((await finish()).status).toBe(200);
    expect((await finish()).headers.get("idempotency-replayed")).toBe("true");
  });

  test("is good for a day", async () => {
    const key = { "idempotency-key": randomUUID() };
    const first = await open(key);
    await admin`update idempotency_keys set expires_at = clock_timestamp() where key = ${key["idempotency-key"]}`;
    expect((await open(key)).json.run_id).not.toBe(first.json.run_id);
  });

  test("does not answer begin from the store: only with its worker it gets the live grant again", async () => {
    const { runId, ticketId, requestId } = await api.parked();
    await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId));
    const begin = (key: string, worker: string) =>
      api.post(
        "agent",
        `/api/v1/runs/${runId}/calls/s1.0/begin`,
        { ...money, request_id: requestId, worker },
        { "idempotency-key": key },
      );
    const grant = await begin("k1", "w1");
    expect(grant.json.attempt).toBe(1);
    expect((await begin("k1", "w1")).text).toBe(grant.text);
    for (const other of [await begin("k1", "w2"), await begin("k2", "w1")]) {
      expect([other.status, other.json.code]).toEqual([409, "in_progress"]);
      expect(Number(other.headers.get("retry-after"))).toBeGreaterThan(50);
    }
  });

  test("is not needed for a decision: the decision_id gets the first answer, to its own person alone", async () => {
    const { ticketId } = await api.parked();
    const body = await api.verdict(ticketId);
    const path = `/api/v1/tickets/${ticketId}/decision`;
    const first = await api.post("approver", path, body, { "idempotency-key": "" });
    const again = await api.post("approver", path, body, { "idempotency-key": "" });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await api.post("approver", path, { ...body, decision: "deny" })).json.code).toBe("decision_id_reused");
    const other = await api.post("owner", path, body);
    expect([other.status, other.json.code, (other.json.closed_by as JsonObject).actor]).toEqual([
      409,
      "not_awaiting",
      "ada",
    ]);
  });
});

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

async function countRuns(): Promise<number> {
  const [row] = await admin<{ count: number }[]>`select count(*)::int as count from runs`;
  return row?.count ?? 0;
}

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
