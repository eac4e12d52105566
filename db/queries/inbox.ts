import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { AwaitReason } from "@/lib/protocol/await-target";
import type { Risk } from "@/lib/protocol/call";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { AnswerKind } from "@/lib/protocol/console-view";
import type { Instant } from "@/lib/protocol/instant";
import type { Role } from "@/lib/protocol/principal";

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
  readonly kind: AnswerKind | null;
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
  readonly counted: number;
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
/** Sorts tickets without a deadline last; spelt as in the index. */
const NEVER = "9223372036854775807";

/** One page of open tickets that people answer: soonest deadline first, none last, then by id. */
export async function readInbox(
  scope: Scope,
  workspace: string,
  reader: ListReader,
  filter: InboxFilter,
  limit: number,
  cursor: string | null,
): Promise<InboxReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [rows, counts, [clock]] = await Promise.all([
      readRows(tx, reader, filter, limit + 1, cursor),
      readCounts(tx, reader, filter),
      tx.sql<{ now: Instant }[]>`select clock_timestamp() as now`,
    ]);
    if (!clock) throw new Error("the database gave no clock");
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last ? `${last.deadlineMs ?? ""}.${last.ticketId}` : null;
    return { rows: page, next, ...counts, now: clock.now };
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
        limit ${COUNT_CAP}) capped`;
    if (!row) throw new Error("a count has a row");
    return row;
  });
}

function offered(tx: Tx) {
  return tx.sql`t.target_reason in ('permission', 'user_input', 'manual', 'budget_reached')`;
}

/** The rights that the store judges again; a list only sorts by them. */
function mayDecide(tx: Tx, { person, role }: ListReader) {
  const decides = role === "approver" || role === "owner";
  const operates = role === "operator" || role === "owner";
  return tx.sql`(t.expired_at is null
    and case when t.target_kind = 'pause' then ${operates}::boolean
      else ${decides}::boolean and r.on_behalf_of is distinct from ${person}::uuid
        and not exists (select from principals p where p.workspace_id = r.workspace_id and p.id = r.principal_id
          and p.person_id = ${person}::uuid) end)`;
}

function matching(tx: Tx, reader: ListReader, filter: InboxFilter) {
  const operates = reader.role === "operator" || reader.role === "owner";
  return tx.sql`
    from tickets t
    join runs r on r.workspace_id = t.workspace_id and r.id = t.run
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    where t.workspace_id = ${tx.workspace} and t.status = 'open' and ${offered(tx)}
      ${filter.mine ? tx.sql`and (${mayDecide(tx, reader)} or (${operates}::boolean and t.expired_at is not null))` : tx.sql``}
      ${filter.agent === null ? tx.sql`` : tx.sql`and a.name = ${filter.agent}`}
      ${filter.action === null ? tx.sql`` : tx.sql`and c.action = ${filter.action}`}
      ${filter.risk === null ? tx.sql`` : tx.sql`and t.risk = ${filter.risk} and t.target_reason = 'permission'`}
      ${filter.kind === null ? tx.sql`` : tx.sql`and ${ofKind(tx, filter.kind)}`}`;
}

function ofKind(tx: Tx, kind: AnswerKind) {
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
    select t.id as ticket_id, t.target_reason as reason, c.action,
      case when length(c.args) <= ${SUMMARISED} then c.args end as args, c.target,
      t.prompt, a.name as agent, r.run_id, r.is_demo, t.risk, t.rule_id, t.deadline_ms, t.expired_at, t.opened_at, t.quorum_needed,
      (select count(*)::int from votes v where v.workspace_id = t.workspace_id and v.ticket_id = t.id and v.verdict = 'allow') as allowed,
      (select count(*)::int from calls d where d.workspace_id = t.workspace_id and d.run = t.run
        and d.proposal_hash = c.proposal_hash and d.outcome = 'blocked' and d.outcome_cause = 'person') as denied_before,
      ${mayDecide(tx, reader)} as may_decide
    ${matching(tx, reader, filter)}
      ${after(tx, cursor)}
    order by coalesce(t.deadline_ms, 9223372036854775807), t.id
    limit ${limit}`;
}

/** A cursor is `deadline.ticket`; anything else reads from the start. */
function after(tx: Tx, cursor: string | null) {
  const parts = /^(\d{0,18})\.([0-9a-f-]{36})$/.exec(cursor ?? "");
  if (!parts) return tx.sql``;
  const deadline = parts[1] === "" ? NEVER : parts[1];
  return tx.sql`and (coalesce(t.deadline_ms, 9223372036854775807), t.id) > (${deadline ?? NEVER}::text::bigint, ${parts[2] ?? ""}::uuid)`;
}

interface Counts {
  readonly counted: number;
  readonly openInAll: number;
  readonly dueSoon: number;
  readonly agents: readonly string[];
  readonly actions: readonly string[];
}

async function readCounts(tx: Tx, reader: ListReader, filter: InboxFilter): Promise<Counts> {
  const [row] = await tx.sql<Counts[]>`
    with matched as (select t.deadline_ms ${matching(tx, reader, filter)} limit ${COUNT_CAP}),
      everyone as (select a.name as agent, c.action
        from tickets t
        join runs r on r.workspace_id = t.workspace_id and r.id = t.run
        join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
        left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
        where t.workspace_id = ${tx.workspace} and t.status = 'open' and ${offered(tx)}
        limit ${COUNT_CAP})
    select (select count(*)::int from matched) as counted,
      (select count(*)::int from everyone) as open_in_all,
      (select count(*)::int from matched where deadline_ms between extract(epoch from clock_timestamp()) * 1000
        and extract(epoch from clock_timestamp()) * 1000 + ${DUE_SOON_MS}) as due_soon,
      (select coalesce(array_agg(distinct agent order by agent), '{}') from everyone) as agents,
      (select coalesce(array_agg(distinct action order by action), '{}') from everyone where action is not null) as actions`;
  if (!row) throw new Error("a count has a row");
  return row;
}
