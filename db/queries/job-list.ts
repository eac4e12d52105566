import { inWorkspace, type Scope, type Tx } from "@/db/client";
import { jobColumns, jobRelations } from "@/db/store/mailbox/rows";
import { JOB_SECTIONS, type Job, type JobSection, type JobStatus } from "@/lib/protocol/mailbox-job";
import { fixedLimit } from "./paging";

export interface JobFilter {
  readonly mailboxId?: string | undefined;
  readonly status?: JobStatus | undefined;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

/** Section by section, as `JOB_SECTIONS` has them; by key. A page is one statement, so a job that moves meanwhile is on it once. */
export async function listJobs(
  scope: Scope,
  workspace: string,
  filter: JobFilter,
  limit: number,
  cursor: string | null = null,
): Promise<JobPage> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await jobsQuery(tx, filter, limit + 1, cursor);
    const jobs = rows.slice(0, limit);
    const last = jobs.at(-1);
    const next = rows.length > limit && last ? cursorOf(last) : null;
    return { jobs, next };
  });
}

interface Key {
  readonly section: number;
  readonly priority: string;
  readonly created: string;
  readonly job: string;
}

/** Within its section a job's key never changes; a status names the section. */
function cursorOf({ status, priority, createdAt, jobId }: Job): string {
  return `${status}_${priority}_${createdAt}_${jobId}`;
}

/** Whether a page of this list gave it. The console reads from the start with any other; the API refuses it. */
export function isJobCursor(cursor: string, filter: JobFilter): boolean {
  return keyOf(cursor, filter) !== null;
}

/** A cursor is `status_priority_created_job` of what is listed; anything else reads from the start. */
function keyOf(cursor: string | null, { status }: JobFilter): Key | null {
  const parts = /^([A-Za-z]+)_(\d{1,3})_([0-9T:.Z+-]{20,40})_([0-9a-f-]{36})$/.exec(cursor ?? "");
  const [, of, priority, created, job] = parts ?? [];
  const section = JOB_SECTIONS.findIndex(({ statuses }) => statuses.some((it) => it === of));
  if (priority === undefined || created === undefined || job === undefined || section < 0) return null;
  if (status !== undefined && !JOB_SECTIONS[section]?.statuses.includes(status)) return null;
  return { section, priority, created, job };
}

/**
 * Each status is read by itself, because an index holds it in its section's order: `jobs_newest` by status, `jobs_claim_order` by who
 * may take it. Only what these give, at most `limit` rows each, is sorted.
 */
export function jobsQuery(tx: Tx, filter: JobFilter, limit: number, cursor: string | null) {
  const { sql } = tx;
  const from = keyOf(cursor, filter);
  const branches = JOB_SECTIONS.flatMap((section, place) => {
    if (place < (from?.section ?? 0)) return [];
    const after = place === from?.section ? from : null;
    return branchesOf(tx, filter, section).map(
      (where) =>
        sql`(select j.*, ${place}::int as section from jobs j where ${where} ${inOrder(tx, section, after, limit)})`,
    );
  });
  const picked = branches.reduce((above, branch) => sql`${above} union all ${branch}`);
  const claims = JOB_SECTIONS.flatMap(({ order }, place) => (order === "claims" ? [place] : []));
  const inClaims = sql`j.section in ${sql(claims)}`;
  return sql<Job[]>`
    with picked as (${picked})
    select ${jobColumns(tx)} from ${jobRelations(tx, "picked")}
    order by j.section, case when ${inClaims} then j.priority end, case when ${inClaims} then j.created_at end,
      case when ${inClaims} then j.job_id end, j.created_at desc, j.job_id desc
    limit ${fixedLimit(tx, limit)}`;
}

function branchesOf({ sql, workspace }: Tx, { status: only, mailboxId }: JobFilter, { statuses, order }: JobSection) {
  const inMailbox = mailboxId === undefined ? sql`` : sql`and j.mailbox_id = ${mailboxId}`;
  const listed = statuses.filter((status) => only === undefined || only === status);
  const takers = order === "claims" ? [sql`and j.outside`, sql`and not j.outside`] : [sql``];
  return listed.flatMap((status) =>
    takers.map((taker) => sql`j.workspace_id = ${workspace} and j.status = ${status} ${taker} ${inMailbox}`),
  );
}

/** What stands behind a key in its section's order. */
function inOrder(tx: Tx, { order }: JobSection, after: Key | null, limit: number) {
  const { sql } = tx;
  const time = sql`${after?.created ?? ""}::text::timestamptz, ${after?.job ?? ""}::uuid`;
  if (order === "claims") {
    const beyond = after
      ? sql`and (j.priority, j.created_at, j.job_id) > (${after.priority}::text::int, ${time})`
      : sql``;
    return sql`${beyond} order by j.priority, j.created_at, j.job_id limit ${fixedLimit(tx, limit)}`;
  }
  const beyond = after ? sql`and (j.created_at, j.job_id) < (${time})` : sql``;
  return sql`${beyond} order by j.created_at desc, j.job_id desc limit ${fixedLimit(tx, limit)}`;
}
