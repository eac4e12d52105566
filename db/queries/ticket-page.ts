import { inWorkspace, type Scope, type Tx } from "@/db/client";
import { readBook } from "@/db/store/read-book";
import type { Book } from "@/lib/protocol/book/book";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import type { BatchMode, CallOutcome, CallStatus, Coupling } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Verdict } from "@/lib/protocol/console-view";
import type { Instant } from "@/lib/protocol/instant";
import type { Role } from "@/lib/protocol/principal";
import { fixedLimit } from "./paging";

/** Everything that a ticket's page says, from one moment. */
export interface TicketPageReading {
  readonly book: Book;
  readonly ticket: TicketFacts;
  readonly call: CallFacts | null;
  readonly facts: TicketAround;
  readonly siblings: readonly SiblingRecord[];
  readonly earlierCalls: readonly EarlierCallRecord[];
  readonly earlierCount: number;
  readonly decided: readonly DecidedRecord[];
  readonly votes: readonly VoteRecord[];
  readonly messages: readonly MessageRecord[];
  /** The first of them; `inAll` counts them. */
  readonly deciders: readonly {
    readonly person: string;
    readonly name: string;
    readonly role: Role;
    readonly inAll: number;
  }[];
  readonly late: readonly { readonly verdict: string; readonly actor: string; readonly at: Instant }[];
  readonly now: Instant;
}

export interface TicketAround {
  readonly agentSeen: Instant | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly catalogChanged: boolean;
  readonly isDemo: boolean;
  readonly mode: BatchMode | null;
  readonly coupling: Coupling | null;
  readonly batchSize: number;
  readonly why: string | null;
  readonly deniedBefore: number;
  readonly closedReason: string | null;
  readonly openedBy: string | null;
  readonly onBehalfOf: string | null;
}

export interface SiblingRecord {
  readonly callRef: string;
  readonly action: string;
  /** Null where they are too long to be told in a line. */
  readonly args: CanonicalJson | null;
  readonly target: CanonicalJson;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly ticketId: string | null;
}

export interface EarlierCallRecord extends Omit<SiblingRecord, "ticketId"> {
  readonly at: Instant;
  readonly result: string | null;
}

export interface DecidedRecord {
  readonly ticketId: string;
  readonly verdict: Verdict;
  readonly actor: string;
  readonly person: string | null;
  readonly reason: string | null;
  readonly at: Instant;
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
}

export interface VoteRecord {
  readonly person: string | null;
  readonly name: string | null;
  readonly verdict: Verdict;
  readonly at: Instant;
}

export interface MessageRecord {
  readonly seq: number;
  readonly role: string;
  readonly text: string;
  readonly bytes: number;
  readonly at: Instant;
}

/** How many decided tickets of the same agent and action a proposal is compared with. */
const COMPARED = 50;
/** Of how many of its action, whoever's: where other agents use it more, some of an agent's own may stand behind these. */
const LOOKED_AT = 1_000;
const EARLIER_CALLS = 8;
const DECIDERS_SHOWN = 12;
const SUMMARISED = 16_384;
const PREVIEW = 400;
const MESSAGE_PREVIEW = 2_000;

export async function readTicketPage(
  scope: Scope,
  workspace: string,
  ticketId: string,
): Promise<TicketPageReading | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const open = await readBook(tx, { person: null, display: "" }, { ticket: ticketId }, {}, "look");
    const ticket = open?.book.ticketAt(ticketId);
    if (!open || !ticket) return null;
    const call = ticket.callRef === null ? null : open.book.call(ticket.callRef);
    const { run } = open.book;
    const [facts, siblings, earlierCalls, earlierCount, decided, votes, messages, deciders, late] = await Promise.all([
      readAround(tx, run.id, ticket, call),
      call ? readSiblings(tx, run.id, call) : [],
      readEarlierCalls(tx, run.id, call),
      countEarlierCalls(tx, run.id, call),
      call ? readDecided(tx, run.id, ticketId, call.action) : [],
      readVotes(tx, ticketId),
      readLastMessages(tx, run.threadId),
      readDeciders(tx),
      readLate(tx, ticketId),
    ]);
    return {
      book: open.book,
      ticket,
      call,
      facts,
      siblings,
      earlierCalls,
      earlierCount,
      decided,
      votes,
      messages,
      deciders,
      late,
      now: open.book.now.at,
    };
  });
}

async function readAround(tx: Tx, run: string, ticket: TicketFacts, call: CallFacts | null): Promise<TicketAround> {
  const [row] = await tx.sql<TicketAround[]>`
    select r.last_seen_at as agent_seen, s.provider, s.model, r.is_demo, p.person_id as opened_by, r.on_behalf_of,
      coalesce((select n.catalog_fingerprint <> ${ticket.catalogFingerprint} from agent_snapshots n
        where n.workspace_id = r.workspace_id and n.agent_id = r.agent_id
        order by n.created_at desc limit 1), false) as catalog_changed,
      b.mode, b.coupling, c.why,
      (select count(*)::int from calls o where o.workspace_id = r.workspace_id and o.run = r.id and o.step = c.step and o.edit_no = 0) as batch_size,
      (select count(*)::int from calls d where d.workspace_id = r.workspace_id and d.run = r.id
        and d.call_ref <> c.call_ref and d.proposal_hash = c.proposal_hash and d.outcome = 'blocked' and d.outcome_cause = 'person') as denied_before,
      (select coalesce(d.reason, d.note) from decisions d where d.workspace_id = r.workspace_id and d.ticket_id = ${ticket.id}) as closed_reason
    from runs r
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = ${ticket.snapshotId}
    join principals p on p.workspace_id = r.workspace_id and p.id = r.principal_id
    left join calls c on c.workspace_id = r.workspace_id and c.run = r.id and c.call_ref = ${call?.callRef ?? null}
    left join batches b on b.workspace_id = r.workspace_id and b.run = r.id and b.step = c.step
    where r.workspace_id = ${tx.workspace} and r.id = ${run}`;
  if (!row) throw new Error(`ticket ${ticket.id} has no run`);
  return row;
}

