import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import type { Refused } from "@/db/store/refuse";
import { backoffMs, JOB_LEASE_MS, type Job, type JobClaim } from "@/lib/protocol/mailbox-job";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { giveUp } from "./give-up";
import { refuseJob, withoutRight } from "./refuse-job";
import { readJob, underClaim, uuidOr, type Where, withoutClaim, writeJob } from "./rows";

type Reported = Result<Job, Refused>;

/** Longer errors are cut: the column is for an operator's eye, not for an archive. In UTF-16 units. */
const ERROR_LENGTH = 8_192;

/** Delivered. It never means that the run succeeded. Refused: `unknown_job`, `stale_claim`, which changes nothing. */
export async function ackJob(scope: Scope, caller: Caller, claim: JobClaim): Promise<Reported> {
  return report(scope, caller, claim, (tx) => accept(tx, claim));
}

/**
 * The same in the transaction that does the job's last write, so that no crash comes between. True when the job is delivered by now,
 * also where an earlier answer that said so was lost. False when the claim is gone: then only the ack is dropped, and whoever has the
 * job finds nothing left to do. Source: protocol §10, interleaving 7.
 */
export async function ackWithin(tx: Tx, claim: JobClaim): Promise<boolean> {
  if ((await accept(tx, claim)) !== null) return true;
  const [delivered] = await tx.sql`
    select from jobs where workspace_id = ${tx.workspace} and job_id = ${uuidOr(claim.jobId)} and status = 'Accepted'`;
  return delivered !== undefined;
}

function accept(tx: Tx, claim: JobClaim): Promise<Job | null> {
  return change(tx, claim, tx.sql`status = 'Accepted', ${withoutClaim(tx)}`);
}

/** Not now: to a time, in epoch ms. No attempt is counted and the last error stays. */
export async function deferJob(scope: Scope, caller: Caller, claim: JobClaim, untilMs: number): Promise<Reported> {
  return deferTo(scope, caller, claim, (tx) => tx.sql`to_timestamp(${untilMs}::float8 / 1000)`);
}

/** The same by the database's clock: so many ms from now. */
export async function deferJobBy(scope: Scope, caller: Caller, claim: JobClaim, delayMs: number): Promise<Reported> {
  return deferTo(scope, caller, claim, (tx) => tx.sql`clock_timestamp() + ${delayMs} * interval '1 millisecond'`);
}

async function deferTo(scope: Scope, caller: Caller, claim: JobClaim, at: (tx: Tx) => Where): Promise<Reported> {
  return report(scope, caller, claim, (tx) =>
    change(
      tx,
      claim,
      tx.sql`status = 'Queued', available_at = ${at(tx)}, attempt_count = attempt_count - 1, ${withoutClaim(tx)}`,
    ),
  );
}

/** Move the lease of a live claim, and with it that of the call that is executing under it. */
export async function extendJob(
  scope: Scope,
  caller: Caller,
  claim: JobClaim,
  leaseMs: number = JOB_LEASE_MS,
): Promise<Reported> {
  return report(scope, caller, claim, async (tx) => {
    const [held] = await tx.sql<{ run: string | null }[]>`select run from jobs where ${underClaim(tx, claim)}`;
    if (!held) return null;
    // Run before job, as everywhere: the call's row is the run's.
    if (held.run) {
      await tx.sql`select from runs where workspace_id = ${tx.workspace} and id = ${held.run} for no key update`;
      await tx.sql`
        update calls set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        where workspace_id = ${tx.workspace} and run = ${held.run} and status = 'executing'
          and claim_token = ${uuidOr(claim.token)}`;
    }
    const until = tx.sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
    return change(tx, claim, tx.sql`lease_until = ${until}, updated_at = clock_timestamp()`);
  });
}

