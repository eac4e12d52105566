import { ok, type Result, refuse } from "@/lib/result";
import type { SatisfiesSchema } from "../answer-schema";
import type { CallRef } from "../call";
import { type CanonicalJson, canonicalJson, type JsonObject, type JsonValue } from "../canonical-json";
import { plusMs } from "../instant";
import { proposalHash } from "../proposal";
import { type Refusal, refusal } from "../refusals";
import { ResumeCommand, type ResumeResult } from "../resume-command";
import { viewDigest } from "../ticket";
import { validateResume } from "../validate-resume";
import { followUp } from "./batch";
import type { Book, DecisionDraft } from "./book";
import { editCall, editOf } from "./edit";
import type { CallFacts, TicketFacts, VoteFacts } from "./facts";
import { resumeTicket, standingOf, viewOf } from "./waits";
import { keep, reference } from "./words";

export interface Attempt {
  readonly result: ResumeResult;
  /** The identities as a caller sent them; absent when the command is built from the committed ticket. */
  readonly command?: ResumeCommand;
  /** The proposal and the view that the approver named. */
  readonly proposalHash: string;
  /** Null on the command line, which shows the proposal and not the console's view. */
  readonly viewDigest: string | null;
  /** How long the view had been on screen, in ms; null where no screen is involved. */
  readonly seenForMs: number | null;
}

/** Who decides, read anew under the run's lock. */
export interface Decider {
  readonly person: string | null;
  readonly via: DecisionDraft["via"];
  readonly forbidKeyOwner: boolean;
  /** Earlier verdicts on this ticket, by others and by oneself. */
  readonly votes: readonly VoteFacts[];
  /** Whose edit made the act that is decided on; none where it was not edited. */
  readonly editors: readonly string[];
  readonly satisfies: SatisfiesSchema;
}

export type Voted =
  | { readonly settles: true; readonly ticket: TicketFacts; readonly call: CallRef | null; readonly verdict: string }
  | { readonly settles: false; readonly ticket: TicketFacts; readonly votes: number; readonly needed: number };

/** A ticket must have been on screen this long before its card counts as read. Source: console.md "What an approver can rely on" 3. */
export const READING_MS = 400;

/**
 * A person's verdict or answer. The checks and their order are those of protocol §6 "Decide", from self-approval on; what comes
 * before them (workspace, resent `decision_id`, right) the store has judged.
 */
export function decide(book: Book, ticketId: string, attempt: Attempt, decider: Decider): Result<Voted, Refusal> {
  const ticket = book.ticketAt(ticketId);
  if (!ticket) throw new Error(`ticket ${ticketId} is not in the book`);
  const refused =
    (ticket.reason === "permission" ? refuseSelf(book, decider) : null) ??
    refuseAnswer(book, ticket, attempt, decider) ??
    refuseProposal(book, ticket, attempt) ??
    refuseView(book, ticket, attempt) ??
    refuseSecondVote(attempt, decider);
  if (refused) return refuse(refused);

  const verdict = verdictWord(attempt.result);
  const call = ticket.callRef === null ? null : book.call(ticket.callRef);
  const allows = allowsWith(ticket, decider);
  const settles = verdict !== "allow" || allows >= ticket.quorumNeeded;
  const edit = editOf(call, attempt.result);
  if (edit !== null && call) return decideEdited(book, ticket, call, edit, attempt.result, decider);
  noteVerdict(book, ticket, call, attempt.result, settles);
  if (!settles) return ok({ settles, ticket, votes: allows, needed: ticket.quorumNeeded });

  settle(book, ticket, call, attempt.result, decider.via);
  return ok({ settles, ticket: book.ticketAt(ticketId) ?? ticket, call: call?.callRef ?? null, verdict });
}

/** Allows that count once this one is given. Where two must look, whoever edited the act is none of them. Source: interleavings 23. */
function allowsWith({ quorumNeeded }: TicketFacts, { person, votes, editors }: Decider): number {
  const counts = (who: string | null) => quorumNeeded < 2 || who === null || !editors.includes(who);
  const others = votes.filter((vote) => vote.verdict === "allow" && vote.stillMay && vote.person !== person);
  return others.filter((vote) => counts(vote.person)).length + (counts(person) ? 1 : 0);
}

/**
 * An allow with other arguments. Unless the policy denies them or asks for two people, the editor's allow answers the new ticket at
 * once. Source: protocol §5 "Resume mode".
 */
