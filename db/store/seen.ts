import { inWorkspaceByKey, type Scope } from "@/db/client";

/**
 * A run's own principal was here: tells "not picked up" from "agent gone". Written at most every 30 s, and never waited for: a verb that
 * holds the run writes it itself. Source: schema `last_seen_at`.
 */
export async function noteSeen(scope: Scope, workspace: string, run: string): Promise<void> {
  await inWorkspaceByKey(
    scope,
    workspace,
    (tx) => tx.sql`
    update runs set last_seen_at = clock_timestamp()
    where workspace_id = ${workspace} and id = (
      select id from runs
      where workspace_id = ${workspace} and id = ${run}
        and (last_seen_at is null or last_seen_at < clock_timestamp() - interval '30 seconds')
      for no key update skip locked)`,
  );
}
