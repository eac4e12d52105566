import { v7 as newId } from "uuid";
import { acrossWorkspaces, type Db, inWorkspace, type Tx } from "@/db/client";
import type { JobDraft } from "@/lib/protocol/book/book";
import type { RunFacts } from "@/lib/protocol/book/facts";
import { JOB_LEASE_MS } from "@/lib/protocol/mailbox-job";

type JobRun = Pick<RunFacts, "id" | "runId" | "agentId" | "threadId">;

/**
 * Put a run's resume jobs into its thread's mailbox, in the verb's own transaction. A key that is live already means that the
 * run will be looked at after this commit anyway, so it is no fault. Source: protocol §10.
 */
export async function enqueueResumes(tx: Tx, run: JobRun, jobs: readonly JobDraft[]): Promise<void> {
  if (jobs.length === 0) return;
  const rows = jobs.map((job) => ({
    workspaceId: tx.workspace,
    jobId: newId(),
    mailboxId: run.threadId,
    agentId: run.agentId,
    kind: "resume",
    run: run.id,
    ticketId: job.ticketId,
    origin: "Internal",
    dedupeKey: job.dedupeKey,
  }));
  await Promise.all([
    tx.sql`insert into mailboxes ${tx.sql({ workspaceId: tx.workspace, mailboxId: run.threadId })} on conflict do nothing`.execute(),
    ...rows.map((row) =>
      tx.sql`
        insert into jobs (workspace_id, job_id, mailbox_id, agent_id, kind, run, ticket_id, origin, dedupe_key, generation)
        select ${row.workspaceId}, ${row.jobId}, ${row.mailboxId}, ${row.agentId}, ${row.kind}, ${row.run}, ${row.ticketId},
          ${row.origin}, ${row.dedupeKey}, generation
        from mailboxes where workspace_id = ${tx.workspace} and mailbox_id = ${run.threadId}
        on conflict do nothing`.execute(),
    ),
  ]);
}

/** Ask for a run to be looked at for the first time. */
export async function enqueueStart(tx: Tx, run: JobRun): Promise<void> {
  await enqueueResumes(tx, run, [{ dedupeKey: `start:${run.runId}`, ticketId: null }]);
}

/** A claimed job: what a worker holds, and the token that every write of it carries. */
export interface ClaimedJob {
  readonly workspace: string;
  readonly jobId: string;
  readonly run: string | null;
  readonly token: string;
  readonly attempt: number;
}

/**
 * Claim the next job, in order of priority and age; null when none is due. The mailbox is locked before the job, so that of any
 * number of claimers one wins and a mailbox has one claimed job. Source: protocol §10.
 */
export async function claimJob(db: Db, worker: string, leaseMs: number = JOB_LEASE_MS): Promise<ClaimedJob | null> {
  const due = await acrossWorkspaces(
    db,
    (sql) => sql<{ workspaceId: string; jobId: string }[]>`select * from holdpoint_claimable(8)`,
  );
  for (const { workspaceId, jobId } of due) {
    const claimed = await inWorkspace(db, workspaceId, (tx) => tryClaim(tx, jobId, worker, leaseMs));
    if (claimed) return claimed;
  }
  return null;
}

async function tryClaim(tx: Tx, jobId: string, worker: string, leaseMs: number): Promise<ClaimedJob | null> {
  const [mailbox] = await tx.sql<{ mailboxId: string }[]>`
    select m.mailbox_id from mailboxes m
    where m.workspace_id = ${tx.workspace}
      and m.mailbox_id = (select mailbox_id from jobs where workspace_id = ${tx.workspace} and job_id = ${jobId})
    for update skip locked`;
  if (!mailbox) return null;
  const token = newId();
  const [job] = await tx.sql<{ run: string | null; attempt: number }[]>`
    update jobs set status = 'Claimed', claim_token = ${token}, claimed_by = ${worker},
      lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
      attempt_count = attempt_count + 1, updated_at = clock_timestamp()
    where workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'Queued' and available_at <= clock_timestamp()
      and not exists (select from jobs other where other.workspace_id = ${tx.workspace}
        and other.mailbox_id = ${mailbox.mailboxId} and other.status = 'Claimed')
    returning run, attempt_count as attempt`;
  return job ? { workspace: tx.workspace, jobId, run: job.run, token, attempt: job.attempt } : null;
}

