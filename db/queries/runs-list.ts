import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { RUN_CAUSES } from "@/lib/protocol/run";
import { findAgent } from "./agents";
import { fixedLimit } from "./paging";
import { type RunFactsRecord, runFactColumns } from "./run-facts";

export interface RunsFilter {
  /** `running`, `awaiting`, or how it ended. */
  readonly state: string | null;
  readonly agent: string | null;
  readonly stuck: boolean;
  readonly expired: boolean;
  /** Text that stands in an argument of one of its calls, or in its id. */
  readonly text: string | null;
}

export interface RunsReading {
  readonly rows: readonly RunFactsRecord[];
  readonly next: string | null;
  readonly agents: readonly string[];
  readonly runsInAll: number;
  /** A text was looked for in runs down to the one opened then, and not in older ones; null: in all. */
  readonly searchedTo: Instant | null;
  readonly now: Instant;
}

const CAP = 1_000;

/** No index finds a text within arguments, so a page reads at most so many runs for it, and the next one goes on from there. */
export const SEARCHED_AT_ONCE = 10_000;

interface Asked extends RunsFilter {
  readonly agentId: string | null;
  readonly cursor: string | null;
}

interface Key {
  readonly id: string;
  readonly createdAt: Instant;
}

/** Newest first, by key. A search's page may be short, or empty, and still have a next one. */
export async function readRuns(
  scope: Scope,
  workspace: string,
  filter: RunsFilter,
  limit: number,
  cursor: string | null,
  window: number = SEARCHED_AT_ONCE,
): Promise<RunsReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const asked = { ...filter, agentId: filter.agent === null ? null : await agentIdOf(tx, filter.agent), cursor };
    const last = filter.text === null ? undefined : await lastSearched(tx, asked, window);
    const [rows, [around]] = await Promise.all([
      tx.sql<RunFactsRecord[]>`
        ${runFactColumns(tx)} where ${listed(tx, asked)}
        ${last === undefined ? tx.sql`` : tx.sql`and (r.created_at, r.id) >= (${last.createdAt}::text::timestamptz, ${last.id}::uuid)`}
        ${filter.text === null ? tx.sql`` : holds(tx, filter.text)}
        order by r.created_at desc, r.id desc limit ${fixedLimit(tx, limit + 1)}`,
      tx.sql<{ now: Instant; agents: string[]; runsInAll: number }[]>`
        select clock_timestamp() as now,
          (select coalesce(array_agg(name order by name), '{}') from (
            select name from agents where workspace_id = ${tx.workspace} order by name limit 100) capped) as agents,
          (select count(*)::int from (select from runs where workspace_id = ${tx.workspace} and archived_at is null limit ${fixedLimit(tx, CAP)}) capped) as runs_in_all`,
    ]);
    if (!around) throw new Error("the database gave no clock");
    const page = rows.slice(0, limit);
    const shown = rows.length > limit ? page.at(-1) : undefined;
    const goesOn = shown ?? last;
    const next = goesOn === undefined ? null : `${goesOn.createdAt}.${goesOn.id}`;
    return { rows: page, next, searchedTo: shown === undefined ? (last?.createdAt ?? null) : null, ...around };
  });
}

const NO_AGENT = "00000000-0000-0000-0000-000000000000";

/** Asked first, so that the rows are planned by how many runs this very agent has. */
async function agentIdOf(tx: Tx, name: string): Promise<string> {
  return (await findAgent(tx, tx.workspace, name)) ?? NO_AGENT;
}

/** Where a page's search ends: the last of as many runs as it may read; none when it reads all that are left. */
async function lastSearched(tx: Tx, asked: Asked, window: number): Promise<Key | undefined> {
  const [last, older] = await tx.sql<Key[]>`
    select r.created_at, r.id from runs r where ${listed(tx, asked)}
    order by r.created_at desc, r.id desc offset ${fixedLimit(tx, window - 1)} limit 2`;
  return older && last;
}

/** Everything but the text. */
function listed(tx: Tx, filter: Asked) {
  return tx.sql`r.workspace_id = ${tx.workspace} and r.archived_at is null
    ${filter.state === null ? tx.sql`` : inState(tx, filter.state)}
    ${filter.agentId === null ? tx.sql`` : tx.sql`and r.agent_id = ${filter.agentId}`}
    ${filter.stuck ? tx.sql`and r.cause is null and ${isStuck(tx)}` : tx.sql``}
    ${filter.expired ? tx.sql`and r.id in (${expired(tx)})` : tx.sql``}
    ${before(tx, filter.cursor)}`;
}

function inState(tx: Tx, state: string) {
  // That such a run has no cause is said for the index, which cannot work it out from the state.
  if (state === "running" || state === "awaiting") return tx.sql`and r.state = ${state} and r.cause is null`;
  return RUN_CAUSES.some((cause) => cause === state) ? tx.sql`and r.cause = ${state}` : tx.sql`and false`;
}

function expired(tx: Tx) {
  return tx.sql`select t.run from tickets t where t.workspace_id = ${tx.workspace} and t.status = 'open' and t.expired_at is not null`;
}

/**
 * What the verdict would call "not moving", but for waiting on a person or an agent's own wait in time. What may be stuck is gathered
 * once, where an index has it, and not asked of every run that waits.
 */
function isStuck(tx: Tx) {
  return tx.sql`(r.stalled_reason is not null or r.resume_failed is not null or r.id in (${expired(tx)})
    or r.id in (select c.run from calls c where c.workspace_id = ${tx.workspace} and c.status <> 'completed' and (c.status = 'indeterminate'
      or (c.status = 'executing' and c.lease_until < clock_timestamp())
      or (c.status = 'approved' and (c.unreported or c.authorised_at < clock_timestamp() - interval '1 minute'))))
    or r.id in (select j.run from jobs j where j.workspace_id = ${tx.workspace} and j.status in ('DeadLetter', 'Queued', 'Claimed')
      and j.run is not null and (j.status = 'DeadLetter'
      or (j.status = 'Queued' and j.available_at < clock_timestamp() - interval '1 minute')
      or (j.status = 'Claimed' and j.lease_until < clock_timestamp())))
    or (r.state = 'running' and r.executor = 'client' and coalesce(r.last_seen_at, r.created_at) < clock_timestamp() - interval '150 seconds')
    or (r.state = 'running' and r.executor = 'worker' and r.created_at < clock_timestamp() - interval '1 minute'
      and not exists (select from jobs j where j.workspace_id = r.workspace_id and j.run = r.id
        and (j.status in ('Queued', 'Claimed') or j.updated_at > clock_timestamp() - interval '1 minute'))))`;
}

function holds(tx: Tx, text: string) {
  const like = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  // `limit 1` keeps it a question per run: as a plain `exists` it is answered by reading every call there is.
  return tx.sql`and (r.run_id ilike ${like} or (select true from calls c where c.workspace_id = r.workspace_id and c.run = r.id
    and (c.args ilike ${like} or c.action ilike ${like} or c.target ilike ${like}) limit 1))`;
}

function before(tx: Tx, cursor: string | null) {
  const parts = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.([0-9a-f-]{36})$/.exec(cursor ?? "");
  if (!parts) return tx.sql``;
  return tx.sql`and (r.created_at, r.id) < (${parts[1] ?? ""}::text::timestamptz, ${parts[2] ?? ""}::uuid)`;
}
