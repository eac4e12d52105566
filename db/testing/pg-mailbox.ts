import type { Db } from "@/db/client";
import { listJobs } from "@/db/queries/job-list";
import { busyMailboxes, countJobs, findJob, generationOf } from "@/db/queries/mailbox";
import { claimJobs } from "@/db/store/mailbox/claim";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { cancelJob, interruptMailbox, requeueJob } from "@/db/store/mailbox/operate";
import { ackJob, deferJobBy, extendJob, nackJob, recordJobResult, startJob } from "@/db/store/mailbox/report";
import { purgeJobs, sweepClaims } from "@/db/store/mailbox/sweep";
import type { Refused } from "@/db/store/refuse";
import type { Caller } from "@/lib/protocol/principal";
import type { Result } from "@/lib/result";
import type { Claimed, Mailbox, Refusable } from "./mailbox";

/** Our mailbox on PostgreSQL, as the conformance suite wants it. `operator` is who may operate it. */
export function pgMailbox(db: Db, worker: Caller, operator: Caller): Mailbox {
  const { workspace } = worker;
  const claim = async (wanted: Omit<Parameters<typeof claimJobs>[2], "outside">): Promise<Claimed | null> => {
    const [held] = orThrow(await claimJobs(db, worker, { ...wanted, outside: false }));
    if (!held) return null;
    const { token, workspace: _, ...job } = held;
    return { job, jobId: job.jobId, token };
  };
  return {
    enqueue: async ({ availableInMs, origin = "User", ...request }) =>
      orCode(
        await enqueueJob(db, worker, {
          ...request,
          origin,
          availableAtMs: availableInMs === undefined ? null : Date.now() + availableInMs,
        }),
      ),
    claim: (claimer, leaseMs, mailboxId) =>
      claim({ claimer, leaseMs, ...(mailboxId === undefined ? {} : { mailboxId }) }),
    claimById: (jobId, claimer, leaseMs) => claim({ claimer, leaseMs, jobId }),
    ack: async (held) => orCode(await ackJob(db, worker, held)),
    nack: async (held, error, permanent = false) => orCode(await nackJob(db, worker, held, { error, permanent })),
    defer: async (held, delayMs) => orCode(await deferJobBy(db, worker, held, delayMs)),
    extend: async (held, leaseMs) => orCode(await extendJob(db, worker, held, leaseMs)),
    start: async (held) => orCode(await startJob(db, worker, held)),
    recordResult: async (held, result) => orCode(await recordJobResult(db, worker, held, result)),
    cancel: async (jobId) => orCode(await cancelJob(db, operator, jobId, "no longer wanted")),
    requeue: async (jobId) => orCode(await requeueJob(db, operator, jobId, "the cause is repaired")),
    interrupt: async (mailboxId) => orCode(await interruptMailbox(db, operator, mailboxId, "something more urgent")),
    sweep: () => sweepClaims(db, async () => worker),
    purge: (olderThanMs) => purgeJobs(db, olderThanMs),
    job: (jobId) => findJob(db, workspace, jobId),
    list: (filter, limit, cursor) => listJobs(db, workspace, filter, limit, cursor ?? null),
    counts: async () => (await countJobs(db, workspace)).counts,
    queuedMailboxes: async () =>
      (await busyMailboxes(db, workspace, 1_000)).boxes.flatMap((box) => (box.queued > 0 ? [box.mailboxId] : [])),
    generation: (mailboxId) => generationOf(db, workspace, mailboxId),
  };
}

function orCode<Value>(result: Result<Value, Refused>): Refusable<Value> {
  return result.ok ? result.value : { refused: result.refusal.code };
}

function orThrow<Value>(result: Result<Value, Refused>): Value {
  if (!result.ok) throw new Error(`refused: ${result.refusal.code}`);
  return result.value;
}
