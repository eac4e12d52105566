import type { OutcomeCause } from "../call";
import { type Behaviour, evaluatePolicy } from "../permission-rule";
import type { Book } from "./book";
import { type CallFacts, isNeverBegun, isTerminal } from "./facts";
import { openTicket } from "./waits";

/** Outcomes that, in an `all_or_nothing` batch, close every never begun sibling. Source: protocol §5 "Batch". */
const COUPLING_CAUSES: readonly OutcomeCause[] = [
  "person",
  "expiry",
  "rule",
  "blocked_by_rule",
  "repeat_of_denied",
  "ticket_cancelled",
  "withdrawn",
];

/**
 * A call whose policy said `allow`, or whose turn came and a rule lets it pass. The request id names the rule's authorisation,
 * so that every approved call has exactly one. Source: protocol §1 "Authorisation".
 */
export function approveByRule(book: Book, call: CallFacts, ruleId: string | null): CallFacts {
  const approved = book.amend(call.callRef, {
    status: "approved",
    ruleId,
    policyVersion: book.policy.version,
    authorisation: {
      by: "rule",
      requestId: `rule:${book.run.runId}:${call.callRef}`,
      hash: call.proposalHash,
      policyVersion: book.policy.version,
      at: book.now.at,
    },
  });
  book.note("policy_evaluated", {
    call_ref: call.callRef,
    behaviour: "allow",
    rule: ruleId,
    policy_version: book.policy.version,
  });
  book.enqueue({ dedupeKey: `resume:${call.callRef}`, ticketId: null });
  return approved;
}

/** A rule's allow is an act's. What waits for somebody's answer has nothing that could be executed. */
export function passesByRule(call: CallFacts, behaviour: Behaviour): boolean {
  return behaviour === "allow" && call.terms.reason === "permission";
}

export function blockByRule(book: Book, call: CallFacts, cause: OutcomeCause, ruleId: string | null): void {
  book.complete(call.callRef, "blocked", cause, { ruleId, policyVersion: book.policy.version });
  book.note("policy_evaluated", {
    call_ref: call.callRef,
    behaviour: "deny",
    rule: ruleId,
    policy_version: book.policy.version,
    ...(cause === "repeat_of_denied" ? { cause } : {}),
  });
}

/** Close a call that has no open ticket to say why, and say it. */
export function closeCall(book: Book, call: CallFacts, outcome: "blocked" | "cancelled", cause: OutcomeCause): void {
  book.complete(call.callRef, outcome, cause);
  book.note("state_transition", { call_ref: call.callRef, from: call.status, to: "completed", outcome, cause });
}

/** Close a call's open ticket for a reason that is no decision on it. */
export function cancelTicketOf(book: Book, call: CallFacts, by: "cancelled" | "withdrawn", cause: OutcomeCause): void {
  const ticket = book.openTicketOf(call.callRef);
  if (!ticket) return;
  book.closeTicket(ticket, "cancelled", by);
  book.note("ticket_cancelled", { ticket_id: ticket.id, call_ref: call.callRef, cause });
}

/**
 * What the end of one call means for its batch: under `all_or_nothing` its never begun siblings go with it, and only then is the
 * next queued call of a sequential batch opened. Source: protocol §5 "Batch".
 */
export function followUp(book: Book, step: number): void {
  if (book.run.cause !== null) return;
  closeCoupled(book, step);
  openNextQueued(book, step);
  if (book.run.executor === "cli") endWithOnlyCall(book, step);
}

function closeCoupled(book: Book, step: number): void {
  if (book.batch(step).coupling !== "all_or_nothing") return;
  const calls = book.callsOf(step);
  const fell = calls.some((call) => call.outcomeCause !== null && COUPLING_CAUSES.includes(call.outcomeCause));
  if (!fell) return;
  for (const call of calls) {
    if (isTerminal(call) || !isNeverBegun(call)) continue;
    cancelTicketOf(book, call, "cancelled", "sibling_denied");
    closeCall(book, book.call(call.callRef), "cancelled", "sibling_denied");
  }
}

function openNextQueued(book: Book, step: number): void {
  if (book.batch(step).mode !== "sequential") return;
  for (const { callRef } of placesOf(book, step)) {
    // As it stands now: a rule's deny on the way closes the coupled calls behind it.
    const call = book.call(callRef);
    if (isTerminal(call)) continue;
    if (call.status !== "queued") return;
    const { behaviour, rule } = evaluatePolicy(book.policy, call.action);
    if (behaviour === "deny") {
      blockByRule(book, call, "rule", rule?.id ?? null);
      closeCoupled(book, step);
      continue;
    }
    if (passesByRule(call, behaviour)) {
      approveByRule(book, call, rule?.id ?? null);
      return;
    }
    const waiting = book.amend(call.callRef, {
      status: "awaiting",
      ruleId: rule?.id ?? null,
      policyVersion: book.policy.version,
    });
    const ticket = openTicket(book, waiting, waiting.terms);
    book.note("pending_recorded", { call_ref: call.callRef, ticket_id: ticket.id, request_id: ticket.correlationId });
    return;
  }
}

/** The batch in model order, each place once: an edited call stands for the one that it replaced. */
export function placesOf(book: Book, step: number): CallFacts[] {
  const newest = new Map<number, CallFacts>();
  for (const call of book.callsOf(step)) newest.set(call.batchIndex, call);
  return [...newest.values()].map((call) => book.call(call.callRef));
}

/** A run of the command line ends with its only call. Source: protocol §6 "C12". */
function endWithOnlyCall(book: Book, step: number): void {
  const call = placesOf(book, step).at(0);
  if (!call || !isTerminal(call)) return;
  if (call.outcome === "succeeded") book.end("completed");
  else if (call.outcome === "failed") book.end("failed", call.outcomeCause);
  else book.end("stopped", call.outcomeCause);
}
