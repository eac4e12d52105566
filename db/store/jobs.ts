import { v7 as newId } from "uuid";
import type { Tx } from "@/db/client";
import type { JobDraft } from "@/lib/protocol/book/book";
import type { RunFacts } from "@/lib/protocol/book/facts";

type JobRun = Pick<RunFacts, "id" | "runId" | "agentId" | "threadId">;

/**
 * Put a run's resume jobs into its thread's mailbox, in the verb's own transaction. A key that is live already means that the
 * run will be looked at after this commit anyway, so it is no fault. Source: protocol §10.
 */
export async function enqueueResumes(tx: Tx, run: JobRun, jobs: readonly JobDraft[]): Promise<void> {
  if (jobs.length === 0) return;
  const rows = jobs.map((job) => ({
    workspaceId: tx.workspace,
    jobId: newId(),
    mailboxId: run.threadId,
    agentId: run.agentId,
    kind: "resume",
    run: run.id,
    ticketId: job.ticketId,
    origin: "Internal",
    dedupeKey: job.dedupeKey,
  }));
  await Promise.all([
    tx.sql`insert into mailboxes ${tx.sql({ workspaceId: tx.workspace, mailboxId: run.threadId })} on conflict do nothing`.execute(),
    ...rows.map(
      (row) => tx.sql`
        insert into jobs (workspace_id, job_id, mailbox_id, agent_id, kind, run, ticket_id, origin, dedupe_key, generation)
        select ${row.workspaceId}, ${row.jobId}, ${row.mailboxId}, ${row.agentId}, ${row.kind}, ${row.run}, ${row.ticketId},
          ${row.origin}, ${row.dedupeKey}, generation
        from mailboxes where workspace_id = ${tx.workspace} and mailbox_id = ${run.threadId}
        on conflict do nothing`.execute(),
    ),
  ]);
}

/** Ask for a run to be looked at for the first time. */
export async function enqueueStart(tx: Tx, run: JobRun): Promise<void> {
  await enqueueResumes(tx, run, [{ dedupeKey: `start:${run.runId}`, ticketId: null }]);
}
