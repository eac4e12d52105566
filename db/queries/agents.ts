import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import { fixedLimit } from "./paging";

/** Our own id of the agent of that name; null when nobody has used it. */
export async function findAgent(scope: Scope, workspace: string, name: string): Promise<string | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [agent] = await tx.sql<{ id: string }[]>`
      select id from agents where workspace_id = ${tx.workspace} and name = ${name}`;
    return agent?.id ?? null;
  });
}

export interface AgentRecord {
  readonly name: string;
  readonly isDemo: boolean;
  /** The name is the reader's to start runs under. */
  readonly mine: boolean;
  /** Of the newest content that runs here; all null for an agent that runs elsewhere. */
  readonly definition: CanonicalJson | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly tools: number | null;
  readonly lastRunAt: Instant | null;
}

export interface AgentsReading {
  readonly rows: readonly AgentRecord[];
  readonly agentsInAll: number;
  readonly othersMayDecide: number;
  readonly now: Instant;
}

const MOST_LISTED = 200;

/** The newest content with a definition: what a run that is started here now is made of. Stands behind `agents a`. */
function hostedContent(tx: Tx) {
  return tx.sql`lateral (select * from agent_snapshots s
    where s.workspace_id = a.workspace_id and s.agent_id = a.id and s.definition is not null
    order by s.created_at desc, s.snapshot_id limit 1) s`;
}

/**
 * The newest runs of an agent. Stands behind `agents a`. By two bounds and not by equality: the agent stays a part of the order, and the
 * only index in this order is the agent's own. Else the planner hopes to meet its runs among everybody's newest, and for an agent that
 * has none reads all of them.
 */
export function newestRuns(tx: Tx, most: number) {
  return tx.sql`lateral (select r.* from runs r
    where r.workspace_id = a.workspace_id and r.agent_id >= a.id and r.agent_id <= a.id and r.archived_at is null
    order by r.agent_id desc, r.created_at desc, r.id desc limit ${fixedLimit(tx, most)})`;
}

/** Its snapshot's id, by the agent's name; null when no agent of that name runs here. */
export async function newestHosted(tx: Tx, name: string): Promise<string | null> {
  const [newest] = await tx.sql<{ snapshotId: string }[]>`
    select s.snapshot_id from agents a join ${hostedContent(tx)} on true
    where a.workspace_id = ${tx.workspace} and a.name = ${name}`;
  return newest?.snapshotId ?? null;
}

/** By name, those that run here first. */
export async function readAgents(scope: Scope, workspace: string, principal: string): Promise<AgentsReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<AgentRecord[]>`
      select a.name, a.is_demo, s.definition, s.provider, s.model, json_array_length(s.catalog::json) as tools,
        a.owner_principal_id = ${principal} or exists (select from agent_owners o where o.workspace_id = a.workspace_id
          and o.agent_id = a.id and o.principal_id = ${principal}) as mine,
        last.created_at as last_run_at
      from agents a left join ${hostedContent(tx)} on true left join ${newestRuns(tx, 1)} last on true
      where a.workspace_id = ${tx.workspace}
      order by s.definition is null, a.name limit ${MOST_LISTED}`;
    const [around] = await tx.sql<Pick<AgentsReading, "now" | "agentsInAll" | "othersMayDecide">[]>`
      select clock_timestamp() as now, count(*)::int as agents_in_all,
        (select count(*)::int from members m
          where m.workspace_id = ${tx.workspace} and m.disabled_at is null and m.role in ('approver', 'owner')
            and m.person_id is distinct from (select i.person_id from principals i where i.id = ${principal})) as others_may_decide
      from agents where workspace_id = ${tx.workspace}`;
    if (!around) throw new Error("the database gave no clock");
    return { rows, ...around };
  });
}
