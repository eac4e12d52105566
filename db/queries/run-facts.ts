import type { Tx } from "@/db/client";
import type { AwaitReason } from "@/lib/protocol/await-target";
import type { CallStatus, IdempotencyClass } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import type { JobStatus } from "@/lib/protocol/mailbox-job";
import type { Executor, RunCause, RunState } from "@/lib/protocol/run";

/** What the verdict on a run is made of, as the database has it; moments inside the lists are epoch milliseconds. */
export interface RunFactsRecord {
  readonly id: string;
  readonly runId: string;
  readonly agent: string;
  readonly executor: Executor;
  readonly state: RunState;
  readonly cause: RunCause | null;
  readonly causeCode: string | null;
  readonly endedBy: string | null;
  readonly endedAt: Instant | null;
  readonly createdAt: Instant;
  readonly lastSeenAt: Instant | null;
  readonly stalledReason: string | null;
  readonly resumeFailed: CanonicalJson | null;
  readonly isDemo: boolean;
  /** Of the run that delegated this one. */
  readonly parentCall: string | null;
  readonly steps: number;
  readonly lateEffects: number;
  /** Expired ones first, then the oldest; as many as a verdict needs. */
  readonly openTickets: readonly OpenTicketRecord[];
  readonly openInAll: number;
  /** What is not known to have happened first, then what executes; as many as a verdict needs. */
  readonly liveCalls: readonly LiveCallRecord[];
  readonly decided: DecidedRecord | null;
  readonly job: JobRecord | null;
  readonly workerSeenAt: Instant | null;
}

export interface OpenTicketRecord {
  readonly ticketId: string;
  readonly reason: AwaitReason;
  readonly action: string | null;
  readonly args: CanonicalJson | null;
  readonly target: CanonicalJson | null;
  readonly openedMs: number;
  readonly deadlineMs: number | null;
  readonly expiredMs: number | null;
}

export interface LiveCallRecord {
  readonly callRef: string;
  readonly action: string;
  readonly args: CanonicalJson | null;
  readonly target: CanonicalJson;
  readonly status: CallStatus;
  readonly attempt: number;
  readonly unreported: boolean;
  readonly claimedBy: string | null;
  readonly leaseUntilMs: number | null;
  readonly effectiveClass: IdempotencyClass;
  readonly allowedBy: string | null;
  readonly allowedMs: number | null;
  readonly allowValidUntilMs: number | null;
  readonly ticketId: string | null;
}

export interface DecidedRecord {
  readonly verdict: string;
  readonly actor: string;
  readonly decidedMs: number;
}

export interface JobRecord {
  readonly status: JobStatus;
  readonly attemptCount: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly claimedBy: string | null;
  readonly leaseUntilMs: number | null;
  readonly availableMs: number;
  readonly updatedMs: number;
}

const MOST_LISTED = 20;
const SUMMARISED = 16_384;

function ms(
  tx: Tx,
  column:
    | "t.opened_at"
    | "t.expired_at"
    | "c.lease_until"
    | "d.decided_at"
    | "j.lease_until"
    | "j.available_at"
    | "j.updated_at",
) {
  return tx.sql`floor(extract(epoch from ${tx.sql.unsafe(column)}) * 1000)`;
}

/** The select list and the joins of a run's facts, for one run or a page of them: `from runs r` stands in it. */
export function runFactColumns(tx: Tx) {
  return tx.sql`
    select r.id, r.run_id, a.name as agent, r.executor, r.state, r.cause, r.cause_code, r.ended_by, r.ended_at, r.created_at,
      r.last_seen_at, r.stalled_reason, r.resume_failed, r.is_demo, r.parent_call, r.open_tickets as open_in_all,
      (select count(*)::int from batches b where b.workspace_id = r.workspace_id and b.run = r.id) as steps,
      (select count(*)::int from calls c where c.workspace_id = r.workspace_id and c.run = r.id and c.late
        and r.cause is not null and c.ended_at > r.ended_at) as late_effects,
      ${openTickets(tx)} as open_tickets, ${liveCalls(tx)} as live_calls, ${newestDecision(tx)} as decided, ${newestJob(tx)} as job,
      (select max(w.last_seen_at) from workers w) as worker_seen_at
    from runs r
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id`;
}

function openTickets(tx: Tx) {
  return tx.sql`(select coalesce(json_agg(o order by o.opened_ms), '[]') from (
    select t.id as ticket_id, t.target_reason as reason, c.action, case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target,
      ${ms(tx, "t.opened_at")} as opened_ms, t.deadline_ms, ${ms(tx, "t.expired_at")} as expired_ms
    from tickets t
    left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    where t.workspace_id = r.workspace_id and t.run = r.id and t.status = 'open'
    order by t.expired_at is null, t.opened_at limit ${MOST_LISTED}) o)`;
}

function liveCalls(tx: Tx) {
  return tx.sql`(select coalesce(json_agg(l), '[]') from (
    select c.call_ref, c.action, case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target, c.status, c.attempt,
      c.unreported, c.claimed_by, ${ms(tx, "c.lease_until")} as lease_until_ms, c.effective_class, d.actor as allowed_by,
      ${ms(tx, "d.decided_at")} as allowed_ms, c.allow_valid_until as allow_valid_until_ms, t.id as ticket_id
    from calls c
    left join lateral (select t.id from tickets t where t.workspace_id = c.workspace_id and t.run = c.run and t.call_ref = c.call_ref
      order by t.opened_at desc limit 1) t on true
    left join decisions d on d.workspace_id = c.workspace_id and d.ticket_id = t.id
    where c.workspace_id = r.workspace_id and c.run = r.id and c.status in ('approved', 'executing', 'indeterminate')
    order by c.status <> 'indeterminate', c.status <> 'executing', c.step, c.batch_index limit ${MOST_LISTED}) l)`;
}

function newestDecision(tx: Tx) {
  return tx.sql`(select row_to_json(n) from (
    select d.verdict, d.actor, ${ms(tx, "d.decided_at")} as decided_ms
    from tickets t join decisions d on d.workspace_id = t.workspace_id and d.ticket_id = t.id
    where t.workspace_id = r.workspace_id and t.run = r.id
    order by d.decided_at desc limit 1) n)`;
}

function newestJob(tx: Tx) {
  return tx.sql`(select row_to_json(n) from (
    select j.status, j.attempt_count, j.max_attempts, j.last_error, j.claimed_by, ${ms(tx, "j.lease_until")} as lease_until_ms,
      ${ms(tx, "j.available_at")} as available_ms, ${ms(tx, "j.updated_at")} as updated_ms
    from jobs j where j.workspace_id = r.workspace_id and j.run = r.id
    order by j.created_at desc, j.job_id desc limit 1) n)`;
}
