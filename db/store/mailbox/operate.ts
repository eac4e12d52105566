import { inWorkspace, type Scope, type Tx } from "@/db/client";
import { keepContents } from "@/db/store/contents";
import { type OpenBook, readBook } from "@/db/store/read-book";
import type { Refused } from "@/db/store/refuse";
import { appendTrace, traceActor } from "@/db/store/trace";
import { reference } from "@/lib/protocol/book/words";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { type Job, SUPERSEDED_KINDS } from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { insertJob } from "./enqueue";
import { type JobAttempt, refuseJob, withoutRight } from "./refuse-job";
import { readJob, readJobs } from "./rows";

/** The job that an operator names, with the run that it moves under its lock: the run comes before the job, as everywhere. */
async function jobToMove(
  tx: Tx,
  caller: Caller,
  attempt: JobAttempt & { readonly jobId: string },
): Promise<Result<{ readonly job: Job; readonly open: OpenBook | null }, Refused>> {
  const barred = await withoutRight(tx, caller, attempt);
  if (barred) return refuse(barred);
  const job = await readJob(tx, attempt.jobId);
  if (!job) return refuse(await refuseJob(tx, caller, attempt, refusal("unknown_job")));
  return ok({ job, open: job.run === null ? null : await readBook(tx, caller, { internal: job.run }, {}) });
}

/** Cancel a queued job. Null: it was not queued, and stays as it is. Refused: `unknown_job`. */
export async function cancelJob(
  scope: Scope,
  caller: Caller,
  jobId: string,
  reason: string,
): Promise<Result<Job | null, Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    const found = await jobToMove(tx, caller, { verb: "cancel_job", jobId, run: null, input: { reason } });
    if (!found.ok) return found;
    const { job, open } = found.value;
    const cancelled = await tx.sql`
      update jobs set status = 'Cancelled', last_error = ${`cancelled by ${caller.display}: ${reason}`}, updated_at = clock_timestamp()
      where workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'Queued'`;
    if (cancelled.count === 0) return ok(null);
    tx.touched.add(job.run ?? job.jobId);
    if (open) await note(tx, caller, open, "job_cancelled", jobId, reason);
    return ok(await readJob(tx, jobId));
  });
}

/**
 * Put a dead letter back, its attempts reset; who did it and why is traced, or kept with a job that moves no run. Any other job is
 * left as it is. Refused: `unknown_job`, `duplicate_job` when its dedupe key is another live job's by now.
 */
export async function requeueJob(
  scope: Scope,
  caller: Caller,
  jobId: string,
  reason: string,
): Promise<Result<Job | null, Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    const attempt = { verb: "requeue_job", jobId, run: null, input: { reason } } as const;
    const found = await jobToMove(tx, caller, attempt);
    if (!found.ok) return found;
    const { job, open } = found.value;
    // Against an interrupt, and against whoever else would make a job with the same dedupe key live.
    const [box] = await tx.sql<{ generation: number }[]>`
      select generation from mailboxes where workspace_id = ${tx.workspace} and mailbox_id = ${job.mailboxId} for no key update`;
    const requeued = await tx.sql`
      update jobs set status = 'Queued', attempt_count = 0, generation = ${box?.generation ?? 0},
        available_at = clock_timestamp(), last_error = ${`requeued by ${caller.display}: ${reason}`}, updated_at = clock_timestamp()
      where workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'DeadLetter'
        and (dedupe_key is null or not exists (select from jobs live where live.workspace_id = ${tx.workspace}
          and live.mailbox_id = ${job.mailboxId} and live.dedupe_key = jobs.dedupe_key and live.status in ('Queued', 'Claimed')))`;
    if (requeued.count === 0) {
      if (job.status !== "DeadLetter") return ok(null);
      const twin = refusal("duplicate_job", { dedupe_key: job.dedupeKey });
      return refuse(await refuseJob(tx, caller, { ...attempt, run: job.run }, twin));
    }
    tx.touched.add(job.run ?? job.jobId);
    if (open) {
      await tx.sql`update runs set stalled_reason = null where workspace_id = ${tx.workspace} and id = ${open.book.run.id}`;
      await note(tx, caller, open, "job_requeued", jobId, reason);
    }
    return ok(await readJob(tx, jobId));
  });
}

async function note(
  tx: Tx,
  caller: Caller,
  { book, head }: OpenBook,
  cause: "job_cancelled" | "job_requeued",
  jobId: string,
  reason: string,
): Promise<void> {
  const payload = { cause, job_id: jobId, reason: reference(reason, "content:reason") };
  await Promise.all([
    keepContents(tx, [{ kind: "reason", text: reason }]),
    appendTrace(tx, book.run, head, traceActor(caller), book.now.at, [{ type: "state_transition", payload }]),
  ]);
}

/** What an interrupt found and did. Source: protocol §10, [S2]. */
export interface Interrupted {
  readonly newGeneration: number;
  /** The job that is claimed right now; its holder may neither renew, start nor ack it any more. */
  readonly activeJob: Job | null;
  readonly superseded: readonly Job[];
}

/**
 * Raise a mailbox's generation and supersede what is queued in it, in one transaction; each run whose work is superseded or under
 * way gets a job that cancels it. Takes no run's lock. Refused: `unknown_job` when there is no such mailbox.
 */
export async function interruptMailbox(
  scope: Scope,
  caller: Caller,
  mailboxId: string,
  reason: string,
): Promise<Result<Interrupted, Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    const attempt = {
      verb: "interrupt_mailbox" as const,
      jobId: null,
      run: null,
      input: { mailbox_id: mailboxId, reason },
    };
    const barred = await withoutRight(tx, caller, attempt);
    if (barred) return refuse(barred);
    const [box] = await tx.sql<{ generation: number }[]>`
      update mailboxes set generation = generation + 1
      where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId} returning generation`;
    if (!box)
      return refuse(await refuseJob(tx, caller, attempt, refusal("unknown_job", {}, "there is no such mailbox")));
    const gone = await tx.sql<{ jobId: string }[]>`
      update jobs set status = 'Superseded', last_error = ${`interrupted by ${caller.display}: ${reason}`}, updated_at = clock_timestamp()
      where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId} and status = 'Queued'
        and kind in ${tx.sql([...SUPERSEDED_KINDS])} returning job_id`;
    await tx.sql`
      update jobs set generation = ${box.generation}, updated_at = clock_timestamp()
      where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId} and status = 'Queued'`;
    const [active] = await tx.sql<{ jobId: string }[]>`
      select job_id from jobs where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId} and status = 'Claimed'`;
    const superseded = await readJobs(
      tx,
      gone.map(({ jobId }) => jobId),
    );
    const activeJob = active ? await readJob(tx, active.jobId) : null;
    await cancelTheirRuns(tx, caller, mailboxId, [...superseded, ...(activeJob ? [activeJob] : [])], reason);
    for (const job of superseded) tx.touched.add(job.run ?? job.jobId);
    tx.touched.add(mailboxId);
    return ok({ newGeneration: box.generation, activeJob, superseded });
  });
}

async function cancelTheirRuns(tx: Tx, caller: Caller, mailboxId: string, jobs: readonly Job[], reason: string) {
  const runs = new Map(jobs.flatMap((job) => (job.run !== null && job.kind !== "cancel" ? [[job.run, job]] : [])));
  for (const [run, job] of runs) {
    await insertJob(tx, {
      mailboxId,
      kind: "cancel",
      origin: "Internal",
      run,
      priority: 0,
      dedupeKey: `cancel:${job.runId}`,
      requestExtras: canonicalJson({ cause: "interrupted", by: caller.display, reason }),
    });
  }
}