function decideEdited(
  book: Book,
  ticket: TicketFacts,
  call: CallFacts,
  args: CanonicalJson,
  result: ResumeResult,
  { via }: Decider,
): Result<Voted, Refusal> {
  const edited = editCall(book, ticket, call, args);
  if (!edited.ok) return edited;
  const { call: replacement, ticket: successor } = edited.value;
  if (successor === null) {
    book.enqueue({ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id });
    return ok({ settles: true, ticket, call: replacement.callRef, verdict: "allow" });
  }
  const note = result.kind === "permission" && result.decision === "allow" ? result.note : undefined;
  const allow = { kind: "permission", decision: "allow", ...(note === undefined ? {} : { note }) } as const;
  const settles = successor.quorumNeeded < 2;
  noteVerdict(book, successor, replacement, allow, settles);
  if (!settles) return ok({ settles, ticket: successor, votes: 0, needed: successor.quorumNeeded });
  settle(book, successor, replacement, allow, via);
  return ok({ settles, ticket: book.ticketAt(successor.id) ?? successor, call: replacement.callRef, verdict: "allow" });
}

export function verdictWord(result: ResumeResult): string {
  if (result.kind === "permission") return result.decision;
  return result.kind === "continue" ? "continue" : "answer";
}

/** Nobody consents to their own act, whatever session, key or channel. Source: protocol §6 "Self-approval". */
function refuseSelf(book: Book, { person, forbidKeyOwner }: Decider): Refusal | null {
  if (person === null) return null;
  const { openedByPerson, onBehalfOf, keyOwner } = book.run;
  const isOwn = person === openedByPerson || person === onBehalfOf || (forbidKeyOwner && person === keyOwner);
  return isOwn ? refusal("self_approval") : null;
}

function pastDeadline(book: Book, ticket: TicketFacts): Refusal {
  return refusal("expired", { deadline_ms: ticket.deadlineMs, now_ms: book.now.ms });
}

function refuseAnswer(book: Book, ticket: TicketFacts, attempt: Attempt, { satisfies }: Decider): Refusal | null {
  const command = attempt.command
    ? { ...attempt.command, now_ms: book.now.ms }
    : ResumeCommand.fromTicket(resumeTicket(book, ticket), attempt.result, book.now.ms);
  const valid = validateResume(standingOf(book, ticket), command, satisfies);
  if (valid.ok) return ticket.expiredAt === null ? null : pastDeadline(book, ticket);
  const { facts, ...rest } = valid.refusal;
  // Late is what the deadline turned down. A verdict on a ticket that somebody had answered in time is merely a second one.
  const isLate = valid.refusal.code === "expired" || ticket.closedByKind === "expiry";
  const hashes = { supplied_hash: attempt.proposalHash, current_hash: currentHash(book, ticket) };
  return { ...rest, facts: { ...(facts ?? {}), ...(isLate ? lateVerdict(attempt.result) : {}), ...hashes } };
}

function lateVerdict(result: ResumeResult): JsonObject {
  return result.kind === "permission" ? { late_verdict: `late_${result.decision}` } : {};
}

/** Recomputed from what is stored, stored, and named by the approver: all three are one. */
function refuseProposal(book: Book, ticket: TicketFacts, attempt: Attempt): Refusal | null {
  const current = currentHash(book, ticket);
  const storedHash = ticket.callRef === null ? current : book.call(ticket.callRef).proposalHash;
  if (current === storedHash && storedHash === attempt.proposalHash) return null;
  return refusal("proposal_hash_mismatch", {
    supplied_hash: attempt.proposalHash,
    current_hash: current,
    stored_hash: storedHash,
  });
}

function currentHash(book: Book, ticket: TicketFacts): string {
  if (ticket.callRef === null) return viewOf(book, ticket).proposal_hash;
  const call = book.call(ticket.callRef);
  return proposalHash(call.action, call.args, call.target);
}

function refuseView(book: Book, ticket: TicketFacts, attempt: Attempt): Refusal | null {
  if (attempt.viewDigest === null) return null;
  const current = viewDigest(viewOf(book, ticket));
  if (attempt.viewDigest !== current) {
    return refusal("stale_view", {
      supplied_view: attempt.viewDigest,
      current_view: current,
      revision: ticket.revision,
    });
  }
  if (attempt.seenForMs !== null && attempt.seenForMs < READING_MS) {
    return refusal("too_fast", { seen_for_ms: attempt.seenForMs, needed_ms: READING_MS });
  }
  return null;
}

function refuseSecondVote({ result }: Attempt, { person, votes }: Decider): Refusal | null {
  const own = votes.find((vote) => person !== null && vote.person === person);
  if (!own) return null;
  return refusal("already_voted", { verdict: own.verdict, attempted: verdictWord(result) });
}

