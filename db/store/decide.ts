import { v7 as newId } from "uuid";
import type { Scope, Tx } from "@/db/client";
import { AWAIT_RULES } from "@/lib/protocol/await-target";
import type { Book } from "@/lib/protocol/book/book";
import { answerOwnWait, type Decider, decide, type Voted, verdictWord } from "@/lib/protocol/book/decide";
import type { TicketFacts, VoteFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import type { CallRef } from "@/lib/protocol/call";
import { canonicalJson, hashJson, isObject } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import type { ResumeCommand, ResumeResult } from "@/lib/protocol/resume-command";
import { ok, type Result, refuse } from "@/lib/result";
import { satisfiesInTime } from "./answer-in-time";
import { type Outcome, type Visited, visit } from "./visit";
import { readEditors, readVotes } from "./votes";

/** A person's verdict as it comes in. The click has its own id, so that a resend is known. */
export interface DecisionAttempt {
  readonly decisionId: string;
  /** SHA-256 of what was sent: the same id with another body is another intention. */
  readonly bodySha256: string;
  readonly result: ResumeResult;
  readonly proposalHash: string;
  readonly viewDigest: string;
  /** The identities as a caller of `resume` sent them; the console sends none. */
  readonly command?: ResumeCommand;
  /** Milliseconds for which the console had shown the ticket; null over the API, which proves no reading. */
  readonly seenForMs: number | null;
}

export interface Decided {
  readonly ticketId: string;
  readonly callRef: CallRef | null;
  readonly requestId: string;
  readonly verdict: string;
  readonly at: Instant;
  readonly by: string;
  readonly note: string | null;
  readonly reason: string | null;
  /** Set while a quorum is open: this verdict is recorded, and more are needed. */
  readonly open: { readonly votes: number; readonly needed: number } | null;
  /** The ticket that replaced this one since the first answer was given. */
  readonly supersededBy: string | null;
}

/**
 * Answer a ticket with a person's verdict. The vote, the decision, the trace events and a worker run's next job commit together
 * or not at all. Source: protocol §6 "Decide".
 */
export async function decideTicket(
  scope: Scope,
  caller: Caller,
  ticketId: string,
  attempt: DecisionAttempt,
): Promise<Outcome<Decided>> {
  const attempted = {
    ticket: ticketId,
    input: {
      decision: verdictWord(attempt.result),
      decision_id: attempt.decisionId,
      proposal_hash: attempt.proposalHash,
    },
  };
  return visit(
    scope,
    caller,
    {
      verb: "decide",
      verbOf: (book) => verbFor(book, ticketId),
      at: { ticket: ticketId },
      attempted,
      beside: (tx) => readRecord(tx, caller, ticketId, attempt.decisionId),
    },
    (visited) => judgeAndVote(visited, ticketId, attempt),
    (visited) => firstAnswer(visited, ticketId, attempt),
  );
}

/** Who may answer is the target's to say. Source: protocol §3. */
function verbFor(book: Book, ticketId: string): Act {
  const ticket = book.ticketAt(ticketId);
  if (!ticket) return "decide";
  const { answeredBy } = AWAIT_RULES[ticket.reason];
  if (answeredBy === "own_agent") return "answer_own_wait";
  if (answeredBy === "system") return "answer_for_system";
  return ticket.kind === "pause" ? "answer_pause" : "decide";
}

interface FirstVote {
  readonly ticketId: string;
  readonly bodySha256: string;
  readonly firstAnswer: string;
}

/** What is on record about the click and about the ticket. */
interface OnRecord {
  readonly first: FirstVote | undefined;
  readonly votes: readonly VoteFacts[];
  readonly editors: readonly string[];
}

async function readRecord(tx: Tx, caller: Caller, ticketId: string, decisionId: string): Promise<OnRecord> {
  const [, first, votes, editors] = await Promise.all([
    takeDecisionId(tx, caller, decisionId),
    readFirstVote(tx, caller, decisionId),
    readVotes(tx, ticketId),
    readEditors(tx, ticketId),
  ]);
  return { first, votes, editors };
}

/**
 * The run's lock keeps apart what is said about one run. A click's id belongs to its person over all runs, so one that is sent at once
 * to tickets of two runs waits here for its twin, and then finds the twin's vote.
 */
async function takeDecisionId(tx: Tx, caller: Caller, decisionId: string): Promise<void> {
  const digest = hashJson({ v: 1, kind: "decision_id", principal: caller.principal, decision_id: decisionId });
  await tx.sql`select pg_advisory_xact_lock(${BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString()}::bigint)`;
}

async function readFirstVote(tx: Tx, caller: Caller, decisionId: string): Promise<FirstVote | undefined> {
  const [first] = await tx.sql<FirstVote[]>`
    select ticket_id, body_sha256, first_answer from votes
    where workspace_id = ${tx.workspace} and principal_id = ${caller.principal} and decision_id = ${decisionId}`;
  return first;
}

/** A resend is answered before anything is judged, and only to the one who sent the first. */
function firstAnswer(
  { book, beside: { first } }: Visited<OnRecord>,
  ticketId: string,
  attempt: DecisionAttempt,
): Result<Decided, Refusal> | null {
  if (!first) return null;
  if (first.ticketId !== ticketId || first.bodySha256 !== attempt.bodySha256) {
    return refuse(refusal("decision_id_reused", { decision_id: attempt.decisionId }));
  }
  const answer = stored(first.firstAnswer) as unknown as Decided;
  return ok({ ...answer, supersededBy: book.ticketAt(ticketId)?.successor ?? null });
}

function judgeAndVote(
  visited: Visited<OnRecord>,
  ticketId: string,
  attempt: DecisionAttempt,
): Result<Decided, Refusal> {
  const { tx, book, caller, open, beside } = visited;
  const decider: Decider = {
    person: caller.person,
    via: caller.kind === "system" ? "system" : "person",
    forbidKeyOwner: setting(open.rights.settings, "forbid_key_owner") === true,
    votes: beside.votes,
    editors: beside.editors,
    satisfies: satisfiesInTime,
  };
  const voted = decide(book, ticketId, attempt, decider);
  if (!voted.ok) return voted;
  const decided = whatWasDecided(book, caller, voted.value, attempt.result);
  visited.alongside(() => insertVote(tx, caller, ticketId, attempt, decided));
  return ok(decided);
}

function whatWasDecided(book: Book, caller: Caller, voted: Voted, result: ResumeResult): Decided {
  const { ticket } = voted;
  return {
    ticketId: ticket.id,
    callRef: ticket.callRef,
    requestId: ticket.correlationId,
    verdict: verdictWord(result),
    at: book.now.at,
    by: caller.display,
    note: result.kind === "permission" && result.decision === "allow" ? (result.note ?? null) : null,
    reason: result.kind === "permission" && result.decision === "deny" ? (result.reason ?? null) : null,
    open: voted.settles ? null : { votes: voted.votes, needed: voted.needed },
    supersededBy: null,
  };
}

async function insertVote(
  tx: Tx,
  caller: Caller,
  ticketId: string,
  attempt: DecisionAttempt,
  decided: Decided,
): Promise<void> {
  const { result } = attempt;
  const payload =
    result.kind === "input"
      ? result.input
      : result.kind === "permission" && result.decision === "allow"
        ? result.payload
        : undefined;
  await tx.sql`insert into votes ${tx.sql({
    workspaceId: tx.workspace,
    id: newId(),
    ticketId,
    principalId: caller.principal,
    personId: caller.person,
    decisionId: attempt.decisionId,
    verdict: decided.verdict,
    reason: decided.reason,
    note: decided.note,
    payload: payload === undefined ? null : canonicalJson(payload),
    proposalHash: attempt.proposalHash,
    viewDigest: attempt.viewDigest,
    surface: caller.surface,
    bodySha256: attempt.bodySha256,
    firstAnswer: canonicalJson({ ...decided, open: decided.open && { ...decided.open } }),
    credentialRef: caller.credential,
    at: decided.at,
  })}`;
}

function setting(settings: string, name: string) {
  const read = stored(settings);
  return isObject(read) ? read[name] : undefined;
}

/**
 * The command line's verdict on a run that it started. Its actor is shown as `cli:<os user>`, never as a person, so it makes a
 * decision and no vote. Source: http-api "Command line".
 */
export async function decideCliRun(
  scope: Scope,
  caller: Caller,
  runId: string,
  verdict: "allow" | "deny",
  proposalHash: string,
): Promise<Outcome<TicketFacts>> {
  const attempted = {
    run: runId,
    input: { decision: verdict, proposal_hash: proposalHash },
    rejection: "proposal_rejected" as const,
  };
  const what = {
    verb: "decide" as const,
    right: "drive_cli_run" as const,
    at: { run: runId },
    call: "s1.0",
    onlyExecutor: "cli" as const,
    attempted,
  };
  return visit(scope, caller, what, ({ book }) => {
    const ticket = book.newestTicketOf("s1.0" as CallRef);
    if (!ticket) return refuse(refusal("not_awaiting", { closed_by: null }));
    const attempt = {
      result: { kind: "permission", decision: verdict } as const,
      proposalHash,
      viewDigest: null,
      seenForMs: null,
    };
    const voted = decide(book, ticket.id, attempt, {
      person: null,
      via: "cli",
      forbidKeyOwner: false,
      votes: [],
      editors: [],
      satisfies: satisfiesInTime,
    });
    return voted.ok ? ok(voted.value.ticket) : voted;
  });
}

/** The run's own agent answers its own wait: a tool's result that it executed, or an event. */
export async function answerWait(
  scope: Scope,
  caller: Caller,
  ticketId: string,
  command: ResumeCommand,
): Promise<Outcome<TicketFacts>> {
  const attempted = { ticket: ticketId, input: { result: command.result.kind } };
  const what = {
    verb: "answer_own_wait" as const,
    verbOf: (book: Book) => verbFor(book, ticketId),
    at: { ticket: ticketId },
    attempted,
  };
  return visit(scope, caller, what, ({ book }) => {
    const ticket = book.ticketAt(ticketId);
    return ticket ? answerOwnWait(book, ticket, command, satisfiesInTime) : refuse(refusal("ticket_not_found"));
  });
}
