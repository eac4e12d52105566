import { acrossWorkspaces, type Db, inWorkspace } from "@/db/client";

/** The public ids of runs, for a stream that names what changed. */
export async function readRunNames(db: Db, workspace: string, runs: readonly string[]): Promise<readonly string[]> {
  if (runs.length === 0) return [];
  return inWorkspace(db, workspace, async (tx) => {
    const rows = await tx.sql<{ runId: string }[]>`
      select run_id from runs where workspace_id = ${tx.workspace} and id in ${tx.sql([...runs])}`;
    return rows.map((row) => row.runId);
  });
}

/** The newest event of a workspace: what a poll compares, since a notification may be lost. */
export async function readNewestEvent(db: Db, workspace: string): Promise<string> {
  return inWorkspace(db, workspace, async (tx) => {
    const [row] = await tx.sql<{ newest: string | null }[]>`
      select max(event_id)::text as newest from trace_events
      where workspace_id = ${tx.workspace} and xid = (select max(xid) from trace_events where workspace_id = ${tx.workspace})`;
    return row?.newest ?? "0";
  });
}

export async function readClock(db: Db): Promise<number> {
  return acrossWorkspaces(db, async (sql) => {
    const [row] = await sql<{ ms: number }[]>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`;
    return row?.ms ?? 0;
  });
}
