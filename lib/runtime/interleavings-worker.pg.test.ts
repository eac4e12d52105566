import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pauseRun } from "@/db/store/ask";
import { decideTicket } from "@/db/store/decide";
import { beginClaimed, completeClaimed } from "@/db/store/execute";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { interruptMailbox } from "@/db/store/mailbox/operate";
import { ackJob } from "@/db/store/mailbox/report";
import { allowList, setPolicy } from "@/db/store/set-policy";
import {
  aCall,
  allow,
  codeOf,
  deny,
  newWorld,
  openTestRun,
  park,
  type StepOptions,
  standing,
  traceTypes,
  verdict,
  type World,
} from "@/db/testing/world";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { JOB_MAX_ATTEMPTS } from "@/lib/protocol/mailbox-job";
import { Worker } from "./worker";

let world: World;
let admin: postgres.Sql;
let folder: string;
let worker: Worker;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-worker-runs-"));
  worker = new Worker(world.db, { writeRoots: [folder], stop: new AbortController().signal });
});
afterAll(async () => {
  await admin.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (name: string) => path.join(folder, `${name}.txt`);
const writing = (name: string) => aCall({ action: "write_file", args: { content: name }, output: fileOf(name) });

/** A worker's run with a call a name, and the tickets of those that ask. */
async function parkFiles(names: readonly string[], options: StepOptions = {}) {
  const runId = await openTestRun(world, world.agent, "worker");
  const { calls } = await park(world, runId, names.map(writing), options);
  return { runId, tickets: calls.map(({ ticket }) => ticket) };
}

function given(ticket: TicketFacts | null | undefined): TicketFacts {
  if (!ticket) throw new Error("no ticket");
  return ticket;
}

/** The run's jobs, oldest first. */
async function jobsOf(runId: string) {
  return admin<{ mailboxId: string; kind: string; status: string; dedupeKey: string; attempts: number }[]>`
    select mailbox_id as "mailboxId", kind, status, dedupe_key as "dedupeKey", attempt_count as attempts
    from jobs where run = (select id from runs where run_id = ${runId}) order by created_at`;
}

async function workAll(): Promise<void> {
  while (await worker.tick());
}

/** Begin a call under a job's claim, as a worker does, and report it done. */
async function perform(
  runId: string,
  call: string,
  job: ClaimedJob,
  meanwhile: () => Promise<unknown> = async () => undefined,
) {
  const { call: facts } = await standing(world, runId, call);
  const sent = {
    requestId: facts.authorisation?.requestId ?? "",
    action: facts.action,
    args: facts.args,
    output: facts.target,
    worker: "w",
    key: null,
    leaseMs: 30_000,
    snapshotId: null,
    catalogFingerprint: null,
  };
  const begun = await beginClaimed(world.db, world.system, runId, call, sent, { job: job.jobId, token: job.token });
  expect(codeOf(begun)).toBe("ok");
  await meanwhile();
  return tellDone(runId, call, job);
}

function tellDone(runId: string, call: string, job: ClaimedJob) {
  const report = { attempt: 1, output: canonicalJson("done"), error: null, recovered: false };
  return completeClaimed(world.db, world.system, runId, call, report, { ackWhenIdle: job });
}

async function held(): Promise<ClaimedJob> {
  const [job] = await claimNext(world.db, { claimer: "w" });
  if (!job) throw new Error("no job");
  return job;
}

test("7: the ack rides in the report after which nothing may run, not in one before it", async () => {
  const { runId, tickets } = await parkFiles(["rides-1", "rides-2"]);
  await allow(world, given(tickets[0]));
  const job = await held();
  await allow(world, given(tickets[1]));
  expect(await perform(runId, "s1.0", job)).toMatchObject({ value: { value: { acked: false } } });
  expect((await jobsOf(runId))[0]).toMatchObject({ status: "Claimed" });
  expect(await perform(runId, "s1.1", job)).toMatchObject({ value: { value: { acked: true } } });
  expect((await jobsOf(runId))[0]).toMatchObject({ status: "Accepted" });
  // The answer was lost, and it says the same again.
  const again = await tellDone(runId, "s1.1", job);
  expect(again).toMatchObject({ value: { value: { repeated: true, acked: true } } });
  await workAll();
  await traceTypes(world, runId);
});

test("7: a report whose claim is gone is taken, and only its ack is dropped, refused by nobody", async () => {
  const { runId, tickets } = await parkFiles(["rides-late"]);
  await allow(world, given(tickets[0]));
  const done = await perform(runId, "s1.0", await held(), async () => {
    await admin`update jobs set lease_until = clock_timestamp() - interval '1 second' where status = 'Claimed'`;
    await worker.sweep();
  });
  expect(done).toMatchObject({ value: { value: { acked: false, call: { outcome: "succeeded" } } } });
  expect(await traceTypes(world, runId)).not.toContain("resume_rejected");
  await workAll();
  expect((await jobsOf(runId)).map(({ status }) => status)).toEqual(["Accepted"]);
});

test("28: the second of two calls is decided while a worker holds the first one's job: a job of its own wakes the run for it", async () => {
  const { runId, tickets } = await parkFiles(["first", "second"]);
  const [first, second] = tickets.map(given) as [TicketFacts, TicketFacts];
  await allow(world, first);
  const job = await held();
  await allow(world, second);
  expect(await jobsOf(runId)).toMatchObject([
    { status: "Claimed", dedupeKey: `resume:${first.id}` },
    { status: "Queued", dedupeKey: `resume:${second.id}` },
  ]);
  // Its holder had looked at the run before the second was decided.
  expect(codeOf(await ackJob(world.db, world.system, job))).toBe("ok");
  await workAll();
  expect((await standing(world, runId, "s1.1")).call).toMatchObject({ outcome: "succeeded" });
  expect(readFileSync(fileOf("second"), "utf8")).toBe("second");
  await traceTypes(world, runId);
});

test("29: an interrupt supersedes the queued job of an allow, and a cancel job ends its run: superseded, not run", async () => {
  const { runId, tickets } = await parkFiles(["interrupted"]);
  await allow(world, given(tickets[0]));
  const [job] = await jobsOf(runId);
  const interrupted = await interruptMailbox(world.db, world.operator, job?.mailboxId ?? "", "something more urgent");
  expect(interrupted).toMatchObject({ ok: true, value: { activeJob: null, superseded: [{ kind: "resume" }] } });
  expect(await jobsOf(runId)).toMatchObject([
    { kind: "resume", status: "Superseded" },
    { kind: "cancel", status: "Queued" },
  ]);
  await workAll();
  const { run, call } = await standing(world, runId);
  expect(run).toMatchObject({ cause: "cancelled", causeCode: "interrupted" });
  expect(call).toMatchObject({ outcome: "cancelled", attempt: 0 });
  expect(existsSync(fileOf("interrupted"))).toBe(false);
  await traceTypes(world, runId);
});

test("49: an allow whose run was paused: its job is deferred, however often it is claimed, and begins after Continue", async () => {
  const { runId, tickets } = await parkFiles(["paused"]);
  await allow(world, given(tickets[0]));
  const paused = await pauseRun(world.db, world.operator, runId, "hold on");
  if (!paused.ok) throw new Error(paused.refusal.code);
  for (let times = 0; times <= JOB_MAX_ATTEMPTS; times += 1) {
    expect(await worker.tick()).toBe(true);
    expect(await jobsOf(runId)).toMatchObject([{ status: "Queued", attempts: 0 }]);
    await admin`update jobs set available_at = clock_timestamp() where status = 'Queued'`;
  }
  expect(existsSync(fileOf("paused"))).toBe(false);
  const { ticket } = paused.value.value;
  const attempt = { ...(await verdict(world, ticket, "allow")), result: { kind: "continue" } as const };
  expect(codeOf(await decideTicket(world.db, world.operator, ticket.id, attempt))).toBe("ok");
  await workAll();
  expect(readFileSync(fileOf("paused"), "utf8")).toBe("paused");
  expect((await jobsOf(runId)).map(({ status }) => status)).not.toContain("DeadLetter");
});

test.each(["at propose", "when its turn comes"] as const)(
  "50: a rule approves a worker's call %s: it has a job and runs without a person",
  async (when) => {
    const names = [`asks-${when}`, `free-${when}`].map((name) => name.replaceAll(" ", "-")) as [string, string];
    const rules = () =>
      setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: allowList(["write_file"]) });
    try {
      if (when === "at propose") await rules();
      const { runId, tickets } = await parkFiles(when === "at propose" ? [names[1]] : names, { mode: "sequential" });
      if (when === "when its turn comes") {
        expect((await standing(world, runId, "s1.1")).call.status).toBe("queued");
        await rules();
        await deny(world, given(tickets[0]));
      }
      const dedupeKey = `resume:${when === "at propose" ? "s1.0" : "s1.1"}`;
      expect(await jobsOf(runId)).toContainEqual(expect.objectContaining({ status: "Queued", dedupeKey }));
      await workAll();
      expect(readFileSync(fileOf(names[1]), "utf8")).toBe(names[1]);
    } finally {
      await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: [] });
    }
  },
);
