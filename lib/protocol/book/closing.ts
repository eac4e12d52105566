import { ok, type Result, refuse } from "@/lib/result";
import type { CallRef } from "../call";
import type { CanonicalJson } from "../canonical-json";
import { msOf } from "../instant";
import { type Refusal, refusal } from "../refusals";
import { cancelTicketOf, closeCall, followUp } from "./batch";
import { lapseOver } from "./begin";
import type { Book } from "./book";
import { type CallFacts, isNeverBegun, isTerminal, mayHaveHappened, type TicketFacts } from "./facts";
import { notAwaiting, runEnded } from "./refusing";
import { noteSignal, type SignalNote } from "./signals";
import { openTicket, pauseTerms } from "./waits";
import { keep } from "./words";

export interface Settlement {
  readonly verdict: "happened" | "did_not_happen";
  readonly output: CanonicalJson | null;
  readonly evidence: string;
}

/** A person says what became of an effect that nobody reported. Never back to approved. Source: protocol §6 "Settle". */
export function settleCall(book: Book, ref: CallRef, settlement: Settlement): Result<CallFacts, Refusal> {
  const call = book.call(ref);
  const isUnknown = call.status === "indeterminate" || (call.status === "approved" && call.unreported);
  if (!isUnknown)
    return refuse(refusal("not_indeterminate", { call_ref: ref, state: call.status, outcome: call.outcome }));
  const happened = settlement.verdict === "happened";
  const more = {
    result: happened ? settlement.output : null,
    settledBy: book.facts.actor,
    evidence: settlement.evidence,
  };
  const settled = happened
    ? book.complete(ref, "succeeded", "settled", more)
    : book.complete(ref, "failed", "effect_did_not_happen", more);
  book.note("state_transition", {
    call_ref: ref,
    from: call.status,
    to: "completed",
    outcome: settled.outcome,
    cause: settled.outcomeCause,
    attempt: call.attempt,
    evidence: keep(book, "evidence", settlement.evidence),
  });
  followUp(book, call.step);
  book.enqueue({ dedupeKey: `settled:${ref}`, ticketId: null });
  return ok(settled);
}

/** The run's own agent takes back a call that nobody has begun. Source: protocol §5 "Withdraw". */
export function withdraw(book: Book, ref: CallRef, reason: string): Result<CallFacts, Refusal> {
  const call = book.call(ref);
  if (isTerminal(call)) {
    if (call.outcomeCause === "withdrawn") return ok(call);
    if (book.run.cause !== null && call.outcomeCause === "run_ended") return refuse(runEnded(book));
    return refuse(refusal("result_conflict", { call_ref: ref, outcome: call.outcome, cause: call.outcomeCause }));
  }
  if (book.run.cause !== null) return refuse(runEnded(book));
  if (!isNeverBegun(call)) {
    return refuse(
      refusal("call_unfinished", { calls: [{ call_ref: ref, state: call.status, attempt: call.attempt }] }),
    );
  }
  cancelTicketOf(book, call, "withdrawn", "withdrawn");
  const closed = book.complete(ref, "cancelled", "withdrawn");
  book.note("state_transition", {
    call_ref: ref,
    from: call.status,
    to: "completed",
    outcome: "cancelled",
    cause: "withdrawn",
    reason: keep(book, "reason", reason),
  });
  followUp(book, call.step);
  book.enqueue({ dedupeKey: `withdrawn:${ref}`, ticketId: null });
  return ok(closed);
}

/** A deadline has passed and was noticed. Never an allow. Source: protocol §8. */
export function expireTicket(book: Book, ticket: TicketFacts): void {
  const ids = {
    ticket_id: ticket.id,
    call_ref: ticket.callRef,
    on_expiry: ticket.onExpiry,
    deadline_ms: ticket.deadlineMs,
  };
  if (ticket.onExpiry === "hold") {
    book.amendTicket(ticket.id, { expiredAt: book.now.at });
    book.note("ticket_expired", ids);
    return;
  }
  book.closeTicket(ticket, "expired", "expiry");
  book.note("ticket_expired", ids);
  const call = ticket.callRef === null ? null : book.call(ticket.callRef);
  if (ticket.onExpiry === "end_run") {
    book.end("cancelled", "expired");
    return;
  }
  if (call) closeCall(book, call, ticket.onExpiry === "deny" ? "blocked" : "cancelled", "expiry");
  if (call) followUp(book, call.step);
  book.enqueue({ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id });
}

/** What the clock has brought about and nobody has acted on yet; each is its own step before the verb that met it. */
export function actOnTime(book: Book): void {
  lapseOver(book);
  // In model order, so that which of two deadlines acts first is not left to chance.
  for (const ticket of book.openTickets().sort(inPlaceOrder)) {
    const current = book.ticketAt(ticket.id);
    if (current?.status === "open" && isDue(book, current)) expireTicket(book, current);
  }
}

function inPlaceOrder(a: TicketFacts, b: TicketFacts): number {
  return (a.callRef ?? "~").localeCompare(b.callRef ?? "~", "en", { numeric: true });
}

