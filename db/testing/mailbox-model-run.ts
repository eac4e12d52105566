import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { JobClaim } from "@/lib/protocol/mailbox-job";
import type { Mailbox, Refusable } from "./mailbox";
import { type MailboxCommand, MailboxModel } from "./mailbox-model";

/** A guard that is broken on purpose, so that the model can be seen to notice. */
export type MailboxMutant =
  | "no token"
  | "no expiry"
  | "no generation"
  | "no attempt at the claim"
  | "reports refused at the lease's end"
  | "leases swept at their end";

const LEASE = 3_600_000;

export interface MailboxTrial {
  readonly commands: number;
  readonly refused: number;
  /** The first place where the store and the model differ. */
  readonly divergence: string | null;
}

/**
 * Run commands against the store and the model side by side, in an empty queue; stop at the first difference. The database's clock
 * stands still, so that a lease can be met at its very end.
 */
export async function runMailboxTrial(
  box: Mailbox,
  admin: postgres.Sql,
  commands: readonly MailboxCommand[],
  mutant: MailboxMutant | null = null,
): Promise<MailboxTrial> {
  await admin`delete from jobs`;
  const run = new Run(box, admin, mutant);
  let refused = 0;
  for (const [index, command] of commands.entries()) {
    const pick = run.pick(command);
    const expected = run.model.apply(command);
    const actual = await run.drive(command, pick);
    if (actual === "stale_claim" || actual === "duplicate_job") refused += 1;
    const difference = actual === expected ? await run.compare() : `model ${expected}, store ${actual}`;
    if (difference)
      return { commands: index + 1, refused, divergence: `#${index} ${JSON.stringify(command)}: ${difference}` };
  }
  return { commands: commands.length, refused, divergence: null };
}

class Run {
  readonly model = new MailboxModel();
  private readonly name = randomUUID();
  private readonly ids: string[] = [];
  private readonly claims = new Map<number, JobClaim>();

  constructor(
    private readonly box: Mailbox,
    private readonly admin: postgres.Sql,
    private readonly mutant: MailboxMutant | null,
  ) {}

  /** What the command's numbers mean, before the model moves. */
  pick(command: MailboxCommand): { readonly jobId: string | null; readonly claim: JobClaim | null } {
    const held = "worker" in command && "nth" in command ? this.model.claimOf(command.worker, command.nth) : null;
    const at = "nth" in command && !("worker" in command) ? this.model.jobOf(command.nth) : null;
    return {
      jobId: at === null ? null : (this.ids[at] ?? null),
      claim: held === null ? null : (this.claims.get(held.claim) ?? null),
    };
  }

  async drive(command: MailboxCommand, { jobId, claim }: ReturnType<Run["pick"]>): Promise<string> {
    const { box } = this;
    switch (command.do) {
      case "enqueue": {
        const { priority, dedupe, last } = command;
        const more = dedupe ? { dedupeKey: "key" } : {};
        const put = await box.enqueue({
          mailboxId: this.mailbox(command.box),
          priority,
          maxAttempts: last ? 1 : 3,
          ...more,
        });
        if ("jobId" in put) this.ids.push(put.jobId);
        return codeOf(put);
      }
      case "claim":
        return this.claim(command);
      case "cancel":
        return jobId === null ? "none" : codeOf(await box.cancel(jobId));
      case "requeue":
        return jobId === null ? "none" : codeOf(await box.requeue(jobId));
      case "expire":
        return jobId === null ? "none" : this.endLease(jobId, 1);
      case "reach the end":
        return jobId === null ? "none" : this.endLease(jobId, 0);
      case "interrupt":
        return codeOf(await box.interrupt(this.mailbox(command.box)));
      case "sweep":
        if (this.mutant === "leases swept at their end") await this.passTheEnd(null);
        await box.sweep();
        return "ok";
      case "ripen":
        await this.admin`update jobs set available_at = clock.clock_timestamp() where status = 'Queued'`;
        return "ok";
      default:
        return claim === null ? "none" : this.report(command.do, claim);
    }
  }

