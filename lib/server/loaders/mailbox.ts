import "server-only";
import { listJobs } from "@/db/queries/job-list";
import { busyMailboxes, countJobs, JOB_COUNT_CAP } from "@/db/queries/mailbox";
import { seenWorkers } from "@/db/queries/workers";
import type { JobRow, MailboxPage } from "@/lib/protocol/console-mailbox-view";
import { msOf } from "@/lib/protocol/instant";
import { JOB_STATUSES, type Job } from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { database } from "../database";

const PAGE = 50;
const MOST_MAILBOXES = 20;

export async function loadMailbox(caller: Caller, query: URLSearchParams): Promise<MailboxPage> {
  const db = await database();
  const filter = {
    status: JOB_STATUSES.find((status) => status === query.get("status")),
    mailboxId: query.get("mailbox") || undefined,
  };
  const [page, { counts, oldestDue }, busy, seen] = await Promise.all([
    listJobs(db, caller.workspace, filter, PAGE, query.get("cursor")),
    countJobs(db, caller.workspace),
    busyMailboxes(db, caller.workspace, MOST_MAILBOXES),
    seenWorkers(db),
  ]);
  const nowMs = msOf(seen.now);
  return {
    rows: page.jobs.map((job) => rowOf(job, nowMs)),
    next_cursor: page.next,
    counts,
    count_cap: JOB_COUNT_CAP,
    oldest_due_ms: oldestDue === null ? null : msOf(oldestDue),
    mailboxes: busy.boxes.map(({ mailboxId, ...box }) => ({ mailbox_id: mailboxId, ...box })),
    mailboxes_in_all: busy.inAll,
    workers: seen.workers.map(({ workerId, lastSeenAt, polls }) => ({
      worker_id: workerId,
      last_seen_ms: msOf(lastSeenAt),
      polls,
    })),
    now_ms: nowMs,
  };
}

function rowOf(job: Job, nowMs: number): JobRow {
  const availableMs = msOf(job.availableAt);
  return {
    job_id: job.jobId,
    mailbox_id: job.mailboxId,
    agent: job.agent,
    kind: job.kind,
    outside: job.outside,
    run_id: job.runId,
    origin: job.origin,
    priority: job.priority,
    status: job.status,
    generation: job.generation,
    attempts: job.attemptCount,
    max_attempts: job.maxAttempts,
    last_error: job.lastError,
    claimed_by: job.status === "Claimed" ? job.claimedBy : null,
    lease_until_ms: job.status === "Claimed" && job.leaseUntil !== null ? msOf(job.leaseUntil) : null,
    available_at_ms: job.status === "Queued" && availableMs > nowMs ? availableMs : null,
    created_at_ms: msOf(job.createdAt),
  };
}
