import { v7 as newId } from "uuid";
import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import type { Refused } from "@/db/store/refuse";
import type { JobDraft } from "@/lib/protocol/book/book";
import type { RunFacts } from "@/lib/protocol/book/facts";
import {
  JOB_MAX_ATTEMPTS,
  JOB_PRIORITY_DEFAULT,
  type Job,
  type JobKind,
  type JobOrigin,
} from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { refuseJob, withoutRight } from "./refuse-job";
import { writeJob } from "./rows";

/** A job as it is asked for; what is left out has the default of protocol §10. */
export interface JobRequest {
  readonly mailboxId: string;
  readonly kind?: JobKind;
  readonly origin: JobOrigin;
  /** Internal ids. */
  readonly agentId?: string | null;
  readonly run?: string | null;
  readonly ticketId?: string | null;
  readonly outside?: boolean;
  /** Canonical JSON. */
  readonly messages?: string | null;
  readonly requestExtras?: string | null;
  readonly senderId?: string | null;
  readonly parentRunId?: string | null;
  readonly priority?: number;
  readonly dedupeKey?: string | null;
  /** Epoch ms before which it may not be claimed; absent: at once. */
  readonly availableAtMs?: number | null;
  readonly maxAttempts?: number;
}

/**
 * Put a job into a mailbox: durable when this returns. The store assigns the generation.
 * Refused: `duplicate_job` while a job with this dedupe key is queued or claimed in the mailbox.
 */
export async function enqueueJob(scope: Scope, caller: Caller, request: JobRequest): Promise<Result<Job, Refused>> {
  return inWorkspaceByKey(scope, caller.workspace, async (tx) => {
    const attempt = {
      verb: "enqueue_job" as const,
      jobId: null,
      run: request.run ?? null,
      input: { mailbox_id: request.mailboxId, dedupe_key: request.dedupeKey ?? null },
    };
    const barred = await withoutRight(tx, caller, attempt);
    if (barred) return refuse(barred);
    const job = await insertJob(tx, request);
    if (job) return ok(job);
    return refuse(
      await refuseJob(tx, caller, attempt, refusal("duplicate_job", { dedupe_key: attempt.input.dedupe_key })),
    );
  });
}

/**
 * The insert itself, in a verb's own transaction. Null: a live job of the mailbox has this dedupe key. The mailbox is locked
 * against an interrupt, which would otherwise raise the generation between the reading of it and this commit.
 */
export async function insertJob(tx: Tx, request: JobRequest): Promise<Job | null> {
  const row = {
    workspaceId: tx.workspace,
    jobId: newId(),
    mailboxId: request.mailboxId,
    agentId: request.agentId ?? null,
    kind: request.kind ?? "request",
    outside: request.outside ?? false,
    run: request.run ?? null,
    ticketId: request.ticketId ?? null,
    messages: request.messages ?? null,
    origin: request.origin,
    senderId: request.senderId ?? null,
    parentRunId: request.parentRunId ?? null,
    requestExtras: request.requestExtras ?? null,
    priority: request.priority ?? JOB_PRIORITY_DEFAULT,
    dedupeKey: request.dedupeKey ?? null,
    maxAttempts: request.maxAttempts ?? JOB_MAX_ATTEMPTS,
  };
  const dueMs = request.availableAtMs ?? null;
  const ensured =
    tx.sql`insert into mailboxes ${tx.sql({ workspaceId: tx.workspace, mailboxId: row.mailboxId })} on conflict do nothing`.execute();
  const inserted = writeJob(
    tx,
    tx.sql`insert into jobs (workspace_id, job_id, mailbox_id, agent_id, kind, outside, run, ticket_id, messages, origin, sender_id,
      parent_run_id, request_extras, priority, dedupe_key, max_attempts, generation, available_at)
    select ${row.workspaceId}, ${row.jobId}, ${row.mailboxId}, ${row.agentId}, ${row.kind}, ${row.outside}, ${row.run},
      ${row.ticketId}, ${row.messages}, ${row.origin}, ${row.senderId}, ${row.parentRunId}, ${row.requestExtras},
      ${row.priority}, ${row.dedupeKey}, ${row.maxAttempts}, box.generation,
      coalesce(to_timestamp(${dueMs}::float8 / 1000), clock_timestamp())
    from (select generation from mailboxes
      where workspace_id = ${tx.workspace} and mailbox_id = ${row.mailboxId} for share) box
    on conflict do nothing`,
  );
  const [, job] = await Promise.all([ensured, inserted]);
  if (job) tx.touched.add(row.run ?? row.jobId);
  return job;
}

type JobRun = Pick<RunFacts, "id" | "runId" | "agentId" | "threadId">;

/**
 * Put a run's resume jobs into its thread's mailbox, in the verb's own transaction. A key that is live already means that the
 * run will be looked at after this commit anyway, so it is no fault. Source: protocol §10.
 */
export async function enqueueResumes(tx: Tx, run: JobRun, jobs: readonly JobDraft[]): Promise<void> {
  if (jobs.length === 0) return;
  // Whoever moves it again has it stand still no longer.
  const moves = tx.sql`
    update runs set stalled_reason = null
    where workspace_id = ${tx.workspace} and id = ${run.id} and stalled_reason is not null`.execute();
  const inserts = jobs.map(({ ticketId, dedupeKey }) =>
    insertJob(tx, { ...ofRun(run), kind: "resume", origin: "Internal", ticketId, dedupeKey }),
  );
  await Promise.all([moves, ...inserts]);
}

/** Ask for a run to be looked at for the first time. */
export async function enqueueStart(tx: Tx, run: JobRun, origin: JobOrigin = "Internal"): Promise<void> {
  await insertJob(tx, { ...ofRun(run), kind: "resume", origin, dedupeKey: `start:${run.runId}` });
}

/**
 * What a run that has just ended owes its relatives: its parent looks at it again, its children are told. Jobs of theirs, so that
 * no verb holds two runs. A parent that is over already wants to hear nothing. Source: protocol §5 "Locks", §8.
 */
export async function enqueueNotices(tx: Tx, ended: RunFacts): Promise<void> {
  const relatives = await tx.sql<{ id: string; runId: string; agentId: string; threadId: string }[]>`
    select r.id, r.run_id, r.agent_id, r.thread_id from runs r
    where r.workspace_id = ${tx.workspace} and r.cause is null and (r.parent_run = ${ended.id}
      or (r.executor = 'worker' and r.id = (select parent_run from runs where workspace_id = ${tx.workspace} and id = ${ended.id})))`;
  for (const { id, agentId, threadId } of relatives) {
    await insertJob(tx, {
      mailboxId: threadId,
      agentId,
      kind: "notice",
      origin: "Internal",
      run: id,
      parentRunId: ended.delegation?.parent_run_id ?? null,
      dedupeKey: `ended:${ended.id}:${id}`,
    });
  }
}

function ofRun(run: JobRun) {
  return { mailboxId: run.threadId, agentId: run.agentId, run: run.id };
}
