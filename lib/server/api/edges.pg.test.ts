import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { ApiWorld, type CallerName } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

const MOST = Number.MAX_SAFE_INTEGER;
const YEAR_10000 = 253_402_300_800_000;
const wait = { action: "a", args: 1 };

/** What the database could not hold, or could not give back, is refused at its place. */
describe("T42: a number that no column takes, or a time of no four-digit year", () => {
  test.each<[string, JsonObject, string]>([
    ["calls", { step: MOST, calls: [wait] }, "step"],
    ["calls", { step: 2 ** 31, calls: [wait] }, "step"],
    ["calls", { step: 1, calls: [{ ...wait, deadline_ms: YEAR_10000 }] }, "calls[0].deadline_ms"],
    ["ask", { call_id: "q", question: "?", deadline_ms: MOST }, "deadline_ms"],
  ])("in a run's %s: %j", async (path, body, at) => {
    const runId = await api.openRun();
    const { status, json } = await api.post("agent", `/api/v1/runs/${runId}/${path}`, body);
    expect([status, json.code, json.path]).toEqual([422, "invalid_body", at]);
  });

  test("the highest step is taken, and a question comes behind it", async () => {
    const runId = await api.openRun();
    const call = { ...wait, target: "client_execution" };
    const parked = await api.post("agent", `/api/v1/runs/${runId}/calls`, { step: 1_000_000_000, calls: [call] });
    expect(parked.status).toBe(201);
    await api.post("agent", `/api/v1/runs/${runId}/calls/s1000000000.0/withdraw`, { reason: "no more" });
    const asked = await api.post("agent", `/api/v1/runs/${runId}/ask`, { call_id: "q", question: "?" });
    expect([asked.status, asked.json.step]).toEqual([201, 1_000_000_001]);
  });

  test.each([MOST, YEAR_10000])("in a job's: %i", async (ms) => {
    const enqueued = await api.post("workerKey", "/api/v1/mailboxes/far/jobs", { available_at_ms: ms });
    expect([enqueued.status, enqueued.json.path]).toEqual([422, "available_at_ms"]);
    await api.post("workerKey", `/api/v1/mailboxes/d${ms}/jobs`, {});
    const { json } = await api.post("workerKey", `/api/v1/mailboxes/d${ms}/claim`, { worker: "w" });
    const [job] = json.jobs as unknown as [{ job_id: string; claim_token: string }];
    const defer = (until_ms: number) =>
      api.post("workerKey", `/api/v1/jobs/${job.job_id}/defer`, { claim_token: job.claim_token, until_ms });
    expect((await defer(ms)).status).toBe(422);
    expect(await defer(YEAR_10000 - 1)).toMatchObject({
      status: 200,
      json: { status: "Queued", available_at: expect.stringMatching(/^9999-12-31T23:59:59\.999/) },
    });
  });

  test("in a page of a list", async () => {
    for (const list of ["tickets", "jobs"]) {
      const page = await api.get("operatorKey", `/api/v1/${list}?cursor=nowhere`);
      expect([list, page.status, page.json.path]).toEqual([list, 422, "?cursor"]);
    }
    const ofOthers = `DeadLetter_128_2026-01-01T00:00:00.000000Z_00000000-0000-7000-8000-000000000000`;
    expect((await api.get("operatorKey", `/api/v1/jobs?cursor=${ofOthers}`)).status).toBe(200);
    expect((await api.get("operatorKey", `/api/v1/jobs?status=Queued&cursor=${ofOthers}`)).status).toBe(422);
  });

  test("in a place of the trace", async () => {
    const runId = await api.openRun();
    const page = await api.get("agent", `/api/v1/runs/${runId}/trace?cursor=999999999999999`);
    expect([page.status, page.json.path]).toEqual([422, "?cursor"]);
    const last = { accept: "text/event-stream", "last-event-id": "999999999999999" };
    const stream = await api.get("agent", `/api/v1/runs/${runId}/trace`, last);
    expect([stream.status, stream.json.path]).toEqual([422, "Last-Event-ID"]);
  });
});

describe("T42: an id in a path", () => {
  test.each<[CallerName, string, JsonObject]>([
    ["workerKey", "mailboxes/{id}/jobs", {}],
    ["workerKey", "mailboxes/{id}/claim", { worker: "w" }],
    ["operatorKey", "mailboxes/{id}/interrupt", { reason: "r" }],
    ["workerKey", "jobs/{id}/ack", { claim_token: "t" }],
    ["agent", "runs/{id}/finish", { status: "failed" }],
  ])("that no index holds is no id: %s at %s", async (caller, path, body) => {
    const at = (id: string) => `/api/v1/${path.replace("{id}", id)}`;
    expect(await api.post(caller, at("ö".repeat(257)), body)).toMatchObject({
      status: 422,
      json: { code: "invalid_body", detail: "at most 256 characters" },
    });
  });

  test.each(["ack", "nack", "defer", "extend"])("that is no job's is an unknown job to %s", async (verb) => {
    const body = {
      claim_token: "t",
      ...(verb === "nack" ? { error: "e" } : {}),
      ...(verb === "defer" ? { until_ms: 1 } : {}),
    };
    for (const id of ["x", "0", "01a23bc7-0000-7000-8000-00000000000g"]) {
      const { status, json } = await api.post("workerKey", `/api/v1/jobs/${id}/${verb}`, body);
      expect([status, json.code]).toEqual([404, "unknown_job"]);
    }
  });
});

/** Judged without a limit, each would hold the process, and the run's lock with it, for years. */
describe("T70: a schema that is never done", () => {
  const schema = { pattern: "^(a+)+$" };
  const typed = `${"a".repeat(60)}!`;

  test("admits no event, and the next answer goes through", async () => {
    const runId = await api.openRun();
    const waits = await api.post("agent", `/api/v1/runs/${runId}/waits`, { call_id: "w", event: "e", schema });
    const { correlation_id } = waits.json.ticket as JsonObject;
    const answer = (input: string) =>
      api.post("agent", `/api/v1/runs/${runId}/resume`, {
        correlation_id: correlation_id ?? null,
        run_id: runId,
        thread_id: runId,
        result: { kind: "input", input },
      });
    expect(await answer(typed)).toMatchObject({ status: 409, json: { code: "result_kind_mismatch" } });
    expect((await answer("aaa")).status).toBe(200);
  });

  test("admits no answer of a person, and the next one goes through", async () => {
    const runId = await api.openRun();
    const asked = await api.post("agent", `/api/v1/runs/${runId}/ask`, { call_id: "q", question: "?", schema });
    const { ticket_id } = asked.json.ticket as JsonObject;
    const answer = async (text: string) =>
      api.post(
        "approver",
        `/api/v1/tickets/${ticket_id}/decision`,
        await api.verdict(String(ticket_id), { decision: "answer", answer: text }),
      );
    expect(await answer(typed)).toMatchObject({ status: 409, json: { code: "result_kind_mismatch" } });
    expect((await answer("aaa")).status).toBe(200);
  });
});
