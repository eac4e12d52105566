import { inWorkspace, type Scope, type Tx } from "@/db/client";
import { readJob } from "@/db/store/mailbox/rows";
import type { Instant } from "@/lib/protocol/instant";
import { JOB_STATUSES, type Job, type JobStatus } from "@/lib/protocol/mailbox-job";
import { fixedLimit } from "./paging";

/** Counting stops here: beyond it the exact number tells nobody anything. */
export const JOB_COUNT_CAP = 10_000;

export async function findJob(scope: Scope, workspace: string, jobId: string): Promise<Job | null> {
  return inWorkspace(scope, workspace, (tx) => readJob(tx, jobId));
}

export interface JobCounts {
  readonly counts: Readonly<Record<JobStatus, number>>;
  /** When the oldest queued job that is due was made. */
  readonly oldestDue: Instant | null;
}

/** How many jobs there are by status, each counted up to the cap. */
export async function countJobs(scope: Scope, workspace: string): Promise<JobCounts> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<
      { status: JobStatus; count: number }[]
    >`${JOB_STATUSES.map((status) => countOf(tx, status)).reduce((above, count) => tx.sql`${above} union all ${count}`)}`;
    const [due] = await tx.sql<{ oldest: Instant | null }[]>`
      select min(created_at) as oldest from (
        select created_at from jobs where workspace_id = ${tx.workspace} and status = 'Queued' and available_at <= clock_timestamp()
        order by created_at limit ${fixedLimit(tx, JOB_COUNT_CAP)}) waiting`;
    const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count])) as Record<JobStatus, number>;
    return { counts, oldestDue: due?.oldest ?? null };
  });
}

/** Each status is named by itself, so that it is planned for itself: of one there are a million, of another none. */
function countOf(tx: Tx, status: JobStatus) {
  return tx.sql`select ${status}::text as status, (select count(*)::int from (
    select from jobs where workspace_id = ${tx.workspace} and status = ${status} limit ${fixedLimit(tx, JOB_COUNT_CAP)}) capped) as count`;
}

export interface BusyMailboxes {
  /** Those that wait longest come first. */
  readonly boxes: readonly MailboxState[];
  readonly inAll: number;
}

export interface MailboxState {
  readonly mailboxId: string;
  readonly generation: number;
  readonly queued: number;
  /** The claimed job's id; null while none is claimed. */
  readonly active: string | null;
}

/** Mailboxes with work that waits or is under way. */
export async function busyMailboxes(scope: Scope, workspace: string, limit: number): Promise<BusyMailboxes> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<(MailboxState & { inAll: number })[]>`
      select m.mailbox_id, m.generation, count(*) filter (where j.status = 'Queued')::int as queued,
        (array_agg(j.job_id) filter (where j.status = 'Claimed'))[1] as active, count(*) over ()::int as in_all
      from jobs j join mailboxes m on m.workspace_id = j.workspace_id and m.mailbox_id = j.mailbox_id
      where j.workspace_id = ${tx.workspace} and j.status in ('Queued', 'Claimed')
      group by m.mailbox_id, m.generation order by min(j.created_at), m.mailbox_id limit ${fixedLimit(tx, limit)}`;
    return { boxes: rows.map(({ inAll: _, ...box }) => box), inAll: rows[0]?.inAll ?? 0 };
  });
}

/** A mailbox's generation; null when nothing was ever put into it. */
export async function generationOf(scope: Scope, workspace: string, mailboxId: string): Promise<number | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [box] = await tx.sql<{ generation: number }[]>`
      select generation from mailboxes where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId}`;
    return box?.generation ?? null;
  });
}
