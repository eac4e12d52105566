import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { newestRuns } from "./agents";
import { deadlineKey, fixedLimit } from "./paging";

export interface Found {
  readonly tickets: readonly { readonly ticketId: string; readonly action: string; readonly agent: string }[];
  readonly runs: readonly { readonly runId: string; readonly agent: string }[];
  readonly now: Instant;
}

const MOST = 6;

/**
 * Open tickets and runs by the beginning of an id, an action or an agent; for the palette. A run's id is matched as it is written, so
 * that an index finds it however many there are.
 */
export async function findByText(scope: Scope, workspace: string, text: string): Promise<Found> {
  const starts = `${text.replace(/[\\%_]/g, "\\$&")}%`;
  return inWorkspace(scope, workspace, async (tx) => {
    const [tickets, runs, [clock]] = await Promise.all([
      findTickets(tx, text, starts),
      findRuns(tx, text, starts),
      tx.sql<{ now: Instant }[]>`select clock_timestamp() as now`,
    ]);
    if (!clock) throw new Error("the database gave no clock");
    return { tickets, runs, now: clock.now };
  });
}

/** Of the open tickets, those that are due first: so many are looked at for the beginning of an action, an agent or a hash. */
const LOOKED_AT = 2_000;

async function findTickets(tx: Tx, text: string, starts: string): Promise<Found["tickets"]> {
  const open = tx.sql`t.workspace_id = ${tx.workspace} and t.status = 'open'
    and t.target_reason in ('permission', 'user_input', 'manual', 'budget_reached')`;
  return await tx.sql<{ ticketId: string; action: string; agent: string }[]>`
    with first_due as (
      select t.* from tickets t where ${open} order by ${deadlineKey(tx)}, t.id limit ${fixedLimit(tx, LOOKED_AT)}),
    named as (select t.* from tickets t where ${open} and ${idBegins(tx, text)} order by t.id limit ${fixedLimit(tx, MOST)})
    select t.id as ticket_id, coalesce(c.action, t.target_reason) as action, a.name as agent
    from (select * from named union select * from first_due) t
    join runs r on r.workspace_id = t.workspace_id and r.id = t.run
    join agents a on a.workspace_id = r.workspace_id and a.id = r.agent_id
    left join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    where ${idBegins(tx, text)} or c.action ilike ${starts} or a.name ilike ${starts} or c.proposal_hash ilike ${starts}
    order by ${deadlineKey(tx)}, t.id limit ${fixedLimit(tx, MOST)}`;
}

const NO_DIGIT = /[^0-9a-f]/;

/** Between the least and the greatest id that begin so: the primary key finds them. */
function idBegins(tx: Tx, text: string) {
  const digits = text.toLowerCase().replaceAll("-", "");
  if (digits.length === 0 || digits.length > 32 || NO_DIGIT.test(digits)) return tx.sql`false`;
  return tx.sql`t.id between ${digits.padEnd(32, "0")}::text::uuid and ${digits.padEnd(32, "f")}::text::uuid`;
}

/** Above every character that an id may go on with. */
const LAST_CHARACTER = "\u{10ffff}";

/** The newest of the runs that are so called, and of the runs of agents that are; each by its own index. */
async function findRuns(tx: Tx, text: string, starts: string): Promise<Found["runs"]> {
  const most = fixedLimit(tx, MOST);
  return await tx.sql<{ runId: string; agent: string }[]>`
    with named as (
      select r.id, r.run_id, r.agent_id, r.created_at from runs r
      where r.workspace_id = ${tx.workspace} and r.archived_at is null
        and r.run_id >= ${text} and r.run_id < ${text + LAST_CHARACTER}
      order by r.run_id limit ${most}),
    of_agents as (
      select r.id, r.run_id, r.agent_id, r.created_at from agents a join ${newestRuns(tx, MOST)} r on true
      where a.workspace_id = ${tx.workspace} and a.name ilike ${starts})
    select distinct on (found.created_at, found.id) found.run_id, a.name as agent
    from (select * from named union all select * from of_agents) found
    join agents a on a.workspace_id = ${tx.workspace} and a.id = found.agent_id
    order by found.created_at desc, found.id desc limit ${most}`;
}
