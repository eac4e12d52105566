import { type Db, inWorkspaceByKey } from "@/db/client";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { ChildRun } from "@/lib/protocol/delegation";

export interface ChildRecord extends ChildRun {
  readonly output: CanonicalJson | null;
}

/** The runs that a run has delegated, oldest first. */
export async function readChildren(db: Db, workspace: string, run: string): Promise<readonly ChildRecord[]> {
  return inWorkspaceByKey(db, workspace, (tx) =>
    tx.sql<ChildRecord[]>`
      select run_id, parent_call as call_ref, cause, cause_code, output from runs
      where workspace_id = ${workspace} and parent_run = ${run} order by created_at, id`.execute(),
  );
}

/** The agents of a run and of those above it, by name. */
export async function readLineage(db: Db, workspace: string, run: string): Promise<readonly string[]> {
  return inWorkspaceByKey(db, workspace, async (tx) => {
    const rows = await tx.sql<{ name: string }[]>`
      with recursive line as (
        select r.id, r.parent_run, r.agent_id from runs r where r.workspace_id = ${workspace} and r.id = ${run}
        union all
        select r.id, r.parent_run, r.agent_id from runs r join line on r.workspace_id = ${workspace} and r.id = line.parent_run
      )
      select a.name from line join agents a on a.workspace_id = ${workspace} and a.id = line.agent_id`;
    return rows.map(({ name }) => name);
  });
}