/** Move a live claim's lease, and with it the lease of the call that is executing under it. False: not yours any more. */
export async function extendClaim(db: Db, job: ClaimedJob, leaseMs: number = JOB_LEASE_MS): Promise<boolean> {
  return inWorkspace(db, job.workspace, async (tx) => {
    // Run before job, as everywhere: the call's row is the run's.
    if (job.run) {
      await tx.sql`select from runs where workspace_id = ${tx.workspace} and id = ${job.run} for no key update`;
      await tx.sql`
        update calls set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        where workspace_id = ${tx.workspace} and run = ${job.run} and status = 'executing' and claim_token = ${job.token}`;
    }
    const extended = await tx.sql`
      update jobs set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond', updated_at = clock_timestamp()
      where ${ours(tx, job)} and lease_until >= clock_timestamp()`;
    return extended.count === 1;
  });
}

/** Delivered. It never means that the run succeeded. False: not yours any more. */
export async function ackJob(db: Db, job: ClaimedJob): Promise<boolean> {
  return leave(db, job, "Accepted", null, 0);
}

/** Not now: to a later time, without counting an attempt. */
export async function deferJob(db: Db, job: ClaimedJob, delayMs: number): Promise<boolean> {
  return leave(db, job, "Queued", null, delayMs, true);
}

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MOST_MS = 30_000;
const ERROR_BYTES = 8_192;

/** The worker itself failed: again after a back-off. A decision's job is never given up: its answer is committed. */
export async function nackJob(db: Db, job: ClaimedJob, error: string): Promise<boolean> {
  const delay = Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(job.attempt - 1, 10), BACKOFF_MOST_MS);
  return leave(db, job, "Queued", error.slice(0, ERROR_BYTES), delay);
}

async function leave(
  db: Db,
  job: ClaimedJob,
  status: "Accepted" | "Queued",
  error: string | null,
  delayMs: number,
  uncounted = false,
): Promise<boolean> {
  return inWorkspace(db, job.workspace, async (tx) => {
    const left = await tx.sql`
      update jobs set status = ${status}, claim_token = null, claimed_by = null, lease_until = null,
        available_at = clock_timestamp() + ${delayMs} * interval '1 millisecond',
        attempt_count = attempt_count - ${uncounted ? 1 : 0}, last_error = coalesce(${error}, last_error),
        updated_at = clock_timestamp()
      where ${ours(tx, job)}`;
    return left.count === 1;
  });
}

/** Ownership, as every write of a worker asks for it. */
function ours(tx: Tx, job: ClaimedJob) {
  return tx.sql`workspace_id = ${tx.workspace} and job_id = ${job.jobId} and claim_token = ${job.token} and status = 'Claimed'`;
}

/** Give back what dead workers held. Idempotent; any number of sweepers may do it. Gives how many. */
export async function requeueLapsed(db: Db): Promise<number> {
  const lapsed = await acrossWorkspaces(
    db,
    (sql) => sql<{ workspaceId: string; jobId: string }[]>`select * from holdpoint_lapsed_claims(100)`,
  );
  let requeued = 0;
  for (const { workspaceId, jobId } of lapsed) {
    requeued += await inWorkspace(db, workspaceId, async (tx) => {
      const back = await tx.sql`
        update jobs set status = 'Queued', claim_token = null, claimed_by = null, lease_until = null,
          last_error = 'the worker''s lease was over', available_at = clock_timestamp(), updated_at = clock_timestamp()
        where workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'Claimed' and lease_until < clock_timestamp()`;
      return back.count;
    });
  }
  return requeued;
}

/** Runs with a deadline or a lease that is over. */
export async function dueRuns(db: Db): Promise<readonly { readonly workspaceId: string; readonly run: string }[]> {
  return acrossWorkspaces(db, (sql) => sql<{ workspaceId: string; run: string }[]>`select * from holdpoint_due(100)`);
}

/** Say that this process polls. What nobody has said for a minute is not seen any more. */
export async function seeWorker(db: Db, worker: string): Promise<void> {
  await acrossWorkspaces(
    db,
    (sql) => sql`
      insert into workers (worker_id) values (${worker})
      on conflict (worker_id) do update set last_seen_at = clock_timestamp()`,
  );
}
