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

/**
 * End the transactions of processes of ours that fell silent within a statement, and with them the locks that they hold. A process that
 * is stopped or cut off there is neither idle, so that no idle limit counts, nor at work: the database would wait for ever for the
 * rest of what it sends. PostgreSQL 17 has a limit of its own for this; older ones need somebody to look.
 */
export async function endSilentTransactions({ sql }: Db): Promise<void> {
  // As the login itself: only whoever logged in may see and end its own sessions.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = session_user and state = 'active' and backend_xid is not null
      and wait_event in ('ClientRead', 'ClientWrite') and query_start < clock_timestamp() - interval '10 seconds'`;
}
