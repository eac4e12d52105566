import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { AwaitReason } from "@/lib/protocol/await-target";
import type { Risk } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { AnswerKind } from "@/lib/protocol/console-view";
import type { Instant } from "@/lib/protocol/instant";
import type { Role } from "@/lib/protocol/principal";
import { ASK_ACTION } from "@/lib/protocol/proposal";
import { deadlineKey, fixedLimit } from "./paging";

/** Who looks at a list, as far as its rows depend on it. */
export interface ListReader {
  readonly person: string;
  readonly role: Role;
}

export interface InboxFilter {
  /** Only what this reader may act on. */
  readonly mine: boolean;
  readonly agent: string | null;
  readonly action: string | null;
  readonly risk: Risk | null;
  readonly kind: Exclude<AnswerKind, "elsewhere"> | null;
}

export interface InboxRecord {
  readonly ticketId: string;
  readonly reason: AwaitReason;
  readonly action: string | null;
  readonly args: CanonicalJson | null;
  readonly target: CanonicalJson | null;
  readonly prompt: string | null;
  readonly agent: string;
  readonly runId: string;
  readonly isDemo: boolean;
  readonly risk: Risk;
  readonly ruleId: string | null;
  readonly deadlineMs: number | null;
  readonly expiredAt: Instant | null;
  readonly openedAt: Instant;
  readonly quorumNeeded: number;
  readonly allowed: number;
  readonly deniedBefore: number;
  readonly mayDecide: boolean;
}

export interface InboxReading {
  readonly rows: readonly InboxRecord[];
  readonly next: string | null;
  readonly now: Instant;
}

/** What stands around the list: how much there is, and what its filters offer. */
export interface InboxSummary {
  /** Under these filters, up to the cap. */
  readonly counted: number;
  /** Without filters, up to the cap. */
  readonly openInAll: number;
  readonly dueSoon: number;
  readonly agents: readonly string[];
  readonly actions: readonly string[];
  readonly now: Instant;
}

/** Counting stops here: beyond it the exact number tells nobody anything. */
export const COUNT_CAP = 1_000;
/** Longer arguments are not summarised in a row: they are read on the ticket's own page. */
const SUMMARISED = 65_536;
const DUE_SOON_MS = 20 * 60_000;
/** The key of a ticket without a deadline. */
const NEVER = "9223372036854775807";

/**
 * One page of open tickets that people answer: soonest deadline first, none last, then by id. It costs the same at any depth: it
 * counts nothing.
 */
export async function readInbox(
  scope: Scope,
  workspace: string,
  reader: ListReader,
  filter: InboxFilter,
  limit: number,
  cursor: string | null,
): Promise<InboxReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [rows, [clock]] = await Promise.all([
      readRows(tx, reader, filter, limit + 1, cursor),
      tx.sql<{ now: Instant }[]>`select clock_timestamp() as now`,
    ]);
    if (!clock) throw new Error("the database gave no clock");
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last ? `${last.deadlineMs ?? ""}.${last.ticketId}` : null;
    return { rows: page, next, now: clock.now };
  });
}

/** Counts under the filters and the filters' choices, each from at most so many tickets as the cap says. */
export async function readInboxSummary(
  scope: Scope,
  workspace: string,
  reader: ListReader,
  filter: InboxFilter,
): Promise<InboxSummary> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [row] = await tx.sql<InboxSummary[]>`
      with matched as (select t.deadline_ms ${matching(tx, reader, filter)} limit ${fixedLimit(tx, COUNT_CAP)}),
        everyone as (select r.agent_id, ${actionOf(tx)} as action
          from tickets t join runs r on r.workspace_id = t.workspace_id and r.id = t.run
          where t.workspace_id = ${tx.workspace} and t.status = 'open' and ${offered(tx)}
          ${inOrder(tx)} limit ${fixedLimit(tx, COUNT_CAP)}),
        clock as (select clock_timestamp() as now, extract(epoch from clock_timestamp()) * 1000 as ms)
      select (select count(*)::int from matched) as counted,
        (select count(*)::int from everyone) as open_in_all,
        (select count(*)::int from matched where deadline_ms between ms and ms + ${DUE_SOON_MS}) as due_soon,
        array(select a.name from agents a where a.workspace_id = ${tx.workspace}
          and a.id in (select agent_id from everyone) order by a.name) as agents,
        array(select distinct action from everyone where action is not null order by action) as actions,
        now
      from clock`;
    if (!row) throw new Error("a count has a row");
    return row;
  });
}

