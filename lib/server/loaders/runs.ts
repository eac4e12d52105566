import "server-only";
import type { RunFactsRecord } from "@/db/queries/run-facts";
import { type BatchCallRecord, type RunPageReading, readRunPage } from "@/db/queries/run-page";
import { readRuns } from "@/db/queries/runs-list";
import type { MessageRecord } from "@/db/queries/ticket-page";
import { readTrace } from "@/db/queries/trace";
import type { BatchView, RunFacts, RunPage, RunsPage, TracePage } from "@/lib/protocol/console-run-view";
import type { ThreadMessage } from "@/lib/protocol/console-view";
import { type Instant, msOf } from "@/lib/protocol/instant";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { CALLS_ROLE, readSaidCalls } from "@/lib/protocol/said-calls";
import { database } from "../database";
import { effectOf, storedJson } from "./effects";

const PAGE = 50;
const TRACE_WINDOW = 1_000;
const ARGUMENTS_SHOWN = 4_000;

export async function loadRuns(caller: Caller, query: URLSearchParams): Promise<RunsPage> {
  const filter = {
    state: query.get("state"),
    agent: query.get("agent"),
    stuck: query.get("stuck") === "true",
    expired: query.get("expired") === "true",
    text: query.get("q"),
  };
  const reading = await readRuns(await database(), caller.workspace, filter, PAGE, query.get("cursor"));
  return {
    rows: reading.rows.map((record) => ({ facts: runFacts(record), is_demo: record.isDemo, steps: record.steps })),
    next_cursor: reading.next,
    agents: reading.agents,
    runs_in_all: reading.runsInAll,
    searched_to_ms: at(reading.searchedTo),
    now_ms: msOf(reading.now),
  };
}

export async function loadRun(caller: Caller, runId: string): Promise<RunPage | null> {
  const reading = await readRunPage(await database(), caller.workspace, runId);
  return reading && runPage(caller, reading);
}

/** A window of the trace, oldest first. The browser checks the chain, so it gets the texts as they were hashed. */
export async function loadTrace(caller: Caller, runId: string, query: URLSearchParams): Promise<TracePage> {
  const after = Math.max(0, Number.parseInt(query.get("after") ?? "0", 10) || 0);
  const events = await readTrace(await database(), caller.workspace, runId, { after, most: TRACE_WINDOW });
  return {
    rows: events.map((event) => ({ seq: event.seq, hash: event.hash, event_text: event.text })),
    more: events.length === TRACE_WINDOW,
    now_ms: Date.now(),
  };
}

function runPage(caller: Caller, reading: RunPageReading): RunPage {
  return {
    now_ms: msOf(reading.now),
    workspace_id: caller.workspace,
    run_id: reading.facts.runId,
    facts: runFacts(reading.facts),
    is_demo: reading.facts.isDemo,
    thread_id: reading.threadId,
    snapshot_id: reading.snapshotId,
    works_for:
      reading.parentRunId === null
        ? null
        : {
            run_id: reading.parentRunId,
            agent: reading.parentAgent ?? "",
            call_ref: reading.facts.parentCall ?? "",
          },
    children: reading.children.map((child) => ({ call_ref: child.parentCall ?? "", facts: runFacts(child) })),
    children_in_all: reading.childrenInAll,
    rejected_signals: reading.rejectedSignals,
    refusals: reading.refusals,
    events: reading.events,
    batches: batchesOf(reading.calls),
    older_batches: reading.olderBatches,
    messages: reading.messages.map(threadMessage),
    may: { operate: may(caller, "cancel_run") === "yes", bundle: may(caller, "read_bundle") === "yes" },
  };
}

function at(moment: Instant | null): number | null {
  return moment === null ? null : msOf(moment);
}

