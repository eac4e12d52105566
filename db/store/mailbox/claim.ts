import { type Db, inOneStatement, inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Refused } from "@/db/store/refuse";
import { JOB_LEASE_MS, type Job, type JobClaim } from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { ok, type Result, refuse } from "@/lib/result";
import { withoutRight } from "./refuse-job";
import { readJobs, uuidOr } from "./rows";

/** A job under a claim: what its holder may write until the lease is over, and the token that every write carries. */
export interface ClaimedJob extends Job, JobClaim {
  readonly workspace: string;
}

/** Which jobs a claimer asks for. */
export interface ClaimTerms {
  /** The process that will hold the claim, as operators see it. */
  readonly claimer: string;
  readonly leaseMs?: number;
  readonly most?: number;
}

/**
 * Claim for a worker of ours, which begins at once what it claims: the jobs that come first, of one workspace; none when nothing is
 * due. One statement, whatever the number of workspaces, that gives the jobs as it took them.
 */
export async function claimNext(
  db: Db,
  { claimer, leaseMs = JOB_LEASE_MS, most = 1 }: ClaimTerms,
): Promise<readonly ClaimedJob[]> {
  const taken = await inOneStatement(
    db,
    (sql) => sql<(Omit<ClaimedJob, "workspace"> & { workspaceId: string })[]>`
      select * from holdpoint_claim(${claimer}, ${leaseMs}, ${most})`,
  );
  for (const { workspaceId, run, jobId } of taken) db.onCommit({ workspace: workspaceId, runs: [run ?? jobId] });
  return taken.map(({ workspaceId, ...job }) => ({ ...job, workspace: workspaceId }));
}

interface Taken {
  readonly jobId: string;
  readonly token: string;
}

/** What was taken and is still ours: with a short lease another may have it before it is read. */
async function readTaken(tx: Tx, taken: readonly Taken[]): Promise<readonly ClaimedJob[]> {
  const jobs = await readJobs(
    tx,
    taken.map(({ jobId }) => jobId),
  );
  const tokens = new Map(taken.map(({ jobId, token }) => [jobId, token]));
  return jobs.flatMap((job) => {
    const token = tokens.get(job.jobId);
    return token !== undefined && token === job.claimToken ? [{ ...job, token, workspace: tx.workspace }] : [];
  });
}

export interface ClaimWanted extends ClaimTerms {
  /** Only of this mailbox. */
  readonly mailboxId?: string;
  /** This very job, also before its time. */
  readonly jobId?: string;
  /** Jobs for workers that call over HTTP, or for ours. */
  readonly outside: boolean;
}

/** Claim in one workspace: what comes first, of one mailbox, or one job by its id. Refused: `not_permitted`. */
export async function claimJobs(
  scope: Scope,
  caller: Caller,
  wanted: ClaimWanted,
): Promise<Result<readonly ClaimedJob[], Refused>> {
  return inWorkspace(scope, caller.workspace, async (tx) => {
    const input = { mailbox_id: wanted.mailboxId ?? null };
    const barred = await withoutRight(tx, caller, { verb: "claim_job", jobId: wanted.jobId ?? null, run: null, input });
    if (barred) return refuse(barred);
    const most = wanted.most ?? 1;
    const taken: Taken[] = [];
    for (const { jobId, mailboxId } of await due(tx, wanted, most)) {
      if (taken.length >= most) break;
      const [took] = await tx.sql<{ token: string | null }[]>`
        select holdpoint_take(${tx.workspace}, ${jobId}, ${mailboxId}, ${wanted.claimer}, ${wanted.leaseMs ?? JOB_LEASE_MS},
          ${wanted.jobId !== undefined}) as token`;
      if (took?.token) taken.push({ jobId, token: took.token });
    }
    return ok(await readTaken(tx, taken));
  });
}

async function due(tx: Tx, { mailboxId, jobId, outside }: ClaimWanted, most: number) {
  return await tx.sql<{ jobId: string; mailboxId: string }[]>`
    select j.job_id, j.mailbox_id from jobs j
    where j.workspace_id = ${tx.workspace} and j.status = 'Queued' and j.outside = ${outside}
      ${mailboxId === undefined ? tx.sql`` : tx.sql`and j.mailbox_id = ${mailboxId}`}
      ${jobId === undefined ? tx.sql`and j.available_at <= clock_timestamp()` : tx.sql`and j.job_id = ${uuidOr(jobId)}`}
      and not exists (select from jobs o where o.workspace_id = j.workspace_id
        and o.mailbox_id = j.mailbox_id and o.status = 'Claimed')
    order by j.priority, j.created_at, j.job_id
    limit ${most * 4 + 4}`;
}