export function isDue(book: Book, ticket: TicketFacts): boolean {
  return ticket.deadlineMs !== null && ticket.expiredAt === null && book.now.ms > ticket.deadlineMs;
}

/**
 * A fresh ticket for the same call. An allow that nobody has begun is voided by it. The new deadline is as far off as the old one's
 * was, unless given. Source: protocol §8 "Replace".
 */
export function replaceTicket(
  book: Book,
  ticketId: string,
  reason: string,
  deadlineInMs: number | null,
): Result<TicketFacts, Refusal> {
  const ticket = book.ticketAt(ticketId);
  if (!ticket) throw new Error(`ticket ${ticketId} is not in the book`);
  if (book.run.cause !== null) return refuse(runEnded(book));
  const call = ticket.callRef === null ? null : book.call(ticket.callRef);
  const voids =
    ticket.status === "answered" &&
    call?.status === "approved" &&
    isNeverBegun(call) &&
    call.authorisation?.requestId === ticket.correlationId;
  if (ticket.status !== "open" && !voids) return refuse(notAwaiting(book, ticket));

  const length = ticket.deadlineMs === null ? null : ticket.deadlineMs - msOf(ticket.openedAt);
  const deadlineMs = deadlineInMs !== null ? book.now.ms + deadlineInMs : length === null ? null : book.now.ms + length;
  if (ticket.status === "open") book.closeTicket(ticket, "superseded", "replaced");
  else book.voidedDecisions.push(ticket.id);
  const parked =
    call && voids
      ? book.amend(call.callRef, {
          status: "awaiting",
          authorisation: null,
          effectiveAt: null,
          allowValidUntil: null,
          note: null,
        })
      : call;
  const terms = parked?.terms ?? { ...pauseTerms(ticket.prompt ?? ""), onExpiry: ticket.onExpiry };
  const successor = openTicket(book, parked, terms, { supersedes: ticket, deadlineMs });
  book.note("ticket_superseded", {
    ticket_id: ticket.id,
    call_ref: ticket.callRef,
    successor_ticket_id: successor.id,
    successor_request_id: successor.correlationId,
    voided_allow: voids,
    reason: keep(book, "reason", reason),
  });
  // What it waits for may have come while it could not be taken.
  if (successor.reason === "delegation") book.enqueue({ dedupeKey: `resume:${successor.id}`, ticketId: successor.id });
  return ok(successor);
}

/** The call ends and the model is told "cancelled"; siblings and the run go on. Source: protocol §8. */
export function cancelTicket(book: Book, ticketId: string, reason: string): Result<TicketFacts, Refusal> {
  const ticket = book.ticketAt(ticketId);
  if (!ticket) throw new Error(`ticket ${ticketId} is not in the book`);
  if (book.run.cause !== null) return refuse(runEnded(book));
  if (ticket.status !== "open") return refuse(notAwaiting(book, ticket));
  const closed = book.closeTicket(ticket, "cancelled", "cancelled");
  const call = ticket.callRef === null ? null : book.call(ticket.callRef);
  if (call) book.complete(call.callRef, "cancelled", "ticket_cancelled");
  book.note("ticket_cancelled", {
    ticket_id: ticket.id,
    call_ref: ticket.callRef,
    cause: "ticket_cancelled",
    reason: keep(book, "reason", reason),
  });
  if (call) followUp(book, call.step);
  book.enqueue({ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id });
  return ok(closed);
}

export function cancelRun(book: Book, reason: string, code: string | null = null): Result<null, Refusal> {
  if (book.run.cause !== null) return refuse(runEnded(book));
  keep(book, "reason", reason);
  book.end("cancelled", code);
  return ok(null);
}

export type FinishStatus = "completed" | "failed" | "stopped";

/** The agent says that it is done. What may have happened is never called a success. Source: protocol §5 "Finish". */
export function finish(
  book: Book,
  status: FinishStatus | "budget_exhausted",
  /** A controller's own end: the signal that asked for it, and why a run failed. */
  by: { readonly signal: SignalNote | null; readonly code: string | null } = { signal: null, code: null },
): Result<null, Refusal> {
  if (book.run.cause !== null) return refuse(runEnded(book));
  const open = book.openTickets();
  if (open.length > 0) {
    return refuse(
      refusal("run_awaiting", {
        tickets: open.map((ticket) => ({ ticket_id: ticket.id, request_id: ticket.correlationId })),
      }),
    );
  }
  const begun = book.calls().filter(mayHaveHappened);
  if (begun.length > 0 && status === "completed") {
    return refuse(
      refusal("call_unfinished", {
        calls: begun.map((call) => ({ call_ref: call.callRef, state: call.status, attempt: call.attempt })),
      }),
    );
  }
  if (by.signal) noteSignal(book, by.signal);
  book.end(begun.length > 0 ? "indeterminate" : status, begun.length > 0 ? status : by.code);
  return ok(null);
}
