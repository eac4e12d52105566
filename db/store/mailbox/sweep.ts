import { acrossWorkspaces, type Db, inWorkspace } from "@/db/client";
import type { Caller } from "@/lib/protocol/principal";
import { giveUp } from "./give-up";
import { withoutClaim } from "./rows";

const LAPSED = "the worker's lease was over";

/**
 * Take back what dead workers held: queued again, a dead letter when that was the last attempt, superseded when an interrupt came
 * meanwhile. Any number may sweep; each lapse is acted on once. Gives how many there were.
 */
export async function sweepClaims(db: Db, systemOf: (workspace: string) => Promise<Caller>): Promise<number> {
  const lapsed = await acrossWorkspaces(
    db,
    (sql) => sql<{ workspaceId: string; jobId: string }[]>`select * from holdpoint_lapsed_claims(100)`,
  );
  let acted = 0;
  for (const { workspaceId, jobId } of lapsed) {
    if (await lapse(db, await systemOf(workspaceId), jobId)) acted += 1;
  }
  return acted;
}

interface Lapsed {
  readonly run: string | null;
  readonly token: string;
  readonly outdated: boolean;
  readonly spent: boolean;
}

/** One lapse. False: it was no longer one. */
async function lapse(db: Db, system: Caller, jobId: string): Promise<boolean> {
  return inWorkspace(db, system.workspace, async (tx) => {
    const [held] = await tx.sql<Lapsed[]>`
      select j.run, j.claim_token as token, j.generation < m.generation as outdated, j.attempt_count >= j.max_attempts as spent
      from jobs j join mailboxes m on m.workspace_id = j.workspace_id and m.mailbox_id = j.mailbox_id
      where j.workspace_id = ${tx.workspace} and j.job_id = ${jobId} and j.status = 'Claimed'`;
    if (!held) return false;
    // The claim that lapsed, not one that was made since.
    const still = tx.sql`workspace_id = ${tx.workspace} and job_id = ${jobId} and status = 'Claimed'
      and claim_token = ${held.token} and lease_until < clock_timestamp()`;
    if (held.outdated) return giveUp(tx, system, { jobId, run: held.run }, "Superseded", null, still);
    if (held.spent) return giveUp(tx, system, { jobId, run: held.run }, "DeadLetter", LAPSED, still);
    const back = await tx.sql`
      update jobs set status = 'Queued', last_error = ${LAPSED}, available_at = clock_timestamp(), ${withoutClaim(tx)} where ${still}`;
    return back.count === 1;
  });
}

/** Delete what is over and older than so many ms; dead letters stay until somebody decides. Gives how many went. */
export async function purgeJobs(db: Db, olderThanMs: number): Promise<number> {
  const [purged] = await acrossWorkspaces(
    db,
    (sql) => sql<{ count: number }[]>`select holdpoint_purge_jobs(${olderThanMs} * interval '1 millisecond') as count`,
  );
  return purged?.count ?? 0;
}
