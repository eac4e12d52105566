import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { RUN_CAUSES } from "@/lib/protocol/run";
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
  readonly now: Instant;
}

const CAP = 1_000;

/** Newest first, by key. */
export async function readRuns(
  scope: Scope,
  workspace: string,
  filter: RunsFilter,
  limit: number,
  cursor: string | null,
): Promise<RunsReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [rows, [around]] = await Promise.all([
      tx.sql<RunFactsRecord[]>`
        ${runFactColumns(tx)}
        where r.workspace_id = ${tx.workspace} and r.archived_at is null ${matching(tx, filter)} ${before(tx, cursor)}
        order by r.created_at desc, r.id desc limit ${fixedLimit(tx, limit + 1)}`,
      tx.sql<{ now: Instant; agents: string[]; runsInAll: number }[]>`
        select clock_timestamp() as now,
          (select coalesce(array_agg(name order by name), '{}') from (
            select name from agents where workspace_id = ${tx.workspace} order by name limit 100) capped) as agents,
          (select count(*)::int from (select from runs where workspace_id = ${tx.workspace} and archived_at is null limit ${fixedLimit(tx, CAP)}) capped) as runs_in_all`,
    ]);
    if (!around) throw new Error("the database gave no clock");
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return { rows: page, next: rows.length > limit && last ? `${last.createdAt}.${last.id}` : null, ...around };
  });
}

function matching(tx: Tx, filter: RunsFilter) {
  return tx.sql`
    ${filter.state === null ? tx.sql`` : inState(tx, filter.state)}
    ${filter.agent === null ? tx.sql`` : tx.sql`and a.name = ${filter.agent}`}
    ${filter.stuck ? tx.sql`and r.cause is null and ${isStuck(tx)}` : tx.sql``}
    ${filter.expired ? tx.sql`and exists (select from tickets t where t.workspace_id = r.workspace_id and t.run = r.id and t.status = 'open' and t.expired_at is not null)` : tx.sql``}
    ${filter.text === null ? tx.sql`` : holds(tx, filter.text)}`;
}

function inState(tx: Tx, state: string) {
  if (state === "running" || state === "awaiting") return tx.sql`and r.state = ${state}`;
  return RUN_CAUSES.some((cause) => cause === state) ? tx.sql`and r.cause = ${state}` : tx.sql`and false`;
}

/** What the verdict would call "not moving", but for waiting on a person or an agent's own wait in time. */
function isStuck(tx: Tx) {
  return tx.sql`(r.stalled_reason is not null or r.resume_failed is not null
    or exists (select from tickets t where t.workspace_id = r.workspace_id and t.run = r.id and t.status = 'open' and t.expired_at is not null)
    or exists (select from calls c where c.workspace_id = r.workspace_id and c.run = r.id and (c.status = 'indeterminate'
      or (c.status = 'executing' and c.lease_until < clock_timestamp())
      or (c.status = 'approved' and (c.unreported or c.authorised_at < clock_timestamp() - interval '1 minute'))))
    or exists (select from jobs j where j.workspace_id = r.workspace_id and j.run = r.id and (j.status = 'DeadLetter'
      or (j.status = 'Queued' and j.available_at < clock_timestamp() - interval '1 minute')
      or (j.status = 'Claimed' and j.lease_until < clock_timestamp())))
    or (r.state = 'running' and r.executor = 'client' and r.last_seen_at < clock_timestamp() - interval '150 seconds')
    or (r.state = 'running' and r.executor = 'worker' and r.created_at < clock_timestamp() - interval '1 minute'
      and not exists (select from jobs j where j.workspace_id = r.workspace_id and j.run = r.id
        and (j.status in ('Queued', 'Claimed') or j.updated_at > clock_timestamp() - interval '1 minute'))))`;
}

function holds(tx: Tx, text: string) {
  const like = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  return tx.sql`and (r.run_id ilike ${like} or exists (select from calls c where c.workspace_id = r.workspace_id and c.run = r.id
    and (c.args ilike ${like} or c.action ilike ${like} or c.target ilike ${like})))`;
}

function before(tx: Tx, cursor: string | null) {
  const parts = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.([0-9a-f-]{36})$/.exec(cursor ?? "");
  if (!parts) return tx.sql``;
  return tx.sql`and (r.created_at, r.id) < (${parts[1] ?? ""}::text::timestamptz, ${parts[2] ?? ""}::uuid)`;
}
