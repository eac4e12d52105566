import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { BatchMode, CallOutcome, CallStatus, Coupling, OutcomeCause } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import { CALLS_ROLE } from "@/lib/protocol/said-calls";
import { type RunFactsRecord, runFactColumns } from "./run-facts";
import type { MessageRecord } from "./ticket-page";

export interface BatchCallRecord {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
  readonly callRef: string;
  readonly batchIndex: number;
  readonly action: string;
  readonly args: CanonicalJson | null;
  readonly target: CanonicalJson;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly outcomeCause: OutcomeCause | null;
  readonly verdict: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: Instant | null;
  readonly authorisedBy: string | null;
  readonly ruleId: string | null;
  readonly attempt: number;
  readonly claimedBy: string | null;
  readonly leaseUntil: Instant | null;
  readonly unreported: boolean;
  readonly proposalHash: string;
  readonly ticketId: string | null;
  readonly settledBy: string | null;
}

export interface RunPageReading {
  readonly facts: RunFactsRecord;
  readonly threadId: string;
  readonly snapshotId: string;
  /** Both are null when nobody delegated the run. */
  readonly parentRunId: string | null;
  readonly parentAgent: string | null;
  readonly children: readonly RunFactsRecord[];
  readonly childrenInAll: number;
  readonly rejectedSignals: number;
  readonly refusals: number;
  readonly events: number;
  readonly calls: readonly BatchCallRecord[];
  readonly olderBatches: number;
  readonly messages: readonly MessageRecord[];
  readonly now: Instant;
}

const STEPS_SHOWN = 20;
const CHILDREN_SHOWN = 20;
const MESSAGES_SHOWN = 30;
const MESSAGE_PREVIEW = 4_000;
const CALLS_READ = 262_144;
const SUMMARISED = 16_384;

export async function readRunPage(scope: Scope, workspace: string, runId: string): Promise<RunPageReading | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [facts] = await tx.sql<RunFactsRecord[]>`
      ${runFactColumns(tx)} where r.workspace_id = ${tx.workspace} and r.run_id = ${runId}`;
    if (!facts) return null;
    const [around, calls, children] = await Promise.all([
      readAround(tx, facts.id),
      readCalls(tx, facts.id),
      readChildren(tx, facts.id),
    ]);
    const messages = await readMessages(tx, around.threadId, MESSAGES_SHOWN);
    return {
      facts,
      ...around,
      calls,
      children,
      olderBatches: facts.steps - new Set(calls.map(({ step }) => step)).size,
      messages,
    };
  });
}

type Around = Omit<RunPageReading, "facts" | "calls" | "children" | "olderBatches" | "messages">;

async function readAround(tx: Tx, run: string): Promise<Around> {
  const [row] = await tx.sql<Around[]>`
    select r.thread_id, r.snapshot_id, r.rejected_signals, clock_timestamp() as now,
      parent.run_id as parent_run_id, a.name as parent_agent,
      (select count(*)::int from refusals f where f.workspace_id = r.workspace_id and f.run = r.id) as refusals,
      (select count(*)::int from runs c where c.workspace_id = r.workspace_id and c.parent_run = r.id) as children_in_all,
      (select coalesce(max(seq), 0) from trace_events e where e.workspace_id = r.workspace_id and e.run = r.id) as events
    from runs r
    left join runs parent on parent.workspace_id = r.workspace_id and parent.id = r.parent_run
    left join agents a on a.workspace_id = parent.workspace_id and a.id = parent.agent_id
    where r.workspace_id = ${tx.workspace} and r.id = ${run}`;
  if (!row) throw new Error(`run ${run} went away`);
  return row;
}

/** The runs that it delegated, with all that a verdict on each needs: those that live first, then the newest. */
async function readChildren(tx: Tx, run: string): Promise<RunPageReading["children"]> {
  return await tx.sql<RunFactsRecord[]>`
    ${runFactColumns(tx)} where r.workspace_id = ${tx.workspace} and r.parent_run = ${run}
    order by r.cause is not null, r.created_at desc, r.id desc limit ${CHILDREN_SHOWN}`;
}

/** Of the newest steps, whole ones until there are this many calls. */
const CALLS_SHOWN = 400;

/** The newest steps, each in model order. */
async function readCalls(tx: Tx, run: string): Promise<readonly BatchCallRecord[]> {
  return await tx.sql<BatchCallRecord[]>`
    select b.step, b.mode, b.coupling, c.call_ref, c.batch_index, c.action,
      case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target, c.status, c.outcome,
      c.outcome_cause, d.verdict, d.actor as decided_by, d.decided_at, c.authorised_by, c.rule_id, c.attempt, c.claimed_by,
      c.lease_until, c.unreported, c.proposal_hash, t.id as ticket_id, c.settled_by
    from (
      select newest.*, sum(own.calls) over (order by newest.step desc) - own.calls as above
      from (select * from batches where workspace_id = ${tx.workspace} and run = ${run} order by step desc limit ${STEPS_SHOWN}) newest
      cross join lateral (select count(*) as calls from calls c
        where c.workspace_id = ${tx.workspace} and c.run = ${run} and c.step = newest.step) own) b
    join calls c on c.workspace_id = b.workspace_id and c.run = b.run and c.step = b.step
    left join lateral (select t.id from tickets t where t.workspace_id = c.workspace_id and t.run = c.run and t.call_ref = c.call_ref
      order by t.opened_at desc limit 1) t on true
    left join decisions d on d.workspace_id = c.workspace_id and d.ticket_id = t.id
    where b.above < ${CALLS_SHOWN}
    order by b.step desc, c.batch_index, c.edit_no`;
}

/** A thread's newest messages, oldest first, each with its first part; a turn's calls are read whole, or they could not be told apart. */
export async function readMessages(tx: Tx, threadId: string, most: number): Promise<readonly MessageRecord[]> {
  const newest = await tx.sql<MessageRecord[]>`
    select m.seq, m.role, left(m.content, case when m.role = ${CALLS_ROLE} then ${CALLS_READ}::int else ${MESSAGE_PREVIEW}::int end) as text,
      octet_length(m.content) as bytes, m.at
    from messages m where m.workspace_id = ${tx.workspace} and m.thread_id = ${threadId}
    order by m.seq desc limit ${most}`;
  return newest.reverse();
}
