import { acrossWorkspaces, type Db } from "@/db/client";

/** Runs with a deadline or a lease that is over. */
export async function dueRuns(db: Db): Promise<readonly { readonly workspaceId: string; readonly run: string }[]> {
  return acrossWorkspaces(db, (sql) => sql<{ workspaceId: string; run: string }[]>`select * from holdpoint_due(100)`);
}

/** Say that this process polls. What nobody has said for a minute is not seen any more. */
export async function seeWorker(db: Db, worker: string): Promise<void> {
  await acrossWorkspaces(
    db,
    (sql) => sql`
      insert into workers (worker_id) values (${worker})
      on conflict (worker_id) do update set last_seen_at = clock_timestamp()`,
  );
}
