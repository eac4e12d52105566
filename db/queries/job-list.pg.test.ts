import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { given, Trial } from "@/db/testing/mailbox-trial";
import { pgMailbox } from "@/db/testing/pg-mailbox";
import { newWorld, type World } from "@/db/testing/world";
import { JOB_SECTIONS, JOB_STATUSES, type Job } from "@/lib/protocol/mailbox-job";
import { jobsQuery, listJobs } from "./job-list";

let world: World;
let trial: Trial;
beforeAll(async () => {
  world = await newWorld();
  trial = new Trial(pgMailbox(world.db, world.system, world.operator));
  await threeOfEach();
});
afterAll(() => world.close());

/** Three jobs of every status. The dead letters are the oldest: by age alone they would stand last. */
async function threeOfEach(): Promise<void> {
  const boxes = [trial.newMailbox(), trial.newMailbox(), trial.newMailbox()];
  for (const box of boxes) {
    await trial.put(box);
    given(await trial.box.nack(await trial.take(box), "the model is away", true));
  }
  for (const box of boxes) {
    given(await trial.box.cancel((await trial.put(box)).jobId));
    await trial.put(box);
    given(await trial.box.interrupt(box));
    await trial.put(box);
    given(await trial.box.ack(await trial.take(box)));
    await trial.put(box, { priority: 9 });
    await trial.take(box);
    await trial.put(box, { priority: box === boxes[2] ? 5 : 200 });
  }
}

async function inPages(size: number, filter: Parameters<typeof listJobs>[2] = {}): Promise<readonly Job[]> {
  const seen: Job[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listJobs>> = await listJobs(world.db, world.workspace, filter, size, cursor);
    seen.push(...page.jobs);
    cursor = page.next;
  } while (cursor !== null);
  return seen;
}

const statusesOf = (jobs: readonly Job[]) => jobs.map(({ status }) => status);

test("dead letters come first, then what is claimed, what is queued in the order of claims, and what is over", async () => {
  const jobs = await inPages(50);
  expect(statusesOf(jobs).slice(0, 9)).toEqual([
    ...["DeadLetter", "DeadLetter", "DeadLetter"],
    ...["Claimed", "Claimed", "Claimed"],
    ...["Queued", "Queued", "Queued"],
  ]);
  expect(jobs.slice(6, 9).map(({ priority }) => priority)).toEqual([5, 200, 200]);
  expect(new Set(statusesOf(jobs.slice(9)))).toEqual(new Set(["Accepted", "Cancelled", "Superseded"]));
  const over = jobs.slice(9).map(({ createdAt }) => createdAt);
  expect(over).toEqual([...over].sort().reverse());
});

test("pages of any size give each job once, across the sections and within one", async () => {
  const whole = (await inPages(50)).map(({ jobId }) => jobId);
  expect(whole).toHaveLength(18);
  for (const size of [1, 2, 4, 7])
    expect(
      (await inPages(size)).map(({ jobId }) => jobId),
      `by ${size}`,
    ).toEqual(whole);
  for (const status of JOB_STATUSES) {
    const alone = await inPages(2, { status });
    expect(statusesOf(alone), status).toEqual([status, status, status]);
  }
});

test("a job that a worker outside claims and one for our own stand in one order", async () => {
  const box = trial.newMailbox();
  await trial.put(box, { priority: 1 });
  const [outside] = await inWorkspace(world.db, world.workspace, async (tx) => {
    await tx.sql`update jobs set outside = true where mailbox_id = ${box}`;
    return (await listJobs(tx, world.workspace, { status: "Queued" }, 1)).jobs;
  });
  expect(outside).toMatchObject({ mailboxId: box, outside: true });
  expect(new Set((await inPages(1, { status: "Queued" })).map((job) => job.outside))).toEqual(new Set([true, false]));
});

test("a cursor of another list, or of nobody, reads from the start", async () => {
  const { jobs, next } = await listJobs(world.db, world.workspace, { status: "Accepted" }, 1);
  expect(jobs).toHaveLength(1);
  for (const cursor of [
    next,
    "Accepted_1_x",
    "Nothing_128_2026-01-01T00:00:00.000000Z_00000000-0000-7000-8000-000000000000",
  ])
    expect(statusesOf((await listJobs(world.db, world.workspace, { status: "DeadLetter" }, 3, cursor)).jobs)).toEqual([
      ...["DeadLetter", "DeadLetter", "DeadLetter"],
    ]);
});

test("a page of any section begins in an index that holds its order, under row security too; only what is claimed is sorted", async () => {
  const ends = "128_2026-01-01T00:00:00.000000Z_00000000-0000-7000-8000-000000000000";
  const cursors = [null, ...JOB_SECTIONS.map(({ statuses }) => `${statuses[0]}_${ends}`)];
  for (const cursor of cursors) {
    const plan = await inWorkspace(world.db, world.workspace, async (tx) => {
      await tx.sql`set local enable_seqscan = off`;
      await tx.sql`set local enable_bitmapscan = off`;
      const rows = await tx.sql<Record<string, string>[]>`explain (costs off) ${jobsQuery(tx, {}, 51, cursor)}`;
      return rows.map((row) => Object.values(row)[0] ?? "").join("\n");
    });
    const branches = plan
      .split("Subquery Scan")
      .slice(1)
      .map((branch) => branch.split("Materialize")[0] ?? "");
    expect(branches.length, plan).toBeGreaterThan(2);
    for (const branch of branches.filter((it) => !it.includes("jobs_one_claimed_a_mailbox"))) {
      expect(branch).toMatch(/Index Scan (Backward )?using jobs_(newest|claim_order) on jobs/);
      expect(branch).not.toMatch(/Sort|^ *Filter:/m);
    }
  }
});
