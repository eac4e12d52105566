import type postgres from "postgres";
import type { Tx } from "@/db/client";
import { stored } from "@/lib/protocol/book/stored";
import { DEFAULT_POLICY, type Policy } from "@/lib/protocol/permission-rule";

/** A piece of SQL that gives one run's internal id. */
type RunId = postgres.Fragment;

/** A version's row is immutable, so what was read once may be kept: by its id and number, a few hundred at most. */
const known = new Map<string, Policy>();
const MOST_KNOWN = 500;

/** The rules that judge a run's agent now; an agent without any is asked about everything. */
export async function readPolicy(tx: Tx, run: RunId): Promise<Policy> {
  const [row] = await tx.sql<{ policyId: string; version: number; document: string }[]>`
    select v.policy_id, v.version, v.document
    from runs r
    join policies p on p.workspace_id = r.workspace_id and p.agent_id = r.agent_id
    join policy_versions v on v.workspace_id = p.workspace_id and v.policy_id = p.id and v.version = p.current_version
    where r.workspace_id = ${tx.workspace} and r.id = ${run}`;
  if (!row) return DEFAULT_POLICY;
  const key = `${tx.workspace}/${row.policyId}/${row.version}`;
  const cached = known.get(key);
  if (cached) return cached;
  const policy = { ...(stored(row.document) as unknown as Omit<Policy, "version">), version: row.version };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, policy);
  return policy;
}
