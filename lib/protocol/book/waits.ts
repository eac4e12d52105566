import { canonicalJson } from "../canonical-json";
import { pauseProposal, proposalHash } from "../proposal";
import { type ResumeTicket, type TicketView, ticketView } from "../ticket";
import type { TicketStanding } from "../validate-resume";
import { awaitTarget } from "./await-facts";
import type { Book } from "./book";
import type { CallFacts, TicketFacts, WaitTerms } from "./facts";
import { stored } from "./stored";

/** Everything that opens a ticket goes through here: the first wait, a queued call's turn, a successor. */
export function openTicket(
  book: Book,
  call: CallFacts | null,
  terms: WaitTerms,
  more: { readonly supersedes?: TicketFacts; readonly deadlineMs?: number | null } = {},
): TicketFacts {
  const { run, now } = book;
  const deadlineMs =
    more.deadlineMs !== undefined ? more.deadlineMs : terms.deadlineInMs === null ? null : now.ms + terms.deadlineInMs;
  const ticket = book.addTicket({
    id: book.facts.newId(),
    correlationId: correlationId(book, call),
    callRef: call?.callRef ?? null,
    kind: terms.kind,
    reason: terms.reason,
    toolId: terms.kind === "tool_call" && call ? call.action : null,
    snapshotId: run.snapshotId,
    catalogFingerprint: run.catalogFingerprint,
    delegation: run.delegation,
    revision: 1,
    status: "open",
    supersedes: more.supersedes?.id ?? null,
    successor: null,
    openedAt: now.at,
    deadlineMs,
    expiredAt: null,
    onExpiry: terms.onExpiry,
    allowValidMs: terms.allowValidMs,
    // A successor is decided as strictly as what it replaces.
    undoMs: more.supersedes?.undoMs ?? 0,
    quorumNeeded: more.supersedes?.quorumNeeded ?? 1,
    prompt: terms.prompt,
    schema: terms.schema,
    options: terms.options,
    risk: terms.risk,
    onDeny: call?.onDeny ?? "continue",
    ruleId: call?.ruleId ?? null,
    ruleVersion: call?.ruleId ? call.policyVersion : null,
    closedByKind: null,
    closedByActor: null,
    closedByVerdict: null,
    closedAt: null,
  });
  if (more.supersedes) linkSuccessor(book, more.supersedes, ticket);
  return ticket;
}

/** The command line's requests are named after their run; every other wait has an id of its own. Source: http-api "Command line". */
function correlationId(book: Book, call: CallFacts | null): string {
  if (book.run.executor !== "cli" || !call) return book.facts.newId();
  const earlier = book.tickets().filter((ticket) => ticket.callRef === call.callRef).length;
  return `approval:${book.run.runId}${earlier === 0 ? "" : `:${earlier + 1}`}`;
}

/** The old row may be closed for good, so the link is read from the successor's `supersedes`; the book keeps both ends. */
function linkSuccessor(book: Book, old: TicketFacts, successor: TicketFacts): void {
  const changedBefore = book.changedTickets.has(old.id);
  book.amendTicket(old.id, { successor: successor.id });
  if (!changedBefore) book.changedTickets.delete(old.id);
}

export function pauseTerms(reason: string): WaitTerms {
  return {
    kind: "pause",
    reason: "manual",
    deadlineInMs: null,
    onExpiry: "hold",
    allowValidMs: null,
    prompt: reason,
    schema: null,
    options: null,
    risk: "low",
  };
}

/** The ticket as the protocol's type, built from committed facts alone. Source: protocol §4. */
export function resumeTicket(book: Book, ticket: TicketFacts): ResumeTicket {
  return {
    ticket_id: ticket.id,
    correlation_id: ticket.correlationId,
    run_id: book.run.runId,
    thread_id: book.run.threadId,
    snapshot_id: ticket.snapshotId,
    catalog_fingerprint: ticket.catalogFingerprint,
    delegation_origin: ticket.delegation,
    target: awaitTarget(ticket, ticket.callRef ? book.call(ticket.callRef) : null),
    deadline_ms: ticket.deadlineMs,
    prompt: ticket.prompt,
    schema: ticket.schema,
    options: ticket.options,
  };
}

/** What `validateResume` judges an answer by. */
export function standingOf(book: Book, ticket: TicketFacts): TicketStanding {
  const { run } = book;
  const call = ticket.callRef ? book.call(ticket.callRef) : null;
  return {
    ticket: resumeTicket(book, ticket),
    status: ticket.status,
    closed_by:
      ticket.closedByKind && ticket.closedAt
        ? {
            kind: ticket.closedByKind,
            at: ticket.closedAt,
            ...(ticket.closedByActor === null ? {} : { actor: ticket.closedByActor }),
            ...(ticket.closedByVerdict === null ? {} : { verdict: ticket.closedByVerdict }),
            ...(ticket.successor === null ? {} : { successor_ticket_id: ticket.successor }),
          }
        : null,
    run_ended:
      run.cause && run.endedAt
        ? { cause: run.cause, code: run.causeCode, by: run.endedBy ?? "", at: run.endedAt }
        : null,
    call_id: call?.callId ?? null,
    resume_mode: ticket.kind === "tool_call" ? (call?.resumeMode ?? null) : null,
  };
}

/** Exactly what an approver is shown. Source: protocol §2 "View digest". */
export function viewOf(book: Book, ticket: TicketFacts): TicketView {
  const call = ticket.callRef ? book.call(ticket.callRef) : null;
  const proposal = call
    ? { action: call.action, args: stored(call.args), output: stored(call.target) }
    : pauseProposal(ticket.prompt ?? "");
  return ticketView({
    workspace_id: book.run.workspaceId,
    ticket_id: ticket.id,
    revision: ticket.revision,
    correlation_id: ticket.correlationId,
    agent: book.run.agent,
    run_id: book.run.runId,
    call_ref: ticket.callRef,
    proposal,
    proposal_hash:
      call?.proposalHash ?? proposalHash(proposal.action, canonicalJson(proposal.args), canonicalJson(proposal.output)),
    sealed: [],
    rule: ticket.ruleId === null ? null : { id: ticket.ruleId, version: ticket.ruleVersion ?? 0 },
    deadline_ms: ticket.deadlineMs,
    risk: ticket.risk,
    catalog_fingerprint: ticket.catalogFingerprint,
  });
}
