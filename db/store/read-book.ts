import { v7 as newId } from "uuid";
import type { Tx } from "@/db/client";
import { Book } from "@/lib/protocol/book/book";
import type { BatchFacts, RunFacts } from "@/lib/protocol/book/facts";
import type { Sha256 } from "@/lib/protocol/hash";
import { type Instant, nowAt } from "@/lib/protocol/instant";
import type { Caller, Role } from "@/lib/protocol/principal";
import { type CallRow, callFacts } from "./call-rows";
import { readPolicy } from "./policies";
import { readOrigin, type TicketRow, ticketFacts } from "./ticket-rows";
import { startOfTrace, type TraceHead } from "./trace";

/** How a verb names its run. */
export type Locator = { readonly run: string } | { readonly ticket: string } | { readonly internal: string };

/** What else a verb needs to see, besides everything unfinished. */
export interface Wanted {
  /** A `call_ref`, or the agent's `call_id`. */
  readonly call?: string | undefined;
  readonly step?: number | undefined;
}

/** A run under its lock, with its book and where its trace ends. */
export interface OpenBook {
  readonly book: Book;
  readonly head: TraceHead;
  /** The highest recorded step, 0 when there is none. */
  readonly highest: number;
  readonly lastSeenAt: Instant | null;
  readonly rights: Rights;
}

/** Read under the lock: a role lost, a person disabled or a tenant suspended a moment ago counts. */
export interface Rights {
  readonly role: Role | null;
  readonly suspended: boolean;
  readonly settings: string;
}