export function threadMessage({ seq, role, text, bytes, at: moment }: MessageRecord): ThreadMessage {
  const calls = role === CALLS_ROLE ? readSaidCalls(text) : null;
  const shown = calls?.map((call) => ({
    name: call.name,
    arguments: call.argumentsText.slice(0, ARGUMENTS_SHOWN),
    bytes: Buffer.byteLength(call.argumentsText),
    call_ref: call.callRef,
  }));
  return { seq, role, text: calls === null ? text : "", bytes, at_ms: msOf(moment), calls: shown ?? null };
}

export function runFacts(record: RunFactsRecord): RunFacts {
  return {
    run_id: record.runId,
    agent: record.agent,
    executor: record.executor,
    state: record.state,
    cause: record.cause,
    cause_code: record.causeCode,
    ended_by: record.endedBy,
    ended_ms: at(record.endedAt),
    created_ms: msOf(record.createdAt),
    last_seen_ms: at(record.lastSeenAt),
    stalled_reason: record.stalledReason,
    resume_failed: record.resumeFailed === null ? null : wordsOf(record.resumeFailed),
    open_in_all: record.openInAll,
    open_tickets: record.openTickets.map((it) => ({
      ticket_id: it.ticketId,
      reason: it.reason,
      action: it.action ?? "pause",
      effect: effectOf(it.args, it.target),
      opened_ms: it.openedMs,
      deadline_ms: it.deadlineMs,
      expired_ms: it.expiredMs,
    })),
    live_calls: record.liveCalls.map((it) => ({
      call_ref: it.callRef,
      action: it.action,
      effect: effectOf(it.args, it.target),
      status: it.status,
      attempt: it.attempt,
      unreported: it.unreported,
      claimed_by: it.claimedBy,
      lease_until_ms: it.leaseUntilMs,
      effective_class: it.effectiveClass,
      allowed: it.allowedBy === null || it.allowedMs === null ? null : { by: it.allowedBy, at_ms: it.allowedMs },
      allow_valid_until_ms: it.allowValidUntilMs,
      ticket_id: it.ticketId,
    })),
    late_effects: record.lateEffects,
    decided:
      record.decided === null
        ? null
        : { verdict: record.decided.verdict, by: record.decided.actor, at_ms: record.decided.decidedMs },
    job: jobOf(record),
    worker_seen_ms: at(record.workerSeenAt),
  };
}

function jobOf({ job }: RunFactsRecord): RunFacts["job"] {
  if (job === null) return null;
  return {
    status: job.status,
    attempt_count: job.attemptCount,
    max_attempts: job.maxAttempts,
    last_error: job.lastError,
    claimed_by: job.claimedBy,
    lease_until_ms: job.leaseUntilMs,
    available_ms: job.availableMs,
    updated_ms: job.updatedMs,
  };
}

/** An error is any JSON; its own words when it is a text. */
function wordsOf(text: string): string {
  const value = storedJson(text);
  return typeof value === "string" ? value : text;
}

function batchesOf(calls: readonly BatchCallRecord[]): readonly BatchView[] {
  const steps = [...new Set(calls.map((call) => call.step))];
  return steps.map((step) => {
    const own = calls.filter((call) => call.step === step);
    const first = own[0];
    return {
      step,
      mode: first?.mode ?? "parallel",
      coupling: first?.coupling ?? "independent",
      calls: own.map(batchCall),
    };
  });
}

function batchCall(call: BatchCallRecord): BatchView["calls"][number] {
  return {
    call_ref: call.callRef,
    batch_index: call.batchIndex,
    action: call.action,
    effect: effectOf(call.args, call.target),
    status: call.status,
    outcome: call.outcome,
    outcome_cause: call.outcomeCause,
    decision:
      call.verdict === null || call.decidedBy === null || call.decidedAt === null
        ? null
        : { verdict: call.verdict, by: call.decidedBy, at_ms: msOf(call.decidedAt) },
    authorised_by: call.authorisedBy,
    rule_id: call.ruleId,
    attempt: call.attempt,
    claimed_by: call.claimedBy,
    lease_until_ms: at(call.leaseUntil),
    unreported: call.unreported,
    proposal_hash: call.proposalHash,
    ticket_id: call.ticketId,
    settled_by: call.settledBy,
  };
}