/** All of them, at most a batch: denying one may cancel the others. */
async function readSiblings(tx: Tx, run: string, call: CallFacts): Promise<readonly SiblingRecord[]> {
  return await tx.sql<SiblingRecord[]>`
    select c.call_ref, c.action, case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target, c.status, c.outcome,
      (select t.id from tickets t where t.workspace_id = c.workspace_id and t.run = c.run and t.call_ref = c.call_ref
        order by t.opened_at desc limit 1) as ticket_id
    from calls c
    where c.workspace_id = ${tx.workspace} and c.run = ${run} and c.step = ${call.step} and c.call_ref <> ${call.callRef}
    order by c.batch_index, c.edit_no`;
}

async function readEarlierCalls(tx: Tx, run: string, call: CallFacts | null): Promise<readonly EarlierCallRecord[]> {
  return await tx.sql<EarlierCallRecord[]>`
    select c.call_ref, c.action, c.args, c.target, c.status, c.outcome, coalesce(c.ended_at, c.created_at) as at,
      left(coalesce(c.result, c.error), ${PREVIEW}) as result
    from calls c
    where c.workspace_id = ${tx.workspace} and c.run = ${run} ${before(tx, call)}
    order by c.step desc, c.batch_index desc, c.edit_no desc limit ${EARLIER_CALLS}`;
}

async function countEarlierCalls(tx: Tx, run: string, call: CallFacts | null): Promise<number> {
  const [row] = await tx.sql<{ many: number }[]>`
    select count(*)::int as many from calls c where c.workspace_id = ${tx.workspace} and c.run = ${run} ${before(tx, call)}`;
  return row?.many ?? 0;
}

function before(tx: Tx, call: CallFacts | null) {
  return call ? tx.sql`and c.step < ${call.step}` : tx.sql``;
}

/** Decided tickets of the same agent and action, newest first: what the proposal is compared with. */
async function readDecided(tx: Tx, run: string, ticketId: string, action: string): Promise<readonly DecidedRecord[]> {
  return await tx.sql<DecidedRecord[]>`
    select t.id as ticket_id, d.verdict, d.actor, d.person_id as person, d.reason, d.decided_at as at, c.action, c.args, c.target
    from (
      select * from tickets
      where workspace_id = ${tx.workspace} and tool_id = ${action} and status = 'answered' and id <> ${ticketId}
        and closed_at > statement_timestamp() - interval '90 days'
      order by closed_at desc limit ${fixedLimit(tx, LOOKED_AT)}) t
    join runs r on r.workspace_id = t.workspace_id and r.id = t.run
      and r.agent_id = (select agent_id from runs where workspace_id = ${tx.workspace} and id = ${run})
    join decisions d on d.workspace_id = t.workspace_id and d.ticket_id = t.id and d.verdict in ('allow', 'deny')
    join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    where length(c.args) <= 65536
    order by t.closed_at desc limit ${fixedLimit(tx, COMPARED)}`;
}

async function readVotes(tx: Tx, ticketId: string): Promise<readonly VoteRecord[]> {
  return await tx.sql<VoteRecord[]>`
    select v.person_id as person, p.name, v.verdict, v.at
    from votes v left join people p on p.id = v.person_id
    where v.workspace_id = ${tx.workspace} and v.ticket_id = ${ticketId} order by v.at`;
}

/** The last thing a user said, and the last thing the model did. */
async function readLastMessages(tx: Tx, threadId: string): Promise<readonly MessageRecord[]> {
  return await tx.sql<MessageRecord[]>`
    select distinct on (m.role) m.seq, m.role, left(m.content, ${MESSAGE_PREVIEW}) as text, octet_length(m.content) as bytes, m.at
    from messages m
    where m.workspace_id = ${tx.workspace} and m.thread_id = ${threadId} and m.role in ('user', 'assistant')
    order by m.role desc, m.seq desc`;
}

async function readDeciders(tx: Tx): Promise<TicketPageReading["deciders"]> {
  return await tx.sql<TicketPageReading["deciders"][number][]>`
    select p.id as person, p.name, m.role, count(*) over ()::int as in_all from members m join people p on p.id = m.person_id
    where m.workspace_id = ${tx.workspace} and m.disabled_at is null and m.role in ('approver', 'owner')
    order by m.role, p.name limit ${DECIDERS_SHOWN}`;
}

async function readLate(tx: Tx, ticketId: string): Promise<TicketPageReading["late"]> {
  return await tx.sql<{ verdict: string; actor: string; at: Instant }[]>`
    select late_verdict as verdict, actor, at from refusals
    where workspace_id = ${tx.workspace} and named_ticket = ${ticketId} and late_verdict is not null
    order by at desc limit 5`;
}
