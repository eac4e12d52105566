import { z } from "zod";
import { JOB_KINDS, JOB_ORIGINS, JOB_STATUSES } from "../mailbox-job";
import { agentName } from "./agents";
import { epochMs, instant, json, leaseMs, messages, textOf, words, workerId } from "./parts";

const claimToken = textOf(1, 128).meta({ description: "From the claim; every write of the job carries it." });

/** POST /mailboxes/{mailbox_id}/jobs. The job waits for a worker that claims over HTTP. */
export const enqueueBody = z.strictObject({
  agent: agentName.optional(),
  messages,
  origin: z.enum(JOB_ORIGINS).optional(),
  sender_id: textOf(1, 256).optional(),
  parent_run_id: textOf(1, 128).optional(),
  request_extras: json.optional(),
  priority: z.int().min(0).max(255).optional(),
  dedupe_key: textOf(1, 256).optional(),
  available_at_ms: epochMs.optional(),
  max_attempts: z.int().min(1).max(100).optional(),
});
export type EnqueueBody = z.output<typeof enqueueBody>;

export const claimBody = z.strictObject({
  worker: workerId,
  lease_ms: leaseMs.optional(),
  most: z.int().min(1).max(100).optional(),
});
export type ClaimBody = z.output<typeof claimBody>;

export const ackBody = z.strictObject({ claim_token: claimToken });
export type AckBody = z.output<typeof ackBody>;

export const nackBody = z.strictObject({ claim_token: claimToken, error: words, permanent: z.boolean().optional() });
export type NackBody = z.output<typeof nackBody>;

export const deferBody = z.strictObject({ claim_token: claimToken, until_ms: epochMs });
export type DeferBody = z.output<typeof deferBody>;

export const extendBody = z.strictObject({ claim_token: claimToken, lease_ms: leaseMs.optional() });
export type ExtendBody = z.output<typeof extendBody>;

export const jobReasonBody = z.strictObject({ reason: words });
export type JobReasonBody = z.output<typeof jobReasonBody>;

export const jobAnswer = z.strictObject({
  job_id: z.string(),
  mailbox_id: z.string(),
  agent: z.string().nullable(),
  kind: z.enum(JOB_KINDS),
  run_id: z.string().nullable(),
  ticket_id: z.string().nullable(),
  messages: json,
  origin: z.enum(JOB_ORIGINS),
  sender_id: z.string().nullable(),
  parent_run_id: z.string().nullable(),
  request_extras: json,
  priority: z.int(),
  dedupe_key: z.string().nullable(),
  generation: z.int(),
  status: z.enum(JOB_STATUSES),
  available_at: instant,
  attempt_count: z.int(),
  max_attempts: z.int(),
  last_error: z.string().nullable(),
  claimed_by: z.string().nullable(),
  lease_until: instant.nullable(),
  created_at: instant,
  updated_at: instant,
  /** Only in the answer to the claim that it is of. */
  claim_token: z.string().optional(),
});

export const jobPageAnswer = z.strictObject({ items: z.array(jobAnswer), next_cursor: z.string().nullable() });
export const claimedAnswer = z.strictObject({ jobs: z.array(jobAnswer) });
/** The job, or null: it was not in a state that could be left so, and stays as it is. */
export const jobOrNoneAnswer = z.strictObject({ job: jobAnswer.nullable() });
export const interruptedAnswer = z.strictObject({
  new_generation: z.int(),
  active_job: jobAnswer.nullable(),
  superseded_count: z.int(),
});
