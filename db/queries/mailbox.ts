import { inWorkspace, type Scope } from "@/db/client";
import { jobColumns, jobRelations, readJob } from "@/db/store/mailbox/rows";
import type { Instant } from "@/lib/protocol/instant";
import type { Job, JobStatus } from "@/lib/protocol/mailbox-job";

export interface JobFilter {
  readonly mailboxId?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** By our own id. */
  readonly run?: string | undefined;
}

/** Counting stops here: beyond it the exact number tells nobody anything. */
export const JOB_COUNT_CAP = 10_000;

export async function findJob(scope: Scope, workspace: string, jobId: string): Promise<Job | null> {
  return inWorkspace(scope, workspace, (tx) => readJob(tx, jobId));
}

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

/** Queued and claimed jobs in the order in which they are claimed; everything else newest first. By key. */
export async function listJobs(
  scope: Scope,
  workspace: string,
  filter: JobFilter,
  limit: number,
  cursor: string | null = null,
): Promise<JobPage> {
  return inWorkspace(scope, workspace, async (tx) => {
    const inClaimOrder = filter.status === "Queued" || filter.status === "Claimed";
    const rows = await tx.sql<Job[]>`
      select ${jobColumns(tx)} from ${jobRelations(tx)}
      where j.workspace_id = ${tx.workspace}
        ${filter.mailboxId === undefined ? tx.sql`` : tx.sql`and j.mailbox_id = ${filter.mailboxId}`}
        ${filter.status === undefined ? tx.sql`` : tx.sql`and j.status = ${filter.status}`}
        ${filter.run === undefined ? tx.sql`` : tx.sql`and j.run = ${filter.run}`}
        ${after(cursor, inClaimOrder)}
      order by ${inClaimOrder ? tx.sql`j.priority, j.created_at, j.job_id` : tx.sql`j.created_at desc, j.job_id desc`}
      limit ${limit + 1}`;
    const jobs = rows.slice(0, limit);
    const last = jobs.at(-1);
    const next = rows.length > limit && last ? `${last.priority}_${last.createdAt}_${last.jobId}` : null;
    return { jobs, next };

    /** A cursor is `priority_created_job`; anything else reads from the start. */
    function after(from: string | null, ascending: boolean) {
      const parts = /^(\d{1,3})_([0-9T:.Z+-]{20,40})_([0-9a-f-]{36})$/.exec(from ?? "");
      const [, priority, created, job] = parts ?? [];
      if (priority === undefined || created === undefined || job === undefined) return tx.sql``;
      return ascending
        ? tx.sql`and (j.priority, j.created_at, j.job_id) > (${priority}::text::int, ${created}::text::timestamptz, ${job}::uuid)`
        : tx.sql`and (j.created_at, j.job_id) < (${created}::text::timestamptz, ${job}::uuid)`;
    }
  });
}

export interface JobCounts {
  readonly counts: Readonly<Record<JobStatus, number>>;
  /** When the oldest queued job that is due was made. */
  readonly oldestDue: Instant | null;
}

/** How many jobs there are by status, each counted up to the cap. */
export async function countJobs(scope: Scope, workspace: string): Promise<JobCounts> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<{ status: JobStatus; count: number }[]>`
      select s.status, (select count(*)::int from (
        select from jobs j where j.workspace_id = ${tx.workspace} and j.status = s.status limit ${JOB_COUNT_CAP}) capped) as count
      from unnest(array['Queued', 'Claimed', 'Accepted', 'DeadLetter', 'Cancelled', 'Superseded']) s(status)`;
    const [due] = await tx.sql<{ oldest: Instant | null }[]>`
      select min(created_at) as oldest from (
        select created_at from jobs where workspace_id = ${tx.workspace} and status = 'Queued' and available_at <= clock_timestamp()
        order by created_at limit ${JOB_COUNT_CAP}) waiting`;
    const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count])) as Record<JobStatus, number>;
    return { counts, oldestDue: due?.oldest ?? null };
  });
}

export interface MailboxState {
  readonly mailboxId: string;
  readonly generation: number;
  readonly queued: number;
  /** The claimed job's id; null while none is claimed. */
  readonly active: string | null;
}

/** Mailboxes with work that waits or is under way; those that wait longest first. */
export async function busyMailboxes(scope: Scope, workspace: string, limit: number): Promise<readonly MailboxState[]> {
  return inWorkspace(
    scope,
    workspace,
    async (tx) =>
      await tx.sql<MailboxState[]>`
      select m.mailbox_id, m.generation, count(*) filter (where j.status = 'Queued')::int as queued,
        (array_agg(j.job_id) filter (where j.status = 'Claimed'))[1] as active
      from jobs j join mailboxes m on m.workspace_id = j.workspace_id and m.mailbox_id = j.mailbox_id
      where j.workspace_id = ${tx.workspace} and j.status in ('Queued', 'Claimed')
      group by m.mailbox_id, m.generation order by min(j.created_at) limit ${limit}`,
  );
}

/** A mailbox's generation; null when nothing was ever put into it. */
export async function generationOf(scope: Scope, workspace: string, mailboxId: string): Promise<number | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [box] = await tx.sql<{ generation: number }[]>`
      select generation from mailboxes where workspace_id = ${tx.workspace} and mailbox_id = ${mailboxId}`;
    return box?.generation ?? null;
  });
}
