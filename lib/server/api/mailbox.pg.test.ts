import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { ApiWorld } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

async function put(mailbox: string, body: JsonObject = {}): Promise<JsonObject> {
  const sent = await api.post("workerKey", `/api/v1/mailboxes/${mailbox}/jobs`, body);
  expect(sent.status, sent.text).toBe(201);
  return sent.json;
}

async function claim(mailbox: string, worker = "python-1"): Promise<readonly JsonObject[]> {
  const sent = await api.post("workerKey", `/api/v1/mailboxes/${mailbox}/claim`, { worker });
  expect(sent.status, sent.text).toBe(200);
  return sent.json.jobs as unknown as readonly JsonObject[];
}

async function claimed(mailbox: string): Promise<JsonObject> {
  const [job] = await claim(mailbox);
  if (!job) throw new Error(`nothing to claim in ${mailbox}`);
  return job;
}

function report({ job_id, claim_token }: JsonObject, verb: string, body: JsonObject = {}) {
  return api.post("workerKey", `/api/v1/jobs/${String(job_id)}/${verb}`, { claim_token: claim_token ?? null, ...body });
}

test("D4-52: a worker in any language puts a request in, claims it, and says that it was delivered", async () => {
  const job = await put("orders", {
    origin: "A2A",
    messages: [{ id: "m1", role: "user", text: "Where is my parcel?" }],
    request_extras: { order: 2_512_292 },
    priority: 10,
  });
  expect(job).toMatchObject({ status: "Queued", origin: "A2A", priority: 10, request_extras: { order: 2_512_292 } });
  const held = await claimed("orders");
  expect(held).toMatchObject({ job_id: job.job_id, status: "Claimed", claimed_by: "python-1", attempt_count: 1 });
  expect((await report(held, "extend", { lease_ms: 60_000 })).status).toBe(200);
  const acked = await report(held, "ack");
  expect(acked.json).toMatchObject({ status: "Accepted", claimed_by: null });
  expect((await report(held, "ack")).json).toMatchObject({ code: "stale_claim" });
});

test("a token is told to its holder alone", async () => {
  await put("secret");
  const held = await claimed("secret");
  const { json, text } = await api.get("operator", "/api/v1/jobs?mailbox_id=secret");
  expect(json.items).toMatchObject([{ job_id: held.job_id, status: "Claimed" }]);
  expect(text).not.toContain(String(held.claim_token));
});

test("a live dedupe key is refused by name, and a second claim of a mailbox finds nothing", async () => {
  await put("one-at-a-time", { dedupe_key: "k" });
  await put("one-at-a-time");
  const again = await api.post("workerKey", "/api/v1/mailboxes/one-at-a-time/jobs", { dedupe_key: "k" });
  expect([again.status, again.json.code]).toEqual([409, "duplicate_job"]);
  await claimed("one-at-a-time");
  expect(await claim("one-at-a-time")).toEqual([]);
});

test("deferred, failed for good, put back by an operator, and superseded", async () => {
  await put("life");
  const first = await claimed("life");
  expect((await report(first, "defer", { until_ms: 0 })).json).toMatchObject({ status: "Queued", attempt_count: 0 });
  const dead = await report(await claimed("life"), "nack", { error: "no such customer", permanent: true });
  expect(dead.json).toMatchObject({ status: "DeadLetter", last_error: "no such customer" });
  const requeued = await api.post("operator", `/api/v1/jobs/${String(first.job_id)}/requeue`, { reason: "repaired" });
  expect(requeued.json.job).toMatchObject({ status: "Queued", attempt_count: 0 });
  const interrupted = await api.post("operator", "/api/v1/mailboxes/life/interrupt", { reason: "urgent" });
  expect(interrupted.json).toMatchObject({ new_generation: 1, active_job: null, superseded_count: 1 });
  const gone = await api.post("operator", `/api/v1/jobs/${String(first.job_id)}/cancel`, { reason: "too late" });
  expect(gone.json).toEqual({ job: null });
});

test("a worker over HTTP never gets a job that is for a run of ours", async () => {
  const claimedAny = await api.post("workerKey", "/api/v1/jobs/claim", { worker: "w", most: 100 });
  const jobs = claimedAny.json.jobs as unknown as readonly JsonObject[];
  expect(jobs.every((job) => job.run_id === null)).toBe(true);
});
