import { isJobCursor, listJobs } from "@/db/queries/job-list";
import { cancelJob, interruptMailbox, requeueJob } from "@/db/store/mailbox/operate";
import type { Refused } from "@/db/store/refuse";
import { JOB_STATUSES, type Job, type JobStatus } from "@/lib/protocol/mailbox-job";
import { refusalAt } from "@/lib/protocol/refusals";
import {
  interruptedAnswer,
  type JobReasonBody,
  jobOrNoneAnswer,
  jobPageAnswer,
  jobReasonBody,
} from "@/lib/protocol/wire/jobs";
import { ok, type Result, refuse } from "@/lib/result";
import { defineDoor } from "../door";
import { jobJson } from "../job-answers";
import { limitOf, reach } from "../reading";

/** What an operator sees of the mailbox, and does to it. */

export const listJobsDoor = defineDoor({
  method: "GET",
  path: "/api/v1/jobs",
  summary:
    "Jobs of the mailbox: dead letters, claimed and queued ones in the order of claims, then what is over, newest first.",
  verb: "read_jobs",
  repeats: "none",
  query: {
    status: "Queued, Claimed, Accepted, DeadLetter, Cancelled or Superseded.",
    mailbox_id: "Only of this mailbox.",
    limit: "At most 200.",
    cursor: "From next_cursor of the page before.",
  },
  answer: jobPageAnswer,
  statuses: [200],
  open: async ({ db, caller, query }) => {
    const reaches = reach(caller, "read_jobs");
    if (!reaches.ok) return reaches;
    const limit = limitOf(query);
    if (!limit.ok) return limit;
    const status = query.get("status") ?? undefined;
    if (status !== undefined && !isStatus(status))
      return refuse(refusalAt("invalid_body", "?status", "no status of a job"));
    const filter = { status, mailboxId: query.get("mailbox_id") ?? undefined };
    const after = query.get("cursor");
    if (after !== null && !isJobCursor(after, filter))
      return refuse(refusalAt("invalid_body", "?cursor", "not a cursor of this list"));
    const page = await listJobs(db, caller.workspace, filter, limit.value, after);
    return ok({ status: 200, json: { items: page.jobs.map(jobJson), next_cursor: page.next } });
  },
});

function isStatus(text: string): text is JobStatus {
  return JOB_STATUSES.some((status) => status === text);
}

export const cancelJobDoor = defineDoor<JobReasonBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/cancel",
  summary: "Cancel a queued job. One that is claimed or over stays as it is, and none is returned.",
  verb: "cancel_job",
  repeats: "stored",
  body: jobReasonBody,
  answer: jobOrNoneAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) =>
    theJobOrNone(await cancelJob(scope, caller, params.job_id ?? "", body.reason)),
});

export const requeueJobDoor = defineDoor<JobReasonBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/requeue",
  summary: "Put a dead letter back with fresh attempts. Any other job stays as it is, and none is returned.",
  verb: "requeue_job",
  repeats: "stored",
  body: jobReasonBody,
  answer: jobOrNoneAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) =>
    theJobOrNone(await requeueJob(scope, caller, params.job_id ?? "", body.reason)),
});

function theJobOrNone(done: Result<Job | null, Refused>) {
  return done.ok ? ok({ status: 200 as const, json: { job: done.value === null ? null : jobJson(done.value) } }) : done;
}

export const interruptDoor = defineDoor<JobReasonBody>({
  method: "POST",
  path: "/api/v1/mailboxes/{mailbox_id}/interrupt",
  summary: "Raise the generation, supersede what is queued, and cancel the runs whose work it was.",
  verb: "interrupt_mailbox",
  repeats: "stored",
  body: jobReasonBody,
  answer: interruptedAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await interruptMailbox(scope, caller, params.mailbox_id ?? "", body.reason);
    if (!done.ok) return done;
    const { newGeneration, activeJob, superseded } = done.value;
    return ok({
      status: 200,
      json: {
        new_generation: newGeneration,
        active_job: activeJob === null ? null : jobJson(activeJob),
        superseded_count: superseded.length,
      },
    });
  },
});
