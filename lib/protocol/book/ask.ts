import { ok, type Result, refuse } from "@/lib/result";
import type { CallRef } from "../call";
import { type Refusal, refusal } from "../refusals";
import type { RunState } from "../run";
import type { Book } from "./book";
import type { CallFacts, TicketFacts } from "./facts";
import { closeNotPickedUp, type ProposedCall, refuseStep, requestedCall } from "./propose";
import { runEnded } from "./refusing";
import { noteSignal, type SignalNote } from "./signals";
import { openTicket, pauseTerms } from "./waits";
import { keep, reference } from "./words";

export interface AskRecord {
  /** The call recorded under this `call_id` as a question or event, if any. */
  readonly recorded: CallRef | null;
  readonly highest: number;
}

export interface Asked {
  readonly call: CallRef;
  readonly fromRecord: boolean;
}

/**
 * A question to a person, or a wait for the agent's own event: a step of one call. Its identity is `(run, call_id)`, so the same
 * content again is answered with the ticket or its answer. Source: http-api "Calls and waits".
 */
export function ask(
  book: Book,
  question: ProposedCall,
  record: AskRecord,
  state: { readonly sha256: string; readonly format: string; readonly version: string } | null,
  messages: number,
  /** The signal by which a controller asks: its wait leaves the five events of protocol §9. */
  signal: SignalNote | null = null,
): Result<Asked, Refusal> {
  const step = record.highest + 1;
  const requested = requestedCall(book, question, step, 0);
  if (record.recorded) {
    const known = book.call(record.recorded);
    if (known.proposalHash === requested.proposalHash) return ok({ call: known.callRef, fromRecord: true });
    return refuse(
      refusal("batch_conflict", {
        call_ref: known.callRef,
        supplied_hash: requested.proposalHash,
        stored_hash: known.proposalHash,
      }),
    );
  }
  const closed = refuseStep(book, step, record.highest);
  if (closed) return refuse(closed);

  if (signal) noteSignal(book, signal);
  const before = book.state;
  book.addBatch({
    step,
    mode: "parallel",
    coupling: "independent",
    contentHash: requested.proposalHash,
    stateSha256: state?.sha256 ?? null,
  });
  book.note("checkpoint_saved", {
    step,
    snapshot_id: book.run.snapshotId,
    catalog_fingerprint: book.run.catalogFingerprint,
    messages,
    state: state && { sha256: state.sha256, format: state.format, version: state.version },
  });
  const call = book.addCall({ ...requested, status: "awaiting" });
  const ticket = openTicket(book, call, call.terms);
  book.note("proposal_recorded", {
    call_ref: call.callRef,
    action: call.action,
    proposal_hash: call.proposalHash,
    verdict: "awaiting",
    rule: null,
    policy_version: book.policy.version,
    args: reference(call.args, `call:${call.callRef}:args`),
    output: reference(call.target, `call:${call.callRef}:output`),
    ticket_id: ticket.id,
    request_id: ticket.correlationId,
  });
  closeNotPickedUp(book, step);
  if (signal) noteExit(book, call, ticket, before);
  return ok({ call: call.callRef, fromRecord: false });
}

/** That the run waits, on what, and that its loop was left. Source: protocol §9, [S1 C11]. */
function noteExit(book: Book, call: CallFacts, ticket: TicketFacts, before: RunState): void {
  book.note("state_transition", { from: before, to: book.state, cause: "request_user_input" });
  book.note("pending_recorded", {
    call_ref: call.callRef,
    ticket_id: ticket.id,
    request_id: ticket.correlationId,
  });
  book.note("run_exited", { step: call.step, state: book.state });
}

/** Pause the run by hand; an open pause is the answer to a second one. */
export function pause(book: Book, reason: string): Result<{ ticket: TicketFacts; fromRecord: boolean }, Refusal> {
  if (book.run.cause) return refuse(runEnded(book));
  const open = book.openPause();
  if (open) return ok({ ticket: open, fromRecord: true });
  const ticket = openTicket(book, null, pauseTerms(reason));
  book.note("pending_recorded", {
    ticket_id: ticket.id,
    request_id: ticket.correlationId,
    target: { kind: ticket.kind, reason: ticket.reason },
    reason: keep(book, "reason", reason),
  });
  return ok({ ticket, fromRecord: false });
}
