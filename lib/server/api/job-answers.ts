import { stored } from "@/lib/protocol/book/stored";
import type { JsonObject, JsonValue } from "@/lib/protocol/canonical-json";
import type { Job } from "@/lib/protocol/mailbox-job";

/** A job as the API spells it: without its token, which only its holder is told. */
export function jobJson(job: Job): JsonObject {
  return {
    job_id: job.jobId,
    mailbox_id: job.mailboxId,
    agent: job.agent,
    kind: job.kind,
    run_id: job.runId,
    ticket_id: job.ticketId,
    messages: jsonOf(job.messages),
    origin: job.origin,
    sender_id: job.senderId,
    parent_run_id: job.parentRunId,
    request_extras: jsonOf(job.requestExtras),
    priority: job.priority,
    dedupe_key: job.dedupeKey,
    generation: job.generation,
    status: job.status,
    available_at: job.availableAt,
    attempt_count: job.attemptCount,
    max_attempts: job.maxAttempts,
    last_error: job.lastError,
    claimed_by: job.claimedBy,
    lease_until: job.leaseUntil,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
  };
}

function jsonOf(text: string | null): JsonValue {
  return text === null ? null : stored(text);
}
