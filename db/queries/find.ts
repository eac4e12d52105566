import { inWorkspace, type Scope } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { deadlineKey, fixedLimit } from "./paging";

export interface Found {
  readonly tickets: readonly { readonly ticketId: string; readonly action: string; readonly agent: string }[];
  readonly runs: readonly { readonly runId: string; readonly agent: string }[];
  readonly now: Instant;
}

const MOST = 6;

/** Open tickets and runs by the beginning of an id, an action or an agent; for the palette. */
export async function findByText(scope: Scope, workspace: string, text: string): Promise<Found> {
  const starts = `${text.replace(/[\\%_]/g, "\\$&")}%`;
  return inWorkspace(scope, workspace, async (tx) => {
    const [tickets, runs, [clock]] = await Promise.all([
      tx.sql<{ ticketId: string; action: string; agent: string }[]>`
        select t.id as ticket_id, coalesce(c.action, t.target_reason) as action, a.name as agent
        from tickets t
        join runs r on r.workspace_id = t.workspace_id and r.id = t.run
        join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
        left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
        where t.workspace_id = ${tx.workspace} and t.status = 'open'
          and t.target_reason in ('permission', 'user_input', 'manual', 'budget_reached')
          and (t.id::text ilike ${starts} or c.action ilike ${starts} or a.name ilike ${starts} or c.proposal_hash ilike ${starts})
        order by ${deadlineKey(tx)}, t.id limit ${fixedLimit(tx, MOST)}`,
      tx.sql<{ runId: string; agent: string }[]>`
        select r.run_id, a.name as agent from runs r
        join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
        where r.workspace_id = ${tx.workspace} and r.archived_at is null and (r.run_id ilike ${starts} or a.name ilike ${starts})
        order by r.created_at desc, r.id desc limit ${fixedLimit(tx, MOST)}`,
      tx.sql<{ now: Instant }[]>`select clock_timestamp() as now`,
    ]);
    if (!clock) throw new Error("the database gave no clock");
    return { tickets, runs, now: clock.now };
  });
}
