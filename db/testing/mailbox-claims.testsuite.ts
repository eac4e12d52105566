import { beforeAll, expect, it } from "vitest";
import { eventually, given, LEASE, type Trial } from "./mailbox-trial";

/** Enqueue, claim, ack, nack, cancel, extend: behaviours 1 to 14. */
export function testClaims(of: () => Trial): void {
  let trial: Trial;
  beforeAll(() => {
    trial = of();
  });

  it("1: what was enqueued is listed", async () => {
    const id = trial.newMailbox();
    const job = await trial.put(id);
    const { jobs } = await trial.box.list({ mailboxId: id, status: "Queued" }, 10);
    expect(jobs.map((listed) => listed.jobId)).toEqual([job.jobId]);
    expect(job).toMatchObject({
      status: "Queued",
      attemptCount: 0,
      generation: 0,
      priority: 128,
      maxAttempts: 5,
      origin: "User",
    });
  });

  it("2: a claim gives a token and its consumer", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const { job, token } = await trial.take(id, LEASE, "worker-7");
    expect(job).toMatchObject({ status: "Claimed", claimedBy: "worker-7", claimToken: token });
    expect(job.leaseUntil).not.toBeNull();
  });

  it("3, D4-46: what is available later is not claimable now, and is then", async () => {
    const id = trial.newMailbox();
    const later = await trial.put(id, { availableInMs: 3_600_000 });
    expect(await trial.box.claim("w1", LEASE, id)).toBeNull();
    const other = trial.newMailbox();
    await trial.put(other, { availableInMs: 30 });
    await eventually(async () => (await trial.box.claim("w1", LEASE, other)) !== null);
    expect((await trial.status(later.jobId)).status).toBe("Queued");
  });

  it("4, D4-47: priority goes before age", async () => {
    const ids = [trial.newMailbox(), trial.newMailbox(), trial.newMailbox()];
    const low = await trial.put(ids[0] ?? "", { priority: 200 });
    const middle = await trial.put(ids[1] ?? "", { priority: 128 });
    const high = await trial.put(ids[2] ?? "", { priority: 10 });
    const order = await trial.claimAll(new Set([low.jobId, middle.jobId, high.jobId]));
    expect(order).toEqual([high.jobId, middle.jobId, low.jobId]);
  });

  it("5, D4-49: a mailbox has one claimed job until its ack, while other mailboxes work", async () => {
    const [id, other] = [trial.newMailbox(), trial.newMailbox()];
    await trial.put(id);
    const second = await trial.put(id);
    await trial.put(other);
    const first = await trial.take(id);
    expect(await trial.box.claim("w2", LEASE, id)).toBeNull();
    expect(await trial.box.claim("w2", LEASE, other)).not.toBeNull();
    given(await trial.box.ack(first));
    expect((await trial.take(id, LEASE, "w2")).jobId).toBe(second.jobId);
  });

  it("6: the list's order is the order of claims", async () => {
    const id = trial.newMailbox();
    for (const priority of [200, 5, 128, 5]) await trial.put(id, { priority });
    const listed = (await trial.box.list({ mailboxId: id, status: "Queued" }, 10)).jobs.map((job) => job.jobId);
    const claimed: string[] = [];
    for (const _ of listed) {
      const held = await trial.take(id);
      claimed.push(held.jobId);
      given(await trial.box.ack(held));
    }
    expect(claimed).toEqual(listed);
  });

  it("7, D4-40: an ack ends as Accepted and clears the claim", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const acked = given(await trial.box.ack(await trial.take(id)));
    expect(acked).toMatchObject({ status: "Accepted", claimToken: null, claimedBy: null, leaseUntil: null });
  });

  it("8, D4-39: an ack or nack with a wrong token is refused, and the job stays claimed", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    const foreign = { jobId: held.jobId, token: "11111111-1111-4111-8111-111111111111" };
    for (const token of [foreign.token, "not a token", ""]) {
      expect(await trial.box.ack({ ...foreign, token })).toEqual({ refused: "stale_claim" });
      expect(await trial.box.nack({ ...foreign, token }, "no")).toEqual({ refused: "stale_claim" });
    }
    expect(await trial.status(held.jobId)).toEqual(held.job);
  });

  it("9, D4-40: a nack queues it again with count, time and error", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const back = given(await trial.box.nack(await trial.take(id), "the tool host was away"));
    expect(back).toMatchObject({
      status: "Queued",
      attemptCount: 1,
      lastError: "the tool host was away",
      claimToken: null,
    });
    expect(Date.parse(back.availableAt)).toBeGreaterThan(Date.parse(back.updatedAt));
    expect(await trial.box.claim("w1", LEASE, id)).toBeNull();
  });

  it("10, D4-41: a nack at the last attempt, or for good, makes a dead letter", async () => {
    const [id, other] = [trial.newMailbox(), trial.newMailbox()];
    await trial.put(id, { maxAttempts: 1 });
    expect(given(await trial.box.nack(await trial.take(id), "no more"))).toMatchObject({
      status: "DeadLetter",
      attemptCount: 1,
    });
    await trial.put(other);
    expect(given(await trial.box.nack(await trial.take(other), "never", true))).toMatchObject({
      status: "DeadLetter",
      lastError: "never",
    });
  });

  it("11, D4-42: a queued job can be cancelled", async () => {
    const id = trial.newMailbox();
    const { jobId } = await trial.put(id);
    expect(given(await trial.box.cancel(jobId))).toMatchObject({ jobId, status: "Cancelled" });
    expect(await trial.box.claim("w1", LEASE, id)).toBeNull();
  });

  it("12, D4-42: a claimed job is not cancelled: none is returned and it stays as it is", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id);
    expect(await trial.box.cancel(held.jobId)).toBeNull();
    expect(await trial.status(held.jobId)).toEqual(held.job);
  });

  it("13, D4-51: extend moves the lease", async () => {
    const id = trial.newMailbox();
    await trial.put(id);
    const held = await trial.take(id, 30_000);
    const extended = given(await trial.box.extend(held, 3_600_000));
    expect(Date.parse(extended.leaseUntil ?? "")).toBeGreaterThan(Date.parse(held.job.leaseUntil ?? "") + 3_000_000);
  });

  it("14, D4-51: extend with a wrong token, or without a claim, changes nothing", async () => {
    const id = trial.newMailbox();
    const queued = await trial.put(id);
    const nobody = { jobId: queued.jobId, token: "11111111-1111-4111-8111-111111111111" };
    expect(await trial.box.extend(nobody, LEASE)).toEqual({ refused: "stale_claim" });
    expect(await trial.status(queued.jobId)).toEqual(queued);
    const held = await trial.take(id);
    expect(await trial.box.extend(nobody, LEASE)).toEqual({ refused: "stale_claim" });
    expect(await trial.status(held.jobId)).toEqual(held.job);
  });
}
