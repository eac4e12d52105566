import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Db, inWorkspace } from "@/db/client";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { type TcpProxy, tcpProxy } from "@/db/testing/tcp-proxy";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { Worker } from "@/lib/runtime/worker";
import { ApiWorld, type CallerName } from "./testing/api-world";

/** The database does what it was told to keep, and the connection breaks before it says so. */
let api: ApiWorld;
let proxy: TcpProxy;
let db: Db;
beforeAll(async () => {
  api = await ApiWorld.open();
  proxy = await tcpProxy(api.world.appUrl);
  db = await connect(proxy.url, { role: "holdpoint_app", max: 1 });
});
afterAll(async () => {
  await db.sql.end({ timeout: 0 });
  await proxy.close();
  await api.close();
});

const COMMITTED = "COMMIT\0";

/** A request whose commit is not heard of. The first commit of every request is of reading its key. */
async function unheard(caller: CallerName, path: string, body: JsonObject, key: string = randomUUID()) {
  const before = proxy.lost();
  proxy.loseNext(COMMITTED, { pass: 1 });
  const sent = await api.send(caller, "POST", `/api/v1/${path}`, { body, headers: { "idempotency-key": key }, db });
  expect(proxy.lost()).toBe(before + 1);
  return sent;
}

/** It is told what was done, and so is whoever sends it again. */
async function told(caller: CallerName, path: string, body: JsonObject) {
  const key = randomUUID();
  const first = await unheard(caller, path, body, key);
  expect(first.status, first.text).toBeLessThan(300);
  const second = await api.post(caller, `/api/v1/${path}`, body, { "idempotency-key": key });
  expect(second.status, second.text).toBeLessThan(300);
  return first.json;
}

test("T64: a commit whose answer is lost is told for what it was: one run, one ticket, one decision, one grant, one result", async () => {
  const { run_id } = await told("agent", "runs", { agent: "writer" });
  const call = { action: "send_money", args: { amount: 5 }, output: "account:1" };
  const parked = await told("agent", `runs/${run_id}/calls`, { step: 1, calls: [call] });
  const [{ ticket }] = parked.calls as unknown as [{ ticket: { ticket_id: string; request_id: string } }];
  await told("approver", `tickets/${ticket.ticket_id}/decision`, await api.verdict(ticket.ticket_id));
  const begin = { ...call, request_id: ticket.request_id, worker: "w" };
  expect(await told("agent", `runs/${run_id}/calls/s1.0/begin`, begin)).toMatchObject({ attempt: 1 });
  await told("agent", `runs/${run_id}/calls/s1.0/renew`, { attempt: 1 });
  await told("agent", `runs/${run_id}/calls/s1.0/complete`, { attempt: 1, output: "done" });
  await told("agent", `runs/${run_id}/finish`, { status: "completed" });

  const { json } = await api.get("agent", `/api/v1/runs/${run_id}/trace`);
  const types = (json.events as unknown as { type: string }[]).map(({ type }) => type);
  expect(types.filter((type) => type !== "state_transition")).toEqual([
    "checkpoint_saved",
    "proposal_recorded",
    "proposal_verified",
    "approval_recorded",
    "proposal_verified",
    "resume_started",
    "action_executed",
    "run_ended",
  ]);
});

async function claimed(mailbox: string) {
  await told("workerKey", `mailboxes/${mailbox}/jobs`, {});
  const { jobs } = await told("workerKey", `mailboxes/${mailbox}/claim`, { worker: "w" });
  const [job] = jobs as unknown as [{ job_id: string; claim_token: string }];
  return job;
}

const standing = async (mailboxId: string) => {
  const { json } = await api.get("operatorKey", `/api/v1/jobs?mailbox_id=${mailboxId}`);
  const jobs = json.items as unknown as { status: string; attempt_count: number }[];
  return jobs.map(({ status, attempt_count }) => `${status} ${attempt_count}`);
};

test.each([
  ["ack", {}, "Accepted 1"],
  ["nack", { error: "e" }, "Queued 1"],
  ["defer", { until_ms: 1 }, "Queued 0"],
])("T64: a job's %s that is not heard of is not called undone, nor said twice", async (verb, more, after) => {
  const { job_id, claim_token } = await claimed(verb);
  const sent = await unheard("workerKey", `jobs/${job_id}/${verb}`, { claim_token, ...more });
  expect([sent.status, sent.json.code]).toEqual([500, "internal_error"]);
  expect(sent.json.advice).toContain("Read the state");
  expect(await standing(verb)).toEqual([after]);
});

test("T64: a worker that does not hear of its own ack says nothing more", async () => {
  const { world } = api;
  const request = { mailboxId: "ours", origin: "User" as const, kind: "cancel" as const };
  expect((await enqueueJob(world.db, world.system, request)).ok).toBe(true);
  const errors: unknown[] = [];
  const workers = await connect(proxy.url, { role: "holdpoint_worker", max: 1 });
  const worker = new Worker(workers, {
    writeRoots: [],
    stop: new AbortController().signal,
    onError: (error) => errors.push(error),
  });
  // Its last word on a job that names no run: a dead letter.
  proxy.loseNext(COMMITTED, { after: "DeadLetter" });
  const before = proxy.lost();
  await worker.tick();
  expect(proxy.lost()).toBe(before + 1);
  expect(await standing("ours")).toEqual(["DeadLetter 1"]);
  expect(errors).toMatchObject([{ name: "Unsure" }]);
  const [kept] = await inWorkspace(
    world.db,
    world.workspace,
    (tx) => tx.sql`select count(*) from refusals where code = 'stale_claim'`,
  );
  expect(kept?.count).toBe(0);
  await workers.sql.end({ timeout: 0 });
});