/** Open tickets that people answer, counted up to the cap. */
export async function readOpenCount(
  scope: Scope,
  workspace: string,
): Promise<{ readonly open: number; readonly now: Instant }> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [row] = await tx.sql<{ open: number; now: Instant }[]>`
      select count(*)::int as open, clock_timestamp() as now from (
        select from tickets t where t.workspace_id = ${tx.workspace} and t.status = 'open' and ${offered(tx)}
        limit ${fixedLimit(tx, COUNT_CAP)}) capped`;
    if (!row) throw new Error("a count has a row");
    return row;
  });
}

function offered(tx: Tx) {
  return tx.sql`t.target_reason in ('permission', 'user_input', 'manual', 'budget_reached')`;
}

function inOrder(tx: Tx) {
  return tx.sql`order by ${deadlineKey(tx)}, t.id`;
}

/** The call's action as the ticket itself tells it: the pending tool, or a question. Null for a pause. */
function actionOf(tx: Tx) {
  return tx.sql`case t.target_reason when 'user_input' then ${ASK_ACTION} else t.tool_id end`;
}

/** The rights that the store judges again; a list only sorts by them. */
function mayDecide(tx: Tx, { person, role }: ListReader) {
  const decides = role === "approver" || role === "owner";
  return tx.sql`(t.expired_at is null
    and case when t.target_kind = 'pause' then ${mayOperate(role)}::boolean
      else ${decides}::boolean and r.on_behalf_of is distinct from ${person}::uuid
        and not exists (select from principals p where p.workspace_id = r.workspace_id and p.id = r.principal_id
          and p.person_id = ${person}::uuid) end)`;
}

function mayOperate(role: Role): boolean {
  return role === "operator" || role === "owner";
}

/** The tickets under a filter, and no table more than it needs. */
function matching(tx: Tx, reader: ListReader, filter: InboxFilter) {
  const { mine, agent, action, risk, kind } = filter;
  return tx.sql`
    from tickets t
    ${mine || agent !== null ? tx.sql`join runs r on r.workspace_id = t.workspace_id and r.id = t.run` : tx.sql``}
    ${agent === null ? tx.sql`` : tx.sql`join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id`}
    where t.workspace_id = ${tx.workspace} and t.status = 'open' and ${offered(tx)}
      ${mine ? tx.sql`and (${mayDecide(tx, reader)} or (${mayOperate(reader.role)}::boolean and t.expired_at is not null))` : tx.sql``}
      ${agent === null ? tx.sql`` : tx.sql`and a.name = ${agent}`}
      ${action === null ? tx.sql`` : tx.sql`and ${actionOf(tx)} = ${action}`}
      ${risk === null ? tx.sql`` : tx.sql`and t.risk = ${risk} and t.target_reason = 'permission'`}
      ${kind === null ? tx.sql`` : tx.sql`and ${ofKind(tx, kind)}`}`;
}

function ofKind(tx: Tx, kind: NonNullable<InboxFilter["kind"]>) {
  switch (kind) {
    case "permission":
      return tx.sql`t.target_reason = 'permission'`;
    case "question":
      return tx.sql`t.target_reason = 'user_input'`;
    case "pause":
      return tx.sql`t.target_kind = 'pause'`;
  }
}

async function readRows(
  tx: Tx,
  reader: ListReader,
  filter: InboxFilter,
  limit: number,
  cursor: string | null,
): Promise<readonly InboxRecord[]> {
  return await tx.sql<InboxRecord[]>`
    with page as materialized (
      select t.* ${matching(tx, reader, filter)} ${after(tx, cursor)} ${inOrder(tx)} limit ${fixedLimit(tx, limit)})
    select t.id as ticket_id, t.target_reason as reason, c.action,
      case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target,
      t.prompt, a.name as agent, r.run_id, r.is_demo, t.risk, t.rule_id, t.deadline_ms, t.expired_at, t.opened_at, t.quorum_needed,
      (select count(*)::int from votes v where v.workspace_id = t.workspace_id and v.ticket_id = t.id and v.verdict = 'allow') as allowed,
      (select count(*)::int from calls d where d.workspace_id = t.workspace_id and d.run = t.run
        and d.proposal_hash = c.proposal_hash and d.outcome = 'blocked' and d.outcome_cause = 'person') as denied_before,
      ${mayDecide(tx, reader)} as may_decide
    from page t
    join runs r on r.workspace_id = t.workspace_id and r.id = t.run
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    ${inOrder(tx)}`;
}

/** A cursor is `deadline.ticket`; anything else reads from the start. */
function after(tx: Tx, cursor: string | null) {
  const parts = /^(\d{0,18})\.([0-9a-f-]{36})$/.exec(cursor ?? "");
  if (!parts) return tx.sql``;
  const deadline = parts[1] === "" ? NEVER : parts[1];
  return tx.sql`and (${deadlineKey(tx)}, t.id) > (${deadline ?? NEVER}::text::bigint, ${parts[2] ?? ""}::uuid)`;
}
