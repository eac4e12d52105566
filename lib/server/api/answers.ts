import type { BatchRecord, CallRecord, DecisionRecord, RunHead, RunStateRecord } from "@/db/queries/run-state";
import type { TicketRecord } from "@/db/queries/tickets";
import type { StoredEvent } from "@/db/queries/trace";
import type { ProposedAnswer } from "@/db/store/propose";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { isObject, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { closedByJson } from "@/lib/protocol/ticket";
import { present } from "./problem";

/** Facts of the store as the API spells them. Each has its schema in `lib/protocol/wire`. */

export function runJson(run: RunHead): JsonObject {
  return present({
    run_id: run.runId,
    agent: run.agent,
    snapshot_id: run.snapshotId,
    catalog_fingerprint: run.catalogFingerprint,
    thread_id: run.threadId,
    executor: run.executor,
    state: run.state,
    cause: run.cause,
    cause_code: run.causeCode,
    resume_failed: jsonOrNull(run.resumeFailed),
    output: jsonOrAbsent(run.output),
    seq: run.seq,
    opened_at: run.openedAt,
  });
}

export function runStateJson({ run, batches, calls, tickets, decisions }: RunStateRecord): JsonObject {
  return {
    ...runJson(run),
    batches: batches.map((batch) => batchJson(batch, calls)),
    tickets: tickets.map(ticketJson),
    decisions: decisions.map(decisionJson),
  };
}

function batchJson({ step, mode, coupling }: BatchRecord, calls: readonly CallRecord[]): JsonObject {
  return { step, mode, coupling, calls: calls.filter((call) => call.step === step).map(callJson) };
}

export function callJson(call: CallRecord): JsonObject {
  return present({
    call_ref: call.callRef,
    call_id: call.callId,
    action: call.action,
    state: call.status,
    outcome: call.outcome ?? undefined,
    cause: call.outcomeCause ?? undefined,
    request_id: call.requestId ?? undefined,
    proposal_hash: call.proposalHash,
    attempt: call.attempt,
    output: jsonOrAbsent(call.result),
    error: jsonOrAbsent(call.error),
    late: call.late ? true : undefined,
  });
}

/** A call as a verb left it. */
export function callFactsJson(call: CallFacts): JsonObject {
  return callJson({ ...call, requestId: call.authorisation?.requestId ?? null });
}

export function proposedJson({ call, verdict, ticket }: ProposedAnswer, tickets: readonly TicketRecord[]): JsonObject {
  const record = tickets.find(({ id }) => id === ticket?.id);
  return present({
    call_ref: call.callRef,
    call_id: call.callId,
    proposal_hash: call.proposalHash,
    verdict,
    reason: verdict === "blocked" ? (call.outcomeCause ?? undefined) : undefined,
    rule: call.ruleId === null ? undefined : { id: call.ruleId, version: call.policyVersion ?? 0 },
    request_id: ticket?.correlationId ?? call.authorisation?.requestId,
    ticket: record && ticketJson(record),
  });
}

export function ticketJson(ticket: TicketRecord): JsonObject {
  return present({
    ticket_id: ticket.id,
    correlation_id: ticket.correlationId,
    request_id: ticket.correlationId,
    run_id: ticket.runId,
    thread_id: ticket.threadId,
    snapshot_id: ticket.snapshotId,
    catalog_fingerprint: ticket.catalogFingerprint,
    delegation_origin: jsonOrAbsent(ticket.delegationOrigin),
    target: targetJson(ticket),
    status: ticket.status,
    opened_at: ticket.openedAt,
    deadline_ms: ticket.deadlineMs,
    expired_at: ticket.expiredAt,
    prompt: ticket.prompt,
    schema: jsonOrNull(ticket.schema),
    options: jsonOrNull(ticket.options),
    proposal_hash: ticket.proposalHash,
    closed_by: closedJson(ticket),
    successor_ticket_id: ticket.successor,
  });
}

function targetJson({ kind, reason, callRef, toolId, args }: TicketRecord): JsonObject {
  return present({
    kind,
    reason,
    callId: callRef ?? undefined,
    tool: toolId === null ? undefined : { toolId, arguments: jsonOrNull(args) },
  });
}

function closedJson(ticket: TicketRecord): JsonValue {
  const { closedByKind: kind, closedAt: at, closedByActor: actor, closedByVerdict: verdict, successor } = ticket;
  if (kind === null || at === null) return null;
  return closedByJson({
    kind,
    at,
    ...(actor === null ? {} : { actor }),
    ...(verdict === null ? {} : { verdict }),
    ...(successor === null ? {} : { successor_ticket_id: successor }),
  });
}

/** By whom is a display name: no e-mail, session or digest is ever told. */
export function decisionJson(decision: DecisionRecord): JsonObject {
  const { verdict } = decision;
  const isVerdict = verdict === "allow" || verdict === "deny";
  return present({
    call_ref: decision.callRef,
    request_id: decision.requestId,
    kind: kindOf(verdict),
    decision: isVerdict || verdict === "continue" ? verdict : undefined,
    answer: isVerdict ? undefined : jsonOrAbsent(decision.result),
    payload: isVerdict ? jsonOrAbsent(decision.result) : undefined,
    note: decision.note ?? undefined,
    reason: decision.reason ?? undefined,
    at: decision.at,
    by: decision.by,
  });
}

export function kindOf(verdict: string): string {
  if (verdict === "allow" || verdict === "deny") return "permission";
  return verdict === "answer" ? "input" : verdict;
}

/** An event as it was hashed, with its hash beside it: without `hash`, in canonical form, it hashes to it. */
export function eventJson({ text, hash }: StoredEvent): JsonObject {
  const event = stored(text);
  if (!isObject(event)) throw new Error("a trace event is no object");
  return { ...event, hash };
}

function jsonOrAbsent(text: string | null): JsonValue | undefined {
  return text === null ? undefined : stored(text);
}

function jsonOrNull(text: string | null): JsonValue {
  return text === null ? null : stored(text);
}