interface RunRow extends Omit<RunFacts, "delegation"> {
  readonly origin: string | null;
  readonly lastSeenAt: Instant | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Lock the run, then read the clock, then everything a verb may judge: one flight of statements on one connection, each with a
 * snapshot of its own, so that what they see was committed before the lock was ours.
 */
export async function readBook(
  tx: Tx,
  caller: Pick<Caller, "person" | "display">,
  locator: Locator,
  wanted: Wanted,
  /** A screen or an answer reads without the lock; a verb never does. */
  lock: "lock" | "look" = "lock",
): Promise<OpenBook | null> {
  if (namesNothing(locator)) return null;
  const [run, clock, batches, calls, tickets, rights, policy] = await Promise.all([
    readRun(tx, locator, lock),
    readClock(tx, locator),
    readBatches(tx, locator, wanted),
    readCalls(tx, locator, wanted),
    readTickets(tx, locator, wanted),
    readRights(tx, caller.person),
    readPolicy(tx, runOf(tx, locator)),
  ]);
  if (!run) return null;
  const { origin, lastSeenAt, ...facts } = run;
  const book = new Book({
    run: { ...facts, delegation: readOrigin(origin) },
    now: nowAt(clock.at),
    newId,
    actor: caller.display,
    batches,
    calls: calls.map(callFacts),
    tickets: tickets.map(ticketFacts),
    policy,
  });
  const head = clock.hash === null ? startOfTrace(book.run) : { seq: clock.seq, hash: clock.hash };
  return { book, head, highest: clock.highest, lastSeenAt, rights };
}

/** An id that no ticket can have; asked before it reaches the database, which would take it for a fault. */
export function namesNothing(locator: Locator): boolean {
  return "ticket" in locator && !UUID.test(locator.ticket);
}

/** The run's internal id, as a subquery: every statement of the flight finds it by itself. */
function runOf(tx: Tx, locator: Locator) {
  if ("internal" in locator) return tx.sql`${locator.internal}::uuid`;
  return "run" in locator
    ? tx.sql`(select id from runs where workspace_id = ${tx.workspace} and run_id = ${locator.run})`
    : tx.sql`(select run from tickets where workspace_id = ${tx.workspace} and id = ${locator.ticket})`;
}

/** The run, never a ticket: two decisions on one run, or a decision and a cancel, must stand in one queue. */
async function readRun(tx: Tx, locator: Locator, lock: "lock" | "look"): Promise<RunRow | undefined> {
  const [row] = await tx.sql<RunRow[]>`
    select r.id, r.workspace_id, r.run_id, r.agent_id, a.name as agent, r.thread_id, r.snapshot_id,
      s.catalog_fingerprint, s.catalog <> '[]' as has_catalog, r.executor, r.principal_id,
      p.person_id as opened_by_person, p.owner_person_id as key_owner, r.on_behalf_of, r.origin,
      coalesce(parent.cause is not null, false) as parent_ended,
      r.cause, r.cause_code, r.ended_by, r.ended_at, r.last_seen_at
    from runs r
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id
    join principals p on p.workspace_id = r.workspace_id and p.id = r.principal_id
    left join runs parent on parent.workspace_id = r.workspace_id and parent.id = r.parent_run
    where r.workspace_id = ${tx.workspace} and r.id = ${runOf(tx, locator)}
    ${lock === "lock" ? tx.sql`for no key update of r` : tx.sql``}`;
  return row;
}

async function readClock(tx: Tx, locator: Locator) {
  const [row] = await tx.sql<{ at: Instant; seq: number; hash: Sha256 | null; highest: number }[]>`
    select clock_timestamp() as at, coalesce(last.seq, 0) as seq, last.hash,
      coalesce((select max(step) from batches where workspace_id = ${tx.workspace} and run = ${runOf(tx, locator)}), 0) as highest
    from (select) as one
    left join lateral (
      select seq, hash from trace_events
      where workspace_id = ${tx.workspace} and run = ${runOf(tx, locator)} order by seq desc limit 1
    ) last on true`;
  if (!row) throw new Error("the clock gave no row");
  return row;
}

/** The calls that a verb sees: whole batches that have something unfinished, and what it names. */
function visible(tx: Tx, locator: Locator, wanted: Wanted) {
  const named = wanted.call ?? null;
  const ticket = "ticket" in locator ? locator.ticket : null;
  return tx.sql`c.workspace_id = ${tx.workspace} and c.run = ${runOf(tx, locator)} and (
    c.step in (select step from calls where workspace_id = ${tx.workspace} and run = ${runOf(tx, locator)} and status <> 'completed')
    or c.step = ${wanted.step ?? null}::int
    or c.call_ref = ${named}::text or c.call_id = ${named}::text
    or c.step = (select step from calls where workspace_id = ${tx.workspace} and run = ${runOf(tx, locator)} and call_ref = ${named}::text)
    or c.call_ref = (select call_ref from tickets where workspace_id = ${tx.workspace} and id = ${ticket}::uuid))`;
}

async function readCalls(tx: Tx, locator: Locator, wanted: Wanted): Promise<readonly CallRow[]> {
  return await tx.sql<CallRow[]>`
    select c.call_ref, c.step, c.batch_index, c.edit_no, c.call_id, c.action, c.args, c.target, c.proposal_hash, c.mcp_server,
      c.why, c.declared_class, c.effective_class, c.resume_mode, c.on_deny, c.wait_terms, c.rule_id, c.policy_version, c.status,
      c.outcome, c.outcome_cause, c.attempt, c.unreported, c.claim_key, c.claim_token, c.claimed_by, c.claim_job, c.lease_until,
      c.effect_key, c.authorised_by, c.approval_request_id, c.approval_hash, c.authorised_at, c.allow_valid_until, c.note,
      c.result, c.error, c.late, c.settled_by, c.evidence, c.rebound_from, c.ended_at,
      d.effective_at,
      d.person_id is null or m.person_id is not null as approver_may
    from calls c
    left join tickets t on c.authorised_by = 'person' and t.workspace_id = c.workspace_id and t.correlation_id = c.approval_request_id
    left join decisions d on d.workspace_id = t.workspace_id and d.ticket_id = t.id
    left join members m on m.workspace_id = c.workspace_id and m.person_id = d.person_id and m.disabled_at is null
      and m.role in ('approver', 'owner')
    where ${visible(tx, locator, wanted)}`;
}

async function readTickets(tx: Tx, locator: Locator, wanted: Wanted): Promise<readonly TicketRow[]> {
  const ticket = "ticket" in locator ? locator.ticket : null;
  return await tx.sql<TicketRow[]>`
    select t.id, t.correlation_id, t.call_ref, t.target_kind, t.target_reason, t.tool_id, t.snapshot_id, t.catalog_fingerprint,
      t.delegation_origin, t.revision, t.status, t.supersedes, s.id as successor, t.opened_at, t.deadline_ms, t.expired_at,
      t.on_expiry, t.allow_valid_ms, t.undo_ms, t.quorum_needed, t.prompt, t.schema, t.options, t.risk, t.on_deny, t.rule_id,
      t.rule_version, t.closed_by_kind, t.closed_by_actor, t.closed_by_verdict, t.closed_at
    from tickets t
    left join tickets s on s.workspace_id = t.workspace_id and s.supersedes = t.id
    where t.workspace_id = ${tx.workspace} and t.run = ${runOf(tx, locator)}
      and (t.status = 'open' or t.id = ${ticket}::uuid
        or t.call_ref in (select c.call_ref from calls c where ${visible(tx, locator, wanted)}))`;
}

async function readBatches(tx: Tx, locator: Locator, wanted: Wanted): Promise<readonly BatchFacts[]> {
  return await tx.sql<BatchFacts[]>`
    select b.step, b.mode, b.coupling, b.content_hash, b.state_sha256 from batches b
    where b.workspace_id = ${tx.workspace} and b.run = ${runOf(tx, locator)}
      and b.step in (select c.step from calls c where ${visible(tx, locator, wanted)})`;
}

async function readRights(tx: Tx, person: string | null): Promise<Rights> {
  const [row] = await tx.sql<Rights[]>`
    select m.role, w.suspended_at is not null as suspended, w.settings
    from workspaces w
    left join members m on m.workspace_id = w.id and m.person_id = ${person}::uuid and m.disabled_at is null
    where w.id = ${tx.workspace}`;
  return row ?? { role: null, suspended: true, settings: "{}" };
}
