import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBundle } from "@/lib/protocol/bundle";
import type { JsonObject, JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { ChainRow } from "@/lib/protocol/trace-event";
import { ApiWorld } from "./testing/api-world";

let api: ApiWorld;
let admin: postgres.Sql;
beforeAll(async () => {
  api = await ApiWorld.open();
  admin = postgres(api.world.adminUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  expect(api.faults).toEqual([]);
  await admin.end();
  await api.close();
});

const money = { action: "send_money", args: { amount: 5 }, output: "account:1" };
const firstCall = (json: JsonObject) => (json.calls as readonly JsonObject[])[0] ?? {};
const calls = (runId: string, verb = "") => `/api/v1/runs/${runId}/calls${verb === "" ? "" : `/s1.0/${verb}`}`;

describe("an agent's day over HTTP", () => {
  test("propose, a person's allow, begin, complete, finish: the same run goes on, once, and its trace verifies", async () => {
    const snapshot = await api.post("agent", "/api/v1/agents/banker/snapshots", { tools: [{ name: "send_money" }] });
    expect(snapshot.status).toBe(201);
    const again = await api.post("agent", "/api/v1/agents/banker/snapshots", { tools: [{ name: "send_money" }] });
    expect([again.status, again.json]).toEqual([200, snapshot.json]);

    const { snapshot_id, catalog_fingerprint } = snapshot.json as Record<string, string>;
    const opened = await api.post("agent", "/api/v1/runs", {
      agent: "banker",
      snapshot_id: snapshot_id ?? "",
      input: "pay",
    });
    expect(opened.status).toBe(201);
    const runId = String(opened.json.run_id);
    const step = await api.post("agent", calls(runId), { step: 1, calls: [money] });
    expect(step.status).toBe(201);
    const { ticket, proposal_hash, request_id } = firstCall(step.json);
    expect(firstCall(step.json)).toMatchObject({ call_ref: "s1.0", call_id: null, verdict: "awaiting" });
    const ticketId = String((ticket as JsonObject).ticket_id);

    const begin = {
      ...money,
      request_id: String(request_id),
      snapshot_id: snapshot_id ?? "",
      catalog_fingerprint: catalog_fingerprint ?? "",
    };
    const early = await api.post("agent", calls(runId, "begin"), begin);
    expect([early.status, early.json.code]).toEqual([409, "approval_required"]);

    const seen = await api.get("approver", `/api/v1/tickets/${ticketId}`);
    expect(seen.json.view).toMatchObject({ proposal: money, proposal_hash });
    const decision = await api.verdict(ticketId, { decision: "allow", note: "go on" });
    const decided = await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, decision);
    expect(decided.json).toMatchObject({
      decision: { kind: "permission", decision: "allow", by: "ada", note: "go on" },
    });

    const grant = await api.post("agent", calls(runId, "begin"), begin);
    expect(grant.json).toMatchObject({ attempt: 1, note: "go on" });
    const done = await api.post("agent", calls(runId, "complete"), { attempt: 1, output: { sent: true } });
    expect(done.json).toMatchObject({ state: "completed", outcome: "succeeded", output: { sent: true } });
    const replayed = await api.post("agent", calls(runId, "begin"), begin);
    expect(replayed.json).toEqual({ result: "already_completed", output: { sent: true } });

    const finished = await api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    const resent = await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, decision);
    expect(resent.text).toBe(decided.text);
    expect(finished.json).toMatchObject({ run_id: runId, state: "ended", cause: "completed" });
    const state = await api.get("agent", `/api/v1/runs/${runId}`);
    expect(state.json).toMatchObject({ tickets: [], decisions: [{ decision: "allow", by: "ada" }] });
    expect(state.text).not.toContain("@");

    const bundle = await api.get("owner", `/api/v1/runs/${runId}/bundle`);
    const trace = bundle.json.trace as unknown as readonly ChainRow[];
    const ids = { workspace_id: String(bundle.json.workspace_id), run_id: runId };
    expect(verifyBundle(bundle.json)).toEqual({ ok: true, value: { ...ids, events: trace.length, proposals: 1 } });
    expect(trace.map((row) => JSON.parse(row.text).type)).toEqual(
      expect.arrayContaining([
        "checkpoint_saved",
        "proposal_recorded",
        "approval_recorded",
        "resume_started",
        "action_executed",
        "run_ended",
      ]),
    );
  });

  test("is seen by every read of its own, and by nobody else's", async () => {
    const { runId } = await api.parked();
    const seen = async () =>
      (await admin<{ at: string | null }[]>`select last_seen_at as at from runs where run_id = ${runId}`)[0]?.at ??
      null;
    await admin`update runs set last_seen_at = null where run_id = ${runId}`;
    await api.get("owner", `/api/v1/runs/${runId}`);
    expect(await seen()).toBeNull();
    await api.get("agent", `/api/v1/runs/${runId}?wait=0`);
    expect(await seen()).not.toBeNull();
  });

  test("for a person: that person may not approve it, and a name that nobody has is refused", async () => {
    const nobody = await api.post("agent", "/api/v1/runs", { agent: "writer", on_behalf_of: "nobody@example.test" });
    expect([nobody.status, nobody.json.path]).toEqual([422, "on_behalf_of"]);
    const { json } = await api.post("agent", "/api/v1/runs", { agent: "writer", on_behalf_of: "ADA@example.test" });
    const step = await api.post("agent", calls(String(json.run_id)), { step: 1, calls: [money] });
    const ticketId = String((firstCall(step.json).ticket as JsonObject).ticket_id);
    const own = await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId));
    expect([own.status, own.json.code]).toEqual([403, "self_approval"]);
    const other = await api.post("owner", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId));
    expect(other.status).toBe(200);
  });

  test("keeps a large integer and __proto__ from the proposal to what the approver is shown", async () => {
    const runId = await api.openRun();
    const body = '{"step":1,"calls":[{"action":"a","args":{"id":2512292042121000001,"__proto__":{"x":1}}}]}';
    const step = await api.send("agent", "POST", calls(runId), { body });
    const { ticket, proposal_hash } = firstCall(step.json);
    const seen = await api.get("approver", `/api/v1/tickets/${(ticket as JsonObject).ticket_id}`);
    expect(seen.text).toContain('"args":{"__proto__":{"x":1},"id":2512292042121000001}');
    expect(sha256Hex('{"action":"a","args":{"__proto__":{"x":1},"id":2512292042121000001},"output":null}')).toBe(
      proposal_hash,
    );
  });

  test("answers a recorded step from the record, with the tickets as they stand now", async () => {
    const { runId, ticketId } = await api.parked();
    const body = { step: 1, calls: [money] };
    const key = { "idempotency-key": randomUUID() };
    const before = await api.post("agent", calls(runId), body, key);
    expect([before.status, firstCall(before.json).verdict]).toEqual([200, "awaiting"]);
    await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId));
    const after = await api.post("agent", calls(runId), body, key);
    expect([after.status, firstCall(after.json).verdict, after.headers.get("idempotency-replayed")]).toEqual([
      200,
      "allowed",
      "true",
    ]);
    const other = await api.post("agent", calls(runId), { step: 1, calls: [{ ...money, args: { amount: 6 } }] });
    expect([other.status, other.json.code]).toEqual([409, "batch_conflict"]);
  });

  test("asks a person a question and reads the answer from the record", async () => {
    const runId = await api.openRun();
    const question = { call_id: "q1", question: "Which account?", schema: { type: "string" } };
    const asked = await api.post("agent", `/api/v1/runs/${runId}/ask`, question);
    expect([asked.status, asked.json.state]).toEqual([201, "awaiting"]);
    const ticketId = String((asked.json.ticket as JsonObject).ticket_id);
    const odd = await api.post(
      "approver",
      `/api/v1/tickets/${ticketId}/decision`,
      await api.verdict(ticketId, { decision: "answer", answer: 5 }),
    );
    expect(odd.json.code).toBe("result_kind_mismatch");
    const answer = await api.post(
      "approver",
      `/api/v1/tickets/${ticketId}/decision`,
      await api.verdict(ticketId, { decision: "answer", answer: "main" }),
    );
    expect(answer.json).toMatchObject({ decision: { kind: "input", answer: "main" } });
    const again = await api.post("agent", `/api/v1/runs/${runId}/ask`, question);
    expect([again.status, again.json.state, again.json.answer]).toEqual([200, "completed", "main"]);
  });

  test("brings the event that it waits for by resume, every identity of which is checked", async () => {
    const runId = await api.openRun();
    const waiting = await api.post("agent", `/api/v1/runs/${runId}/waits`, { call_id: "w1", event: "paid" });
    const { correlation_id, thread_id } = waiting.json.ticket as Record<string, string>;
    const command = {
      correlation_id: correlation_id ?? "",
      run_id: runId,
      thread_id: thread_id ?? "",
      result: { kind: "input", input: { paid: true } },
    };
    const resume = (change: JsonObject) => api.post("agent", `/api/v1/runs/${runId}/resume`, { ...command, ...change });
    const outcomes = await Promise.all(
      [
        { correlation_id: "other" },
        { run_id: "other" },
        { thread_id: "other" },
        { snapshot_id: "other" },
        { catalog_fingerprint: "other" },
        { result: { kind: "continue" } },
        { result: { kind: "input" } },
      ].map(async (change) => (await resume(change)).json.code),
    );
    expect(outcomes).toEqual([
      "correlation_mismatch",
      "run_mismatch",
      "thread_mismatch",
      "snapshot_mismatch",
      "fingerprint_mismatch",
      "result_kind_mismatch",
      "invalid_verdict",
    ]);
    expect((await resume({})).status).toBe(200);
    const twice = await resume({});
    expect([twice.json.code, (twice.json.closed_by as JsonObject).kind]).toEqual(["not_awaiting", "decision"]);
    const nothing = await api.post("agent", `/api/v1/runs/${await api.openRun()}/resume`, command);
    expect(nothing.json.code).toBe("not_awaiting");
  });

  test("saves its state before the step that binds it, and gets the same bytes back", async () => {
    const runId = await api.openRun();
    const bytes = crypto.getRandomValues(new Uint8Array(50_000));
    const sha256 = sha256Hex(bytes);
    const upload = { format: "messages", version: "1", sha256 };
    const step = { step: 1, calls: [money], state_upload: upload };
    expect((await api.post("agent", calls(runId), step)).json).toMatchObject({
      code: "invalid_body",
      path: "state_upload.sha256",
    });
    const wrong = await api.send("agent", "PUT", `/api/v1/runs/${runId}/states/${"0".repeat(64)}`, { body: bytes });
    expect(wrong.json.code).toBe("state_tampered");
    expect((await api.send("agent", "PUT", `/api/v1/runs/${runId}/states/${sha256}`, { body: bytes })).status).toBe(
      204,
    );
    expect((await api.request("agent", "GET", `/api/v1/runs/${runId}/state`)).status).toBe(204);
    expect((await api.post("agent", calls(runId), step)).status).toBe(201);
    const read = await api.request("agent", "GET", `/api/v1/runs/${runId}/state`);
    expect(sha256Hex(new Uint8Array(await read.arrayBuffer()))).toBe(sha256);
  });

  test("pages through tickets by key, each once", async () => {
    const before = await readAll();
    const opened: string[] = [];
    for (let index = 0; index < 5; index += 1) opened.push((await api.parked()).ticketId);
    const after = await readAll();
    expect(new Set(after).size).toBe(after.length);
    expect(after.slice(0, 5)).toEqual(opened.toReversed());
    expect(after.length).toBe(before.length + 5);
    const others = await api.get("anotherAgent", "/api/v1/tickets");
    expect(others.json).toEqual({ items: [], next_cursor: null });
  });

  async function readAll(): Promise<string[]> {
    const ids: string[] = [];
    let cursor: JsonValue = "";
    while (cursor !== null) {
      const { json } = await api.get(
        "approver",
        `/api/v1/tickets?status=open&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      ids.push(...(json.items as unknown as readonly { ticket_id: string }[]).map((ticket) => ticket.ticket_id));
      cursor = json.next_cursor ?? null;
    }
    return ids;
  }
});
