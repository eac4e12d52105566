import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countJobs } from "@/db/queries/mailbox";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { ackJob } from "@/db/store/mailbox/report";
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
const LEASE_MS = 60;
/** Every fifth job's first holder falls asleep for longer than its lease. */
const SLEEPS_EVERY = 5;
const SLEEP_MS = 95;
/** Who takes such a job over works on it for a while, so that the sleeper wakes up in the middle of it. */
const WORK_MS = 50;

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
  for (let at = 0; at < JOBS; at += 1) {
    const put = await enqueueJob(world.db, world.system, {
      mailboxId: `${name}-${at}`,
      origin: "Internal",
      maxAttempts: 50,
    });
    if (!put.ok) throw new Error(put.refusal.code);
    if (at % SLEEPS_EVERY === 0) sleepers.add(put.value.jobId);
  }
  const pending: Promise<void>[] = [];
  const report = async (job: ClaimedJob) => {
    if (!(await ack(job))) tally.refused += 1;
    else if (holder.get(job.jobId) !== job.token) tally.foreign += 1;
    else tally.accepted += 1;
  };
  const work = async (claimer: string) => {
    while (tally.accepted + tally.foreign < JOBS) {
      await sweepClaims(world.db, async () => world.system);
      const [job] = await claimNext(world.db, { claimer, leaseMs: sleepers.size > 0 ? LEASE_MS : LEASE_MS * 20 });
      if (!job) {
        if ((await countJobs(world.db, world.workspace)).counts.Accepted >= JOBS) return;
        await sleep(5);
        continue;
      }
      holder.set(job.jobId, job.token);
      if (sleepers.delete(job.jobId)) pending.push(sleep(SLEEP_MS).then(() => report(job)));
      else if (job.attemptCount > 1) pending.push(sleep(WORK_MS).then(() => report(job)));
      else await report(job);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, at) => work(`w${at}`)));
  await Promise.all(pending);
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
  expect(defended.refused).toBeGreaterThanOrEqual(JOBS / SLEEPS_EVERY);
  expect(kept?.count).toBe(defended.refused);
  expect(undefended.foreign).toBeGreaterThan(0);
}, 120_000);
