import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import type { Surface } from "@/lib/protocol/principal";
import { fixedLimit } from "./paging";

export interface RefusalFilter {
  readonly verbs: readonly string[] | null;
  readonly code: string | null;
  readonly actor: string | null;
  readonly surface: string | null;
}

export interface RefusalRecord {
  readonly id: string;
  readonly code: string;
  readonly verb: string;
  readonly lateVerdict: string | null;
  readonly actor: string;
  readonly surface: Surface;
  readonly runId: string | null;
  readonly namedRun: string | null;
  readonly namedTicket: string | null;
  readonly seq: number | null;
  readonly suppliedHash: string | null;
  readonly currentHash: string | null;
  readonly storedHash: string | null;
  readonly approvalHash: string | null;
  readonly at: Instant;
}

export interface RefusalsReading {
  readonly rows: readonly RefusalRecord[];
  readonly next: string | null;
  readonly byCode: readonly { readonly code: string; readonly count: number }[];
  readonly byVerb: readonly { readonly verb: string; readonly count: number }[];
  readonly actors: readonly string[];
  readonly now: Instant;
}

/** Newest first, by key; the counts are of the last 24 hours, whatever the filters. */
export async function readRefusals(
  scope: Scope,
  workspace: string,
  filter: RefusalFilter,
  limit: number,
  cursor: string | null,
): Promise<RefusalsReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [rows, byCode, byVerb, actors, [clock]] = await Promise.all([
      readRows(tx, filter, limit + 1, cursor),
      tx.sql<{ code: string; count: number }[]>`
        select code, count(*)::int as count from refusals where workspace_id = ${tx.workspace} and ${recent(tx)}
        group by code order by count desc, code limit 40`,
      tx.sql<{ verb: string; count: number }[]>`
        select verb, count(*)::int as count from refusals where workspace_id = ${tx.workspace} and ${recent(tx)}
        group by verb order by count desc, verb`,
      tx.sql<{ actor: string }[]>`
        select distinct actor from (select actor from refusals where workspace_id = ${tx.workspace} order by at desc limit 1000) capped
        order by actor limit 50`,
      tx.sql<{ now: Instant }[]>`select clock_timestamp() as now`,
    ]);
    if (!clock) throw new Error("the database gave no clock");
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last ? `${last.at}.${last.id}` : null;
    return { rows: page, next, byCode, byVerb, actors: actors.map((it) => it.actor), now: clock.now };
  });
}

/** By the statement's own clock, which stands still: with one that moves on, every row of the workspace would be asked. */
function recent(tx: Tx) {
  return tx.sql`at > statement_timestamp() - interval '24 hours'`;
}

async function readRows(
  tx: Tx,
  filter: RefusalFilter,
  limit: number,
  cursor: string | null,
): Promise<readonly RefusalRecord[]> {
  return await tx.sql<RefusalRecord[]>`
    select f.id, f.code, f.verb, f.late_verdict, f.actor, f.surface, r.run_id, f.named_run, f.named_ticket, f.seq,
      f.supplied_hash, f.current_hash, f.stored_hash, f.approval_hash, f.at
    from refusals f left join runs r on r.workspace_id = f.workspace_id and r.id = f.run
    where f.workspace_id = ${tx.workspace}
      ${filter.verbs === null ? tx.sql`` : tx.sql`and f.verb in ${tx.sql([...filter.verbs])}`}
      ${filter.code === null ? tx.sql`` : tx.sql`and f.code = ${filter.code}`}
      ${filter.actor === null ? tx.sql`` : tx.sql`and f.actor = ${filter.actor}`}
      ${filter.surface === null ? tx.sql`` : tx.sql`and f.surface = ${filter.surface}`}
      ${before(tx, cursor)}
    order by f.at desc, f.id desc limit ${fixedLimit(tx, limit)}`;
}

function before(tx: Tx, cursor: string | null) {
  const parts = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.([0-9a-f-]{36})$/.exec(cursor ?? "");
  if (!parts) return tx.sql``;
  return tx.sql`and (f.at, f.id) < (${parts[1] ?? ""}::text::timestamptz, ${parts[2] ?? ""}::uuid)`;
}
