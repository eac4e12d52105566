import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";

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
  readonly now: Instant;
}

/** What a run here is started with, as it was frozen. */
export interface HostedAgentRecord {
  readonly provider: string | null;
  readonly model: string | null;
  readonly mcpServers: CanonicalJson | null;
  readonly catalog: CanonicalJson;
  readonly build: string | null;
  readonly definition: CanonicalJson;
}

const MOST_LISTED = 200;

/** The newest content with a definition: what a run that is started here now is made of. Stands behind `agents a`. */
function newestHosted(tx: Tx) {
  return tx.sql`lateral (select * from agent_snapshots s
    where s.workspace_id = a.workspace_id and s.agent_id = a.id and s.definition is not null
    order by s.created_at desc, s.snapshot_id limit 1) s`;
}

/** By name, those that run here first. */
export async function readAgents(scope: Scope, workspace: string, principal: string): Promise<AgentsReading> {
  return inWorkspace(scope, workspace, async (tx) => {
    const rows = await tx.sql<AgentRecord[]>`
      select a.name, a.is_demo, s.definition, s.provider, s.model, json_array_length(s.catalog::json) as tools,
        a.owner_principal_id = ${principal} or exists (select from agent_owners o where o.workspace_id = a.workspace_id
          and o.agent_id = a.id and o.principal_id = ${principal}) as mine,
        (select max(r.created_at) from runs r where r.workspace_id = a.workspace_id and r.agent_id = a.id) as last_run_at
      from agents a left join ${newestHosted(tx)} on true
      where a.workspace_id = ${tx.workspace}
      order by s.definition is null, a.name limit ${MOST_LISTED}`;
    const [around] = await tx.sql<{ now: Instant; agentsInAll: number }[]>`
      select clock_timestamp() as now, count(*)::int as agents_in_all from agents where workspace_id = ${tx.workspace}`;
    if (!around) throw new Error("the database gave no clock");
    return { rows, ...around };
  });
}

/** Null: no agent of that name runs here. */
export async function readHostedAgent(
  scope: Scope,
  workspace: string,
  name: string,
): Promise<HostedAgentRecord | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [agent] = await tx.sql<HostedAgentRecord[]>`
      select s.provider, s.model, s.mcp_servers, s.catalog, s.build, s.definition
      from agents a join ${newestHosted(tx)} on true where a.workspace_id = ${tx.workspace} and a.name = ${name}`;
    return agent ?? null;
  });
}
