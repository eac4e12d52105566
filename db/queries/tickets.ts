import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { AwaitKind, AwaitReason } from "@/lib/protocol/await-target";
import type { CallRef } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Sha256 } from "@/lib/protocol/hash";
import type { Instant } from "@/lib/protocol/instant";
import type { ClosedByKind, TicketStatus } from "@/lib/protocol/ticket";
import { fixedLimit } from "./paging";

/** A committed ticket with what identifies its wait. JSON stays the text that was stored. */
export interface TicketRecord {
  readonly id: string;
  readonly correlationId: string;
  readonly runId: string;
  readonly threadId: string;
  readonly snapshotId: string;
  readonly catalogFingerprint: string;
  readonly delegationOrigin: CanonicalJson | null;
  readonly kind: AwaitKind;
  readonly reason: AwaitReason;
  readonly callRef: CallRef | null;
  readonly toolId: string | null;
  readonly args: CanonicalJson | null;
  readonly proposalHash: Sha256 | null;
  readonly status: TicketStatus;
  readonly openedAt: Instant;
  readonly deadlineMs: number | null;
  readonly expiredAt: Instant | null;
  readonly prompt: string | null;
  readonly schema: CanonicalJson | null;
  readonly options: CanonicalJson | null;
  readonly closedByKind: ClosedByKind | null;
  readonly closedByActor: string | null;
  readonly closedByVerdict: string | null;
  readonly closedAt: Instant | null;
  readonly successor: string | null;
}

export interface TicketFilter {
  /** Internal run id. */
  readonly run?: string;
  readonly ids?: readonly string[];
  readonly status?: TicketStatus;
  /** Only tickets of runs that this principal opened. */
  readonly principal?: string;
}

export interface TicketPageFilter {
  readonly status: TicketStatus | null;
  readonly runId: string | null;
  readonly agent: string | null;
  /** Only tickets of runs that this principal opened. */
  readonly principal: string | null;
}

export interface TicketPage {
  readonly items: readonly TicketRecord[];
  /** The last item's id when there are more: ids are time-ordered and unique, so a page never skips or repeats a row. */
  readonly next: string | null;
}

function columns(tx: Tx) {
  return tx.sql`
    t.id, t.correlation_id, r.run_id, r.thread_id, t.snapshot_id, t.catalog_fingerprint, t.delegation_origin,
    t.target_kind as kind, t.target_reason as reason, t.call_ref, t.tool_id, c.args, c.proposal_hash, t.status, t.opened_at,
    t.deadline_ms, t.expired_at, t.prompt, t.schema, t.options, t.closed_by_kind, t.closed_by_actor, t.closed_by_verdict,
    t.closed_at, s.id as successor
    from tickets t
    join runs r on r.workspace_id = t.workspace_id and r.id = t.run
    left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    left join tickets s on s.workspace_id = t.workspace_id and s.supersedes = t.id`;
}

/** Tickets by run or by id, oldest first. */
export async function readTickets(
  tx: Tx,
  { run, ids, status, principal }: TicketFilter,
): Promise<readonly TicketRecord[]> {
  if (ids?.length === 0) return [];
  return await tx.sql<TicketRecord[]>`
    select ${columns(tx)}
    where t.workspace_id = ${tx.workspace}
      ${run === undefined ? tx.sql`` : tx.sql`and t.run = ${run}`}
      ${ids === undefined ? tx.sql`` : tx.sql`and t.id in ${tx.sql([...ids])}`}
      ${status === undefined ? tx.sql`` : tx.sql`and t.status = ${status}`}
      ${principal === undefined ? tx.sql`` : tx.sql`and r.principal_id = ${principal}`}
    order by t.opened_at, t.id`;
}

/** Newest first, by key: stable while others write. */
export async function readTicketPage(
  scope: Scope,
  workspace: string,
  filter: TicketPageFilter,
  limit: number,
  after: string | null,
): Promise<TicketPage> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<TicketRecord[]>`
      select ${columns(tx)}
      join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
      where t.workspace_id = ${tx.workspace}
        ${filter.status === null ? tx.sql`` : tx.sql`and t.status = ${filter.status}`}
        ${filter.runId === null ? tx.sql`` : tx.sql`and r.run_id = ${filter.runId}`}
        ${filter.agent === null ? tx.sql`` : tx.sql`and a.name = ${filter.agent}`}
        ${filter.principal === null ? tx.sql`` : tx.sql`and r.principal_id = ${filter.principal}`}
        ${after === null ? tx.sql`` : tx.sql`and t.id < ${after}::uuid`}
      order by t.id desc limit ${fixedLimit(tx, limit + 1)}`;
    const items = rows.slice(0, limit);
    return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  });
}

export interface WaitOfRun {
  readonly ticketId: string;
  readonly reason: AwaitReason;
}

/**
 * The wait that an answer means: the run's ticket with that correlation id, else its open one, else its newest, so that a wrong
 * identity is judged by a ticket and told as what it is. Null when the run has none.
 */
export async function findWait(tx: Tx, runId: string, correlationId: string): Promise<WaitOfRun | null> {
  const [wait] = await tx.sql<WaitOfRun[]>`
    select t.id as ticket_id, t.target_reason as reason
    from tickets t join runs r on r.workspace_id = t.workspace_id and r.id = t.run
    where t.workspace_id = ${tx.workspace} and r.run_id = ${runId}
    order by t.correlation_id = ${correlationId} desc, t.status = 'open' desc, t.opened_at desc, t.id desc limit 1`;
  return wait ?? null;
}
