import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/protocol/canonical-json";
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
    const sent = await open({ "idempotency-key": key }).catch((cause: unknown) => {
      expect(cause).toBeInstanceOf(TypeError);
      return null;
    });
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

  test("gives no answer again to a caller who has lost the right since", async () => {
    const { runId } = await api.parked();
    const key = { "idempotency-key": randomUUID() };
    const pause = () => api.post("operator", `/api/v1/runs/${runId}/pause`, { reason: "look" }, key);
    expect((await pause()).status).toBe(201);
    const { person } = api.world.operator;
    await admin`update members set role = 'approver' where person_id = ${person}`;
    const sent = await pause();
    await admin`update members set role = 'operator' where person_id = ${person}`;
    expect([sent.status, sent.json.code, sent.headers.get("idempotency-replayed")]).toEqual([
      403,
      "not_permitted",
      null,
    ]);
    expect((await pause()).headers.get("idempotency-replayed")).toBe("true");
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

async function countRuns(): Promise<number> {
  const [row] = await admin<{ count: number }[]>`select count(*)::int as count from runs`;
  return row?.count ?? 0;
}