/** Its holder has begun, which may claim more than it begins; the result of an earlier claim is gone with that claim. */
export async function startJob(scope: Scope, caller: Caller, claim: JobClaim): Promise<Reported> {
  return report(scope, caller, claim, (tx) =>
    change(tx, claim, tx.sql`started_at = clock_timestamp(), result = null, updated_at = clock_timestamp()`),
  );
}

/** What came of the work, as canonical JSON, for whoever looks at the job. */
export async function recordJobResult(
  scope: Scope,
  caller: Caller,
  claim: JobClaim,
  result: string,
): Promise<Reported> {
  return report(scope, caller, claim, (tx) =>
    change(tx, claim, tx.sql`result = ${result}, updated_at = clock_timestamp()`),
  );
}

/**
 * Its worker failed. Again after a back-off; a dead letter when it says `permanent` or no attempt is left.
 * Source: protocol §10.
 */
export async function nackJob(
  scope: Scope,
  caller: Caller,
  claim: JobClaim,
  failure: { readonly permanent: boolean; readonly error: string },
): Promise<Reported> {
  const error = wellFormed(failure.error.slice(0, ERROR_LENGTH));
  return report(scope, caller, claim, async (tx) => {
    const [held] = await tx.sql<{ run: string | null; attemptCount: number; maxAttempts: number }[]>`
      select run, attempt_count, max_attempts from jobs where ${underClaim(tx, claim)}`;
    if (!held) return null;
    if (failure.permanent || held.attemptCount >= held.maxAttempts) {
      const left = await giveUp(
        tx,
        caller,
        { jobId: claim.jobId, run: held.run },
        "DeadLetter",
        error,
        underClaim(tx, claim),
      );
      return left ? readJob(tx, claim.jobId) : null;
    }
    const later = tx.sql`clock_timestamp() + ${backoffMs(held.attemptCount)} * interval '1 millisecond'`;
    return change(
      tx,
      claim,
      tx.sql`status = 'Queued', last_error = ${error}, available_at = ${later}, ${withoutClaim(tx)}`,
    );
  });
}

/** Half of a surrogate pair and U+0000 cannot be stored as text. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\u2400");
}

function change(tx: Tx, claim: JobClaim, to: Where): Promise<Job | null> {
  return writeJob(tx, tx.sql`update jobs set ${to} where ${underClaim(tx, claim)}`);
}

/** One write under a claim. What it does not reach is refused, and told what its claim has become. */
async function report(
  scope: Scope,
  caller: Caller,
  claim: JobClaim,
  write: (tx: Tx) => Promise<Job | null>,
  verb: Act = "report_job",
): Promise<Reported> {
  return inWorkspaceByKey(scope, caller.workspace, async (tx) => {
    const attempt = { verb, jobId: claim.jobId, run: null };
    const barred = await withoutRight(tx, caller, attempt);
    if (barred) return refuse(barred);
    const written = await write(tx);
    if (written) {
      tx.touched.add(written.run ?? written.jobId);
      return ok(written);
    }
    const job = await readJob(tx, claim.jobId);
    if (!job) return refuse(await refuseJob(tx, caller, attempt, refusal("unknown_job")));
    const superseded = await supersedeOutdated(tx, caller, claim, job.run);
    const facts = { job_id: claim.jobId, status: superseded ? "Superseded" : job.status };
    return refuse(await refuseJob(tx, caller, { ...attempt, run: job.run }, refusal("stale_claim", facts)));
  });
}

/** A claim older than its mailbox's generation ends with the first thing that its holder tries. Source: protocol §10. */
async function supersedeOutdated(
  tx: Tx,
  caller: Caller,
  { jobId, token }: JobClaim,
  run: string | null,
): Promise<boolean> {
  const outdated = tx.sql`
    workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'Claimed' and claim_token = ${uuidOr(token)}
      and generation < (select m.generation from mailboxes m
        where m.workspace_id = ${tx.workspace} and m.mailbox_id = jobs.mailbox_id)`;
  return giveUp(tx, caller, { jobId, run }, "Superseded", null, outdated);
}