  /** Every job as it stands against the model's; null when they agree. */
  async compare(): Promise<string | null> {
    const rows = await this.admin<{ jobId: string; stands: string }[]>`
      select job_id as "jobId", concat_ws(' ', status, attempt_count, generation, claim_token is not null) as stands from jobs`;
    const stored = new Map(rows.map(({ jobId, stands }) => [jobId, stands]));
    for (const [at, job] of this.model.jobs.entries()) {
      const expected = [job.status, job.attempts, job.generation, job.claim > 0 ? "t" : "f"].join(" ");
      const actual = stored.get(this.ids[at] ?? "");
      if (actual !== expected) return `job ${at}: model ${expected}, store ${actual}`;
    }
    return null;
  }

  private mailbox(box: number): string {
    return `${this.name}-${box}`;
  }

  private async claim({ worker, box }: Extract<MailboxCommand, { do: "claim" }>): Promise<string> {
    const held = await this.box.claim(`w${worker}`, LEASE, box === null ? undefined : this.mailbox(box));
    if (!held) return "none";
    const [last] = this.model.claims[worker]?.slice(-1) ?? [];
    if (last) this.claims.set(last.claim, { jobId: held.jobId, token: held.token });
    if (this.mutant === "no attempt at the claim")
      await this.admin`update jobs set attempt_count = attempt_count - 1 where job_id = ${held.jobId}`;
    return String(this.ids.indexOf(held.jobId));
  }

  /** Its lease ended so many microseconds ago. */
  private async endLease(jobId: string, ago: number): Promise<string> {
    const ended = await this.admin`
      update jobs set lease_until = clock.clock_timestamp() - ${ago} * interval '1 microsecond'
      where job_id = ${jobId} and status = 'Claimed'`;
    return ended.count === 1 ? "ok" : "unchanged";
  }

  /** As a store that compares with `>=` where the protocol has `>` sees the leases that end now. */
  private async passTheEnd(jobId: string | null): Promise<void> {
    await this.admin`
      update jobs set lease_until = lease_until - interval '1 microsecond'
      where status = 'Claimed' and lease_until = clock.clock_timestamp() and job_id = coalesce(${jobId}, job_id)`;
  }

  private async report(
    what: "ack" | "nack" | "give up" | "defer" | "extend" | "start",
    sent: JobClaim,
  ): Promise<string> {
    const claim = await this.broken(sent);
    switch (what) {
      case "ack":
        return codeOf(await this.box.ack(claim));
      case "nack":
        return this.rests(claim.jobId, codeOf(await this.box.nack(claim, "it failed")));
      case "give up":
        return codeOf(await this.box.nack(claim, "it cannot be done", true));
      case "defer":
        return codeOf(await this.box.defer(claim, 0));
      case "extend":
        return codeOf(await this.box.extend(claim, LEASE));
      case "start":
        return codeOf(await this.box.start(claim));
    }
  }

  /** Whoever backs off does so until "ripen" says that time has passed: on a slow machine a quarter of a second is soon over. */
  private async rests(jobId: string, answer: string): Promise<string> {
    if (answer === "ok")
      await this.admin`
        update jobs set available_at = available_at + interval '1 hour'
        where job_id = ${jobId} and status = 'Queued' and available_at > updated_at`;
    return answer;
  }

  /** What a store without this guard would have made of the claim. */
  private async broken(claim: JobClaim): Promise<JobClaim> {
    const { jobId } = claim;
    if (this.mutant === "reports refused at the lease's end") await this.passTheEnd(jobId);
    if (this.mutant === "no expiry")
      await this
        .admin`update jobs set lease_until = clock.clock_timestamp() + interval '1 hour' where job_id = ${jobId} and status = 'Claimed'`;
    if (this.mutant === "no generation")
      await this.admin`
        update jobs j set generation = m.generation from mailboxes m
        where j.job_id = ${jobId} and m.workspace_id = j.workspace_id and m.mailbox_id = j.mailbox_id and j.status = 'Claimed'`;
    if (this.mutant !== "no token") return claim;
    const [row] = await this.admin<
      { token: string | null }[]
    >`select claim_token as token from jobs where job_id = ${jobId}`;
    return { jobId, token: row?.token ?? claim.token };
  }
}

function codeOf(answer: Refusable<unknown>): string {
  if (answer === null) return "unchanged";
  return typeof answer === "object" && answer !== null && "refused" in answer ? String(answer.refused) : "ok";
}