function noteVerdict(
  book: Book,
  ticket: TicketFacts,
  call: CallFacts | null,
  result: ResumeResult,
  settles: boolean,
): void {
  const ids = { ticket_id: ticket.id, request_id: ticket.correlationId, call_ref: call?.callRef ?? null };
  if (result.kind !== "permission") {
    const answer =
      result.kind === "continue" ? null : canonicalJson(result.kind === "input" ? result.input : result.output);
    book.note("input_received", {
      ...ids,
      answer: answer === null ? null : reference(answer, `decision:${ticket.id}:result`),
    });
    return;
  }
  book.note("proposal_verified", {
    phase: "approval",
    call_ref: ids.call_ref,
    proposal_hash: call?.proposalHash ?? null,
  });
  const reason = (result.decision === "deny" ? result.reason : result.note) ?? null;
  book.note("approval_recorded", {
    ...ids,
    verdict: result.decision,
    settles,
    approval_hash: call?.proposalHash ?? null,
    reason: reason === null ? null : keep(book, "reason", reason),
  });
}

/** The one place where a ticket is answered: the decision is frozen, the ticket closed and its call moved. */
export function settle(
  book: Book,
  ticket: TicketFacts,
  call: CallFacts | null,
  result: ResumeResult,
  via: DecisionDraft["via"],
): void {
  const verdict = verdictWord(result);
  const effectiveAt = plusMs(book.now.at, ticket.undoMs);
  book.decisions.push({
    ticketId: ticket.id,
    via,
    verdict,
    requestId: ticket.correlationId,
    approvalHash: call?.proposalHash ?? null,
    result: resultValue(result),
    reason: result.kind === "permission" && result.decision === "deny" ? (result.reason ?? null) : null,
    note: result.kind === "permission" && result.decision === "allow" ? (result.note ?? null) : null,
    effectiveAt,
  });
  book.closeTicket(ticket, "answered", "decision", verdict);
  if (call) moveCall(book, ticket, call, result, effectiveAt);
  if (result.kind === "permission" && result.decision === "deny" && ticket.onDeny === "stop_run" && !book.run.cause) {
    book.end("stopped", "denied");
  }
  // Also what the run's own agent answers: a key that speaks for an agent is not the worker that moves it.
  book.enqueue({ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id });
}

function resultValue(result: ResumeResult): JsonValue | undefined {
  if (result.kind === "input") return result.input;
  if (result.kind === "tool_result") return result.output;
  return result.kind === "permission" && result.decision === "allow" ? result.payload : undefined;
}

function moveCall(
  book: Book,
  ticket: TicketFacts,
  call: CallFacts,
  result: ResumeResult,
  effectiveAt: ReturnType<typeof plusMs>,
): void {
  // Of an edit only what was approved is left: its payload stands in the new call's arguments.
  const value = call.resumeMode === "pass_decision_to_tool" ? undefined : resultValue(result);
  if (result.kind === "permission" && result.decision === "deny") {
    book.complete(call.callRef, "blocked", "person");
    followUp(book, call.step);
  } else if (value !== undefined) {
    const cause = result.kind === "permission" ? "payload" : "answered";
    book.complete(call.callRef, "succeeded", cause, { result: canonicalJson(value) });
    followUp(book, call.step);
  } else {
    book.amend(call.callRef, {
      status: "approved",
      authorisation: {
        by: "person",
        requestId: ticket.correlationId,
        hash: call.proposalHash,
        policyVersion: call.policyVersion,
        at: book.now.at,
      },
      effectiveAt,
      allowValidUntil: ticket.allowValidMs === null ? null : book.now.ms + ticket.undoMs + ticket.allowValidMs,
      note: result.kind === "permission" && result.decision === "allow" ? (result.note ?? null) : null,
    });
  }
}

/** The run's own agent answers what waits for it: a tool's result, an event. Source: protocol §3. */
export function answerOwnWait(
  book: Book,
  ticket: TicketFacts,
  command: ResumeCommand,
  satisfies: SatisfiesSchema,
): Result<TicketFacts, Refusal> {
  const valid = validateResume(standingOf(book, ticket), { ...command, now_ms: book.now.ms }, satisfies);
  if (!valid.ok || ticket.expiredAt !== null) return valid.ok ? refuse(pastDeadline(book, ticket)) : valid;
  const call = ticket.callRef === null ? null : book.call(ticket.callRef);
  noteVerdict(book, ticket, call, command.result, true);
  settle(book, ticket, call, command.result, "agent");
  return ok(book.ticketAt(ticket.id) ?? ticket);
}
