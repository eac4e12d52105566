import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import type { Mailbox } from "./mailbox";
import { eventually, given, LEASE, type Trial } from "./mailbox-trial";

/** Interrupts, lapses, dedupe, lists, starts and results: behaviours 15 to 35, and what an operator does with dead letters. */
export function testGenerations(of: () => Trial): void {
  let trial: Trial;
  beforeAll(() => {
    trial = of();
  });

  it("15, D4-43: an interrupt supersedes what is queued and returns it", async () => {
    const id = trial.newMailbox();
    const jobs = [await trial.put(id), await trial.put(id)];
    const done = given(await trial.box.interrupt(id));
    expect(done).toMatchObject({ newGeneration: 1, activeJob: null });
    expect(done.superseded.map((job) => job.jobId)).toEqual(jobs.map((job) => job.jobId));
    for (const { jobId } of jobs) expect((await trial.status(jobId)).status).toBe("Superseded");
  });

  it("16, D4-44: an interrupt returns the job that is claimed", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    expect(given(await trial.box.interrupt(id)).activeJob?.jobId).toBe(held.jobId);
  });

  it("17: the generation can be read after an interrupt, and new jobs are of it", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    given(await trial.box.interrupt(id));
    given(await trial.box.interrupt(id));
    expect(await trial.box.generation(id)).toBe(2);
    expect((await trial.put(id)).generation).toBe(2);
  });

  it("18: a claimed job can be superseded, and its lease is gone", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    given(await trial.box.interrupt(id));
    await trial.box.ack(held);
    expect(await trial.status(held.jobId)).toMatchObject({ status: "Superseded", leaseUntil: null, claimToken: null });
  });

  it("19, D4-45: after an interrupt a stale claim cannot be renewed and becomes Superseded", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    given(await trial.box.interrupt(id));
    expect(await trial.box.extend(held, LEASE)).toEqual({ refused: "stale_claim" });
    expect((await trial.status(held.jobId)).status).toBe("Superseded");
  });

  it("20, D4-45: a stale claim cannot record that it started", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    given(await trial.box.interrupt(id));
    expect(await trial.box.start(held)).toEqual({ refused: "stale_claim" });
    expect(await trial.status(held.jobId)).toMatchObject({ status: "Superseded", startedAt: null });
  });

  it("21: a stale claim whose lease is over is superseded, not queued again", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id, 1);
    given(await trial.box.interrupt(id));
    expect((await trial.lapse(held)).status).toBe("Superseded");
  });

  it("22, D4-48: a dedupe key is refused while its job lives, and free again after", async () => {
    const id = trial.newMailbox();
    await trial.put(id, { dedupeKey: "once" });
    expect(await trial.box.enqueue({ mailboxId: id, dedupeKey: "once" })).toEqual({ refused: "duplicate_job" });
    await trial.put(trial.newMailbox(), { dedupeKey: "once" });
    const held = await trial.take(id);
    expect(await trial.box.enqueue({ mailboxId: id, dedupeKey: "once" })).toEqual({ refused: "duplicate_job" });
    given(await trial.box.ack(held));
    await trial.put(id, { dedupeKey: "once" });
  });

  it("23, D4-50: a lease that is over queues the job again, its attempt counted", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id, 1);
    expect(await trial.lapse(held)).toMatchObject({ status: "Queued", attemptCount: 1, claimedBy: null });
    expect((await trial.take(id)).job.attemptCount).toBe(2);
    expect(await trial.box.ack(held)).toEqual({ refused: "stale_claim" });
  });

  it("24, D4-50: at the last attempt it becomes a dead letter and shows nobody running it", async () => {
    const id = trial.newMailbox();
    await trial.put(id, { maxAttempts: 1 });
    expect(await trial.lapse(await trial.take(id, 1))).toMatchObject({
      status: "DeadLetter",
      claimedBy: null,
      leaseUntil: null,
    });
  });

  it("25, D4-50: sweeps at once act on one lapse once", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id, 1);
    await sleep(20);
    await Promise.all(Array.from({ length: 8 }, () => trial.box.sweep()));
    expect(await trial.lapse(held)).toMatchObject({ status: "Queued", attemptCount: 1 });
  });

  it("26: old jobs that are over are purged, dead letters and live ones are not", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const accepted = given(await trial.box.ack(await trial.take(id)));
    await trial.put(id, { maxAttempts: 1 });
    const dead = given(await trial.box.nack(await trial.take(id), "broken"));
    const live = await trial.put(id);
    await eventually(async () => {
      await trial.box.purge(1);
      return (await trial.box.job(accepted.jobId)) === null;
    });
    expect((await trial.status(dead.jobId)).status).toBe("DeadLetter");
    expect((await trial.status(live.jobId)).status).toBe("Queued");
  });

  it("27: mailboxes with queued work are listed", async () => {
    const [busy, idle] = [trial.newMailbox(), trial.newMailbox()];
    await trial.put(busy);
    await trial.put(idle);
    given(await trial.box.ack(await trial.take(idle)));
    const listed = await trial.box.queuedMailboxes();
    expect(listed).toContain(busy);
    expect(listed).not.toContain(idle);
  });

  it("28: jobs are counted by status", async () => {
    const before = await trial.box.counts();
    const id = trial.newMailbox();
    await trial.put(id);
    given(await trial.box.ack(await trial.take(id)));
    await trial.put(id);
    const after = await trial.box.counts();
    expect([after.Accepted - before.Accepted, after.Queued - before.Queued]).toEqual([1, 1]);
  });

  it("29: the list of what is over comes in pages, each job once", async () => {
    const id = trial.newMailbox();
    const done: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      await trial.put(id);
      done.push(given(await trial.box.ack(await trial.take(id))).jobId);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Mailbox["list"]>> = await trial.box.list(
        { mailboxId: id, status: "Accepted" },
        2,
        cursor,
      );
      seen.push(...page.jobs.map((job) => job.jobId));
      cursor = page.next;
    } while (cursor !== null);
    expect(seen).toEqual(done.toReversed());
  });

  it("30: a job can be claimed by its id", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const second = await trial.put(id);
    expect((await trial.box.claimById(second.jobId, "w1", LEASE))?.jobId).toBe(second.jobId);
    expect(await trial.box.claimById(second.jobId, "w2", LEASE)).toBeNull();
    expect(await trial.box.claimById("no such job", "w2", LEASE)).toBeNull();
  });

  it("31: a claim by id ignores the time before which the scan leaves the job alone", async () => {
    const id = trial.newMailbox();
    const later = await trial.put(id, { availableInMs: 3_600_000 });
    expect(await trial.box.claim("w1", LEASE, id)).toBeNull();
    expect((await trial.box.claimById(later.jobId, "w1", LEASE))?.jobId).toBe(later.jobId);
  });

  it("32: a start is recorded, and the result of an earlier claim is gone", async () => {
    const id = trial.newMailbox();
    const { jobId } = await trial.put(id);
    const first = await trial.take(id);
    given(await trial.box.start(first));
    given(await trial.box.recordResult(first, '{"answer":1}'));
    given(await trial.box.defer(first, 0));
    expect((await trial.status(jobId)).result).toBe('{"answer":1}');
    const second = await trial.take(id);
    expect(second.job).toMatchObject({ startedAt: null, result: null });
    expect(given(await trial.box.start(second)).startedAt).not.toBeNull();
  });

  it("33: a result is recorded, and stays after the ack", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    given(await trial.box.recordResult(held, '{"done":true}'));
    expect(given(await trial.box.ack(held))).toMatchObject({ status: "Accepted", result: '{"done":true}' });
  });

  it("34: neither start nor result is recorded without a live claim", async () => {
    const id = trial.newMailbox();
    const queued = await trial.put(id);
    const nobody = { jobId: queued.jobId, token: "11111111-1111-4111-8111-111111111111" };
    expect(await trial.box.start(nobody)).toEqual({ refused: "stale_claim" });
    expect(await trial.box.recordResult(nobody, "{}")).toEqual({ refused: "stale_claim" });
    const held = await trial.take(id);
    given(await trial.box.ack(held));
    expect(await trial.box.recordResult(held, "{}")).toEqual({ refused: "stale_claim" });
    expect(await trial.status(queued.jobId)).toMatchObject({ startedAt: null, result: null });
  });

  it("35, D4-47: equal priorities are served first in, first out", async () => {
    const id = trial.newMailbox();
    const put3 = [await trial.put(id), await trial.put(id), await trial.put(id)];
    const claimed: string[] = [];
    for (const _ of put3) {
      const held = await trial.take(id);
      claimed.push(held.jobId);
      given(await trial.box.ack(held));
    }
    expect(claimed).toEqual(put3.map((job) => job.jobId));
  });

  it("D4-38: of ten claimers at once exactly one wins a job", async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = trial.newMailbox();
      await trial.put(id);
      const claims = await Promise.all(Array.from({ length: 10 }, (_, at) => trial.box.claim(`w${at}`, LEASE, id)));
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    }
  });

  it("a deferred job counts no attempt, keeps its error and can be deferred for ever", async () => {
    const id = trial.newMailbox();
    await trial.put(id, { maxAttempts: 2 });
    given(await trial.box.nack(await trial.take(id), "first failure"));
    const [job] = (await trial.box.list({ mailboxId: id }, 1)).jobs;
    for (let round = 0; round < 4; round += 1) {
      const held = await trial.box.claimById(job?.jobId ?? "", "w1", LEASE);
      if (!held) throw new Error("not claimable");
      expect(given(await trial.box.defer(held, 0))).toMatchObject({
        status: "Queued",
        attemptCount: 1,
        lastError: "first failure",
      });
    }
  });

  it("a dead letter is queued again by an operator with fresh attempts; nothing else is", async () => {
    const id = trial.newMailbox();
    await trial.put(id, { maxAttempts: 1 });
    const dead = given(await trial.box.nack(await trial.take(id), "broken"));
    expect(given(await trial.box.requeue(dead.jobId))).toMatchObject({ status: "Queued", attemptCount: 0 });
    expect(await trial.box.requeue(dead.jobId)).toBeNull();
    expect((await trial.take(id)).jobId).toBe(dead.jobId);
    expect(await trial.box.requeue("no such job")).toEqual({ refused: "unknown_job" });
  });

  it("of two dead letters with one dedupe key that are queued again at once, one lives", async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = trial.newMailbox();
      const dead: string[] = [];
      for (let count = 0; count < 2; count += 1) {
        await trial.put(id, { maxAttempts: 1, dedupeKey: "twin" });
        dead.push(given(await trial.box.nack(await trial.take(id), "broken")).jobId);
      }
      const answers = await Promise.all(dead.map((jobId) => trial.box.requeue(jobId)));
      expect(answers.filter((answer) => answer !== null && "jobId" in answer)).toHaveLength(1);
      expect(answers).toContainEqual({ refused: "duplicate_job" });
    }
  });

  it("a dead letter whose dedupe key another live job has by now is not queued again", async () => {
    const id = trial.newMailbox();
    await trial.put(id, { maxAttempts: 1, dedupeKey: "same" });
    const dead = given(await trial.box.nack(await trial.take(id), "broken"));
    await trial.put(id, { dedupeKey: "same" });
    expect(await trial.box.requeue(dead.jobId)).toEqual({ refused: "duplicate_job" });
  });
}
