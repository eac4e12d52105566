import type { Tx } from "@/db/client";
import type { Job, JobClaim } from "@/lib/protocol/mailbox-job";

/** A job as a `Job`, from `jobs j` with its run and agent beside it. */
export function jobColumns(tx: Tx) {
  return tx.sql`j.job_id, j.mailbox_id, a.name as agent, j.kind, j.outside, r.run_id, j.run, j.ticket_id, j.messages, j.origin,
    j.sender_id, j.parent_run_id, j.request_extras, j.priority, j.dedupe_key, j.generation, j.status, j.available_at,
    j.attempt_count, j.max_attempts, j.last_error, j.claim_token, j.claimed_by, j.lease_until, j.started_at, j.result,
    j.created_at, j.updated_at`;
}

/** `from`: `jobs`, what a statement has just written into it, or what it has picked of it. */
export function jobRelations(tx: Tx, from: "jobs" | "written" | "picked" = "jobs") {
  return tx.sql`${tx.sql(from)} j
    left join runs r on r.workspace_id = j.workspace_id and r.id = j.run
    left join agents a on a.workspace_id = j.workspace_id and a.id = j.agent_id`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** One job of the workspace; null when there is none of that id. */
export async function readJob(tx: Tx, jobId: string): Promise<Job | null> {
  if (!UUID.test(jobId)) return null;
  const [job] = await tx.sql<Job[]>`
    select ${jobColumns(tx)} from ${jobRelations(tx)} where j.workspace_id = ${tx.workspace} and j.job_id = ${jobId}`;
  return job ?? null;
}

export async function readJobs(tx: Tx, jobIds: readonly string[]): Promise<readonly Job[]> {
  if (jobIds.length === 0) return [];
  return await tx.sql<Job[]>`
    select ${jobColumns(tx)} from ${jobRelations(tx)}
    where j.workspace_id = ${tx.workspace} and j.job_id in ${tx.sql([...jobIds])}
    order by j.priority, j.created_at, j.job_id`;
}

/** The job as one write leaves it, in the same statement; null when the write reached none. */
export async function writeJob(tx: Tx, write: Where): Promise<Job | null> {
  const [job] = await tx.sql<Job[]>`
    with written as (${write} returning *) select ${jobColumns(tx)} from ${jobRelations(tx, "written")}`;
  return job ?? null;
}

/** True for the row while the claim is good: its token, its lease by the database's clock, and its mailbox's generation. */
export function underClaim(tx: Tx, { jobId, token }: JobClaim) {
  return tx.sql`workspace_id = ${tx.workspace} and job_id = ${uuidOr(jobId)} and status = 'Claimed'
    and claim_token = ${uuidOr(token)} and lease_until >= clock_timestamp()
    and generation = (select m.generation from mailboxes m
      where m.workspace_id = ${tx.workspace} and m.mailbox_id = jobs.mailbox_id)`;
}

/** A part of a statement. */
export type Where = ReturnType<typeof underClaim>;

/** A text that is no id names nothing; the database would take it for a fault. */
export function uuidOr(text: string): string {
  return UUID.test(text) ? text : "00000000-0000-0000-0000-000000000000";
}

/** What leaves a claim clears it. */
export function withoutClaim(tx: Tx) {
  return tx.sql`claim_token = null, claimed_by = null, lease_until = null, updated_at = clock_timestamp()`;
}
