import { inWorkspaceByKey } from "@/db/client";
import { findAgent, newestHosted } from "@/db/queries/agents";
import { type ClaimWanted, claimJobs } from "@/db/store/mailbox/claim";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { ackJob, deferJob, extendJob, nackJob } from "@/db/store/mailbox/report";
import type { Refused } from "@/db/store/refuse";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import type { Job } from "@/lib/protocol/mailbox-job";
import { refusalAt } from "@/lib/protocol/refusals";
import {
  type AckBody,
  ackBody,
  type ClaimBody,
  claimBody,
  claimedAnswer,
  type DeferBody,
  deferBody,
  type EnqueueBody,
  type ExtendBody,
  enqueueBody,
  extendBody,
  jobAnswer,
  type NackBody,
  nackBody,
} from "@/lib/protocol/wire/jobs";
import { ok, type Result, refuse } from "@/lib/result";
import { type DoorVisit, defineDoor, type Opened } from "../door";
import { jobJson } from "../job-answers";

/** The mailbox for workers in any language. They claim what came in over HTTP; our own workers claim the runs that run here. */

export const enqueueDoor = defineDoor<EnqueueBody>({
  method: "POST",
  path: "/api/v1/mailboxes/{mailbox_id}/jobs",
  summary:
    "Put a request into a mailbox. It is durable when this answers. For an agent that runs here our worker opens a run on the mailbox's thread; every other request waits for a worker that claims over HTTP.",
  verb: "enqueue_job",
  repeats: "stored",
  body: enqueueBody,
  answer: jobAnswer,
  statuses: [201],
  open: async ({ scope, caller, params, body }) => {
    const agentId = body.agent === undefined ? null : await findAgent(scope, caller.workspace, body.agent);
    if (body.agent !== undefined && agentId === null)
      return refuse(refusalAt("invalid_body", "agent", "no such agent in this workspace"));
    const runsHere =
      body.agent !== undefined &&
      (await inWorkspaceByKey(scope, caller.workspace, (tx) => newestHosted(tx, body.agent ?? ""))) !== null;
    const done = await enqueueJob(scope, caller, {
      mailboxId: params.mailbox_id ?? "",
      outside: !runsHere,
      agentId,
      origin: body.origin ?? "User",
      messages: body.messages === undefined ? null : canonicalJson(body.messages.map((said) => ({ ...said }))),
      requestExtras: body.request_extras === undefined ? null : canonicalJson(body.request_extras),
      senderId: body.sender_id ?? null,
      parentRunId: body.parent_run_id ?? null,
      dedupeKey: body.dedupe_key ?? null,
      availableAtMs: body.available_at_ms ?? null,
      ...(body.priority === undefined ? {} : { priority: body.priority }),
      ...(body.max_attempts === undefined ? {} : { maxAttempts: body.max_attempts }),
    });
    return done.ok ? ok({ status: 201, json: jobJson(done.value) }) : done;
  },
});

async function claim(
  { scope, caller, body }: DoorVisit<ClaimBody>,
  of: Pick<ClaimWanted, "mailboxId">,
): Promise<Opened> {
  const done = await claimJobs(scope, caller, {
    ...of,
    outside: true,
    claimer: body.worker,
    ...(body.lease_ms === undefined ? {} : { leaseMs: body.lease_ms }),
    ...(body.most === undefined ? {} : { most: body.most }),
  });
  if (!done.ok) return done;
  return ok({ status: 200, json: { jobs: done.value.map((job) => ({ ...jobJson(job), claim_token: job.token })) } });
}

export const claimDoor = defineDoor<ClaimBody>({
  method: "POST",
  path: "/api/v1/jobs/claim",
  summary: "Claim what comes first in any mailbox, each of another one. An empty list: nothing is due.",
  verb: "claim_job",
  repeats: "stored",
  body: claimBody,
  answer: claimedAnswer,
  statuses: [200],
  open: (visit) => claim(visit, {}),
});

export const claimInMailboxDoor = defineDoor<ClaimBody>({
  method: "POST",
  path: "/api/v1/mailboxes/{mailbox_id}/claim",
  summary: "Claim what comes first in one mailbox. An empty list: nothing is due, or its job is claimed already.",
  verb: "claim_job",
  repeats: "stored",
  body: claimBody,
  answer: claimedAnswer,
  statuses: [200],
  open: (visit) => claim(visit, { mailboxId: visit.params.mailbox_id ?? "" }),
});

function held(params: Readonly<Record<string, string>>, body: { readonly claim_token: string }) {
  return { jobId: params.job_id ?? "", token: body.claim_token };
}

function theJob(done: Result<Job, Refused>): Opened {
  return done.ok ? ok({ status: 200 as const, json: jobJson(done.value) }) : done;
}

export const ackDoor = defineDoor<AckBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/ack",
  summary: "Delivered. It never says that the work succeeded.",
  verb: "report_job",
  repeats: "own",
  body: ackBody,
  answer: jobAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => theJob(await ackJob(scope, caller, held(params, body))),
});

export const nackDoor = defineDoor<NackBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/nack",
  summary: "The worker failed: again after a back-off, or a dead letter.",
  verb: "report_job",
  repeats: "own",
  body: nackBody,
  answer: jobAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const failure = { error: body.error, permanent: body.permanent ?? false };
    return theJob(await nackJob(scope, caller, held(params, body), failure));
  },
});

export const deferDoor = defineDoor<DeferBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/defer",
  summary: "Not now: to a time, without counting an attempt.",
  verb: "report_job",
  repeats: "own",
  body: deferBody,
  answer: jobAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) =>
    theJob(await deferJob(scope, caller, held(params, body), body.until_ms)),
});

export const extendDoor = defineDoor<ExtendBody>({
  method: "POST",
  path: "/api/v1/jobs/{job_id}/extend",
  summary: "Move the lease of a live claim.",
  verb: "report_job",
  repeats: "own",
  body: extendBody,
  answer: jobAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) =>
    theJob(await extendJob(scope, caller, held(params, body), body.lease_ms)),
});
