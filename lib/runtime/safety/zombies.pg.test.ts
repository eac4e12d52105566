import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countJobs } from "@/db/queries/mailbox";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { ackJob, extendJob } from "@/db/store/mailbox/report";
import { sweepClaims } from "@/db/store/mailbox/sweep";
import { figure } from "@/db/testing/figure";
import { newWorld, type World } from "@/db/testing/world";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 8, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

const JOBS = 400;
const WORKERS = 8;
/** Every fifth job's first holder falls asleep, and wakes up when another one holds its job. */
const SLEEPS_EVERY = 5;
const SHORT_MS = 20;
const LONG_MS = 600_000;

type Ack = (job: ClaimedJob) => Promise<boolean>;

interface Tally {
  /** Acks that were taken from a holder whose job another one had claimed by then. */
  foreign: number;
  refused: number;
  accepted: number;
}

/** Eight workers empty a queue; some wake up after their lease and report as if nothing had happened. */
async function night(name: string, ack: Ack): Promise<Tally> {
  const tally: Tally = { foreign: 0, refused: 0, accepted: 0 };
  const holder = new Map<string, string>();
  const sleepers = new Set<string>();
  const nightmares = new Map<string, Promise<void>>();
  for (let at = 0; at < JOBS; at += 1) {
    const put = await enqueueJob(world.db, world.system, { mailboxId: `${name}-${at}`, origin: "Internal" });
    if (!put.ok) throw new Error(put.refusal.code);
    if (at % SLEEPS_EVERY === 0) sleepers.add(put.value.jobId);
  }
  const report = async (job: ClaimedJob) => {
    if (!(await ack(job))) tally.refused += 1;
    else if (holder.get(job.jobId) !== job.token) tally.foreign += 1;
    else tally.accepted += 1;
  };
  const dream = async (job: ClaimedJob) => {
    await extendJob(world.db, world.system, job, SHORT_MS);
    while (holder.get(job.jobId) === job.token) await sleep(5);
    await report(job);
  };
  const work = async (claimer: string) => {
    for (;;) {
      await sweepClaims(world.db, async () => world.system);
      const [job] = await claimNext(world.db, { claimer, leaseMs: LONG_MS });
      if (!job) {
        if ((await countJobs(world.db, world.workspace)).counts.Accepted >= JOBS) return;
        await sleep(5);
        continue;
      }
      holder.set(job.jobId, job.token);
      if (sleepers.delete(job.jobId)) nightmares.set(job.jobId, dream(job));
      else {
        // Still at work when the sleeper wakes up: that is the moment that counts.
        await nightmares.get(job.jobId);
        await report(job);
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, at) => work(`w${at}`)));
  return tally;
}

test("holders that sleep past their lease: no foreign ack is taken, and every stale one is refused and kept", async () => {
  const defended = await night("defended", async (job) => (await ackJob(world.db, world.system, job)).ok);
  const [kept] = await admin<
    { count: number }[]
  >`select count(*)::int as count from refusals where code = 'stale_claim'`;
  await admin`delete from jobs`;
  const undefended = await night("undefended", async (job) => {
    const taken = await admin`
      update jobs set status = 'Accepted', claim_token = null, claimed_by = null, lease_until = null
      where job_id = ${job.jobId} and status = 'Claimed'`;
    return taken.count === 1;
  });
  figure(
    "zombies",
    `${JOBS} jobs, ${WORKERS} workers, every fifth holder asleep past its lease: ${defended.foreign} foreign acks, ${defended.refused} stale acks refused and ${kept?.count} kept; without the token: ${undefended.foreign} foreign acks`,
  );
  expect(defended.foreign).toBe(0);
  expect(defended.refused).toBe(JOBS / SLEEPS_EVERY);
  expect(kept?.count).toBe(defended.refused);
  expect(undefended.foreign).toBe(JOBS / SLEEPS_EVERY);
}, 120_000);
