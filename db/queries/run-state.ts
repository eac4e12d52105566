import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import type { BatchMode, CallOutcome, CallRef, CallStatus, Coupling, OutcomeCause } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Sha256 } from "@/lib/protocol/hash";
import type { Instant } from "@/lib/protocol/instant";
import type { Executor, RunCause, RunState } from "@/lib/protocol/run";
import { readTickets, type TicketRecord } from "./tickets";

/** A run's own facts, and where its trace stands. */
export interface RunHead {
  readonly id: string;
  readonly runId: string;
  readonly principalId: string;
  readonly agent: string;
  readonly snapshotId: string;
  readonly catalogFingerprint: string;
  readonly threadId: string;
  readonly executor: Executor;
  readonly state: RunState;
  readonly cause: RunCause | null;
  readonly causeCode: string | null;
  readonly resumeFailed: CanonicalJson | null;
  readonly output: CanonicalJson | null;
  readonly seq: number;
  /** A call is executing: facts of it may still follow the run's end. */
  readonly inFlight: boolean;
  /** Its own principal was here in the last 30 s, and it is written. */
  readonly seenLately: boolean;
  readonly openedAt: Instant;
}

export interface CallRecord {
  readonly callRef: CallRef;
  readonly step: number;
  readonly callId: string | null;
  readonly action: string;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly outcomeCause: OutcomeCause | null;
  readonly proposalHash: Sha256;
  readonly attempt: number;
  readonly result: CanonicalJson | null;
  readonly error: CanonicalJson | null;
  readonly late: boolean;
  /** Of the newest ticket, or of the rule that approved it. */
  readonly requestId: string | null;
}

export interface BatchRecord {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
}

export interface DecisionRecord {
  readonly callRef: CallRef | null;
  readonly requestId: string;
  readonly verdict: string;
  readonly result: CanonicalJson | null;
  readonly note: string | null;
  readonly reason: string | null;
  readonly at: Instant;
  readonly by: string;
}

export interface RunStateRecord {
  readonly run: RunHead;
  readonly batches: readonly BatchRecord[];
  readonly calls: readonly CallRecord[];
  readonly tickets: readonly TicketRecord[];
  readonly decisions: readonly DecisionRecord[];
}

export async function readRunHead(scope: Scope, workspace: string, runId: string): Promise<RunHead | null> {
  return inWorkspaceByKey(scope, workspace, (tx) => head(tx, runId));
}

/** Everything that an agent needs to go on, from one moment: the head is read first, so `seq` is never ahead of the rest. */
export async function readRunState(scope: Scope, workspace: string, runId: string): Promise<RunStateRecord | null> {
  return inWorkspaceByKey(scope, workspace, async (tx) => {
    const run = await head(tx, runId);
    if (!run) return null;
    const [batches, calls, tickets, decisions] = await Promise.all([
      readBatches(tx, run.id),
      readCalls(tx, run.id),
      readTickets(tx, { run: run.id, status: "open" }),
      readDecisions(tx, run.id),
    ]);
    return { run, batches, calls, tickets, decisions };
  });
}

async function head(tx: Tx, runId: string): Promise<RunHead | null> {
  const [run] = await tx.sql<RunHead[]>`
    select r.id, r.run_id, r.principal_id, a.name as agent, r.snapshot_id, s.catalog_fingerprint, r.thread_id, r.executor,
      r.state, r.cause, r.cause_code, r.resume_failed, r.output, r.created_at as opened_at,
      coalesce((select max(seq) from trace_events e where e.workspace_id = r.workspace_id and e.run = r.id), 0) as seq,
      exists (select from calls c where c.workspace_id = r.workspace_id and c.run = r.id and c.status = 'executing') as in_flight,
      coalesce(r.last_seen_at > clock_timestamp() - interval '30 seconds', false) as seen_lately
    from runs r
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id
    where r.workspace_id = ${tx.workspace} and r.run_id = ${runId}`;
  return run ?? null;
}

async function readBatches(tx: Tx, run: string): Promise<readonly BatchRecord[]> {
  return await tx.sql<BatchRecord[]>`
    select step, mode, coupling from batches where workspace_id = ${tx.workspace} and run = ${run} order by step`;
}

/** In model order; with an edit behind what it replaced. */
async function readCalls(tx: Tx, run: string): Promise<readonly CallRecord[]> {
  return await tx.sql<CallRecord[]>`
    select c.call_ref, c.step, c.call_id, c.action, c.status, c.outcome, c.outcome_cause, c.proposal_hash, c.attempt, c.result,
      c.error, c.late, coalesce(t.correlation_id, c.approval_request_id) as request_id
    from calls c
    left join lateral (
      select correlation_id from tickets t
      where t.workspace_id = c.workspace_id and t.run = c.run and t.call_ref = c.call_ref
      order by t.opened_at desc, t.id desc limit 1
    ) t on true
    where c.workspace_id = ${tx.workspace} and c.run = ${run}
    order by c.step, c.batch_index, c.edit_no`;
}

async function readDecisions(tx: Tx, run: string): Promise<readonly DecisionRecord[]> {
  return await tx.sql<DecisionRecord[]>`
    select t.call_ref, t.correlation_id as request_id, d.verdict, d.result, d.note, d.reason, d.decided_at as at, d.actor as by
    from decisions d
    join tickets t on t.workspace_id = d.workspace_id and t.id = d.ticket_id
    where d.workspace_id = ${tx.workspace} and t.run = ${run}
    order by d.decided_at, d.ticket_id`;
}
