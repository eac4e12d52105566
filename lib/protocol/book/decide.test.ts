import { describe, expect, test } from "vitest";
import {
  A,
  ALLOW,
  aCall,
  allowed,
  altered,
  answer,
  attemptOn,
  B,
  codeOf,
  DENY,
  next,
  parked,
  SOMEBODY,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { satisfiesSchema } from "../answer-schema";
import { canonicalJson } from "../canonical-json";
import { ResumeCommand, type ResumeResult } from "../resume-command";
import { pause } from "./ask";
import type { Book } from "./book";
import { actOnTime, cancelRun } from "./closing";
import { answerOwnWait, type Decider, decide, READING_MS } from "./decide";
import type { RunFacts, TicketFacts } from "./facts";
import { resumeTicket } from "./waits";

const INPUT: ResumeResult = { kind: "input", input: "yes" };
const question = aCall({ action: "ask" }, { kind: "remote_input", reason: "user_input" });

/** The same run with its ticket's row as another hand left it. */
function withTicket(book: Book, patch: Partial<TicketFacts>): Book {
  const tickets = book.tickets().map((ticket) => ({ ...ticket, ...patch }));
  return next(book, 0, { tickets });
}

describe("a verdict", () => {
  test("allow freezes what was seen, and the call is approved by its person", () => {
    const book = parked([aCall({}, { allowValidMs: 1_000 })], {}, { executor: "worker" });
    const ticket = ticketOf(book);
    expect(answer(book, A, { ...ALLOW, note: "fine" } as ResumeResult)).toMatchObject({
      value: { settles: true, verdict: "allow", call: A },
    });
    expect(book.call(A)).toMatchObject({
      status: "approved",
      note: "fine",
      effectiveAt: book.now.at,
      allowValidUntil: book.now.ms + 1_000,
      authorisation: { by: "person", requestId: ticket.correlationId, hash: book.call(A).proposalHash },
    });
    expect(book.decisions).toMatchObject([{ verdict: "allow", approvalHash: book.call(A).proposalHash, note: "fine" }]);
    expect(types(book)).toEqual(["proposal_verified", "approval_recorded"]);
    expect(book.jobs).toEqual([{ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id }]);
    expect(book.state).toBe("running");
  });

  test("an undo window moves when the allow takes effect, and how long it is valid", () => {
    const book = withTicket(parked([aCall({}, { allowValidMs: 1_000 })]), { undoMs: 5_000 });
    answer(book, A, ALLOW);
    expect(book.call(A).allowValidUntil).toBe(book.now.ms + 6_000);
    expect(book.call(A).effectiveAt).not.toBe(book.now.at);
  });

  test("deny blocks the call with its reason and the run goes on; stop_run ends it", () => {
    const book = parked();
    expect(answer(book, A, DENY)).toMatchObject({ value: { verdict: "deny" } });
    expect(book.call(A)).toMatchObject({ outcome: "blocked", outcomeCause: "person" });
    expect(book.contents).toEqual([{ kind: "reason", text: "not today" }]);
    expect(JSON.stringify(book.events)).not.toContain("not today");
    const stopped = parked([aCall({ onDeny: "stop_run" }), aCall()]);
    answer(stopped, A, DENY);
    expect(stopped.run).toMatchObject({ cause: "stopped", causeCode: "denied" });
    expect(ticketOf(stopped, B)).toMatchObject({ status: "cancelled", closedByKind: "run_ended" });
  });

  test("a payload is the result where the call says so", () => {
    const book = parked([aCall({ resumeMode: "use_decision_as_tool_result" })]);
    expect(codeOf(answer(book, A, ALLOW))).toBe("result_kind_mismatch");
    answer(book, A, { ...ALLOW, payload: { amount: 2 } } as ResumeResult);
    expect(book.call(A)).toMatchObject({ outcome: "succeeded", outcomeCause: "payload", result: '{"amount":2}' });
  });

  test("an answer completes the question; continue opens the way after a pause", () => {
    const book = parked([question]);
    answer(book, A, INPUT);
    expect(book.call(A)).toMatchObject({
      outcome: "succeeded",
      outcomeCause: "answered",
      result: canonicalJson("yes"),
    });
    expect(types(book)).toEqual(["input_received"]);
    const paused = next(parked());
    pause(paused, "wait");
    const then = next(paused);
    const ticket = then.openPause() as TicketFacts;
    expect(decide(then, ticket.id, attemptOn(then, ticket, { kind: "continue" }), SOMEBODY)).toMatchObject({
      value: { verdict: "continue", call: null },
    });
    expect(then.openPause()).toBeUndefined();
  });
});

const STRANGERS: readonly (readonly [string, Partial<RunFacts>, Partial<Decider>])[] = [
  ["opened the run", { openedByPerson: "person-1" }, {}],
  ["has the run act for them", { onBehalfOf: "person-1" }, {}],
  ["owns the agent's key, where the workspace forbids that", { keyOwner: "person-1" }, { forbidKeyOwner: true }],
];

describe("self-approval", () => {
  test.each(STRANGERS)("is refused to the person who %s", (_who, run, by) => {
    expect(codeOf(answer(parked([aCall()], {}, run), A, ALLOW, by))).toBe("self_approval");
    expect(codeOf(answer(parked([aCall()], {}, run), A, ALLOW, { ...by, person: "person-2" }))).toBe("ok");
    expect(codeOf(answer(parked([question], {}, run), A, INPUT, by))).toBe("ok");
  });

  test("the key's owner may, where nobody forbids it; the command line is no person", () => {
    expect(codeOf(answer(parked([aCall()], {}, { keyOwner: "person-1" }), A, ALLOW))).toBe("ok");
    const own = parked([aCall()], {}, { openedByPerson: "person-1" });
    expect(codeOf(answer(own, A, ALLOW, { person: null }))).toBe("ok");
  });
});

describe("decide's checks", () => {
  const ticketed = (book: Book) => ({ book, ticket: ticketOf(book) });

  test("the first failing one is the answer: self, the wait, the proposal, the view, the vote", () => {
    const { book, ticket } = ticketed(parked([aCall()], {}, { openedByPerson: "person-1" }));
    const good = attemptOn(book, ticket, ALLOW);
    const voted = [{ person: "person-2", verdict: "deny", stillMay: true }];
    const bad = { ...good, result: INPUT, proposalHash: "0", viewDigest: "0", seenForMs: 0 };
    const by: Decider = { ...SOMEBODY, votes: voted };
    expect(codeOf(decide(book, ticket.id, bad, by))).toBe("self_approval");
    const other: Decider = { ...by, person: "person-2" };
    expect(codeOf(decide(book, ticket.id, bad, other))).toBe("result_kind_mismatch");
    const typed = { ...bad, result: ALLOW };
    expect(codeOf(decide(book, ticket.id, typed, other))).toBe("proposal_hash_mismatch");
    const named = { ...typed, proposalHash: good.proposalHash };
    expect(codeOf(decide(book, ticket.id, named, other))).toBe("stale_view");
    const seen = { ...named, viewDigest: good.viewDigest };
    expect(codeOf(decide(book, ticket.id, seen, other))).toBe("too_fast");
    const slow = { ...seen, seenForMs: READING_MS };
    expect(decide(book, ticket.id, slow, other)).toMatchObject({
      refusal: { code: "already_voted", facts: { verdict: "deny", attempted: "allow" } },
    });
    expect(book.changed).toBe(false);
    expect(codeOf(decide(book, ticket.id, slow, { ...SOMEBODY, person: "person-3" }))).toBe("ok");
  });

  test("each identity that a caller sends is the ticket's, in the contract's order, and the clock is ours", () => {
    const { book, ticket } = ticketed(parked([aCall({}, { deadlineInMs: 1_000 })]));
    const right = ResumeCommand.fromTicket(resumeTicket(book, ticket), ALLOW, 0);
    const wrong = {
      correlation_id: "x",
      run_id: "x",
      thread_id: "x",
      snapshot_id: "x",
      catalog_fingerprint: "x",
    };
    const names = ["correlation", "run", "thread", "snapshot", "fingerprint"];
    for (const [index, name] of names.entries()) {
      const rest = Object.fromEntries(Object.entries(wrong).slice(index));
      const attempt = { ...attemptOn(book, ticket, ALLOW), command: { ...right, ...rest } };
      expect(codeOf(decide(book, ticket.id, attempt, SOMEBODY))).toBe(`${name}_mismatch`);
    }
    const late = next(book, 1_001);
    const attempt = { ...attemptOn(late, ticket, ALLOW), command: { ...right, now_ms: 0 } };
    expect(codeOf(decide(late, ticket.id, attempt, SOMEBODY))).toBe("expired");
  });

  test("equal to the deadline is in time; later is expired, and a late verdict is told as one", () => {
    const book = parked([aCall({}, { deadlineInMs: 1_000 })]);
    expect(codeOf(answer(next(book, 1_000), A, ALLOW))).toBe("ok");
    expect(answer(next(book, 1_001), A, ALLOW)).toMatchObject({
      refusal: { code: "expired", facts: { late_verdict: "late_allow" } },
    });
    const held = next(book, 1_001);
    actOnTime(held);
    expect(codeOf(answer(next(held), A, DENY))).toBe("expired");
    const acted = next(withTicket(book, { onExpiry: "deny" }), 1_001);
    actOnTime(acted);
    expect(answer(next(acted), A, DENY)).toMatchObject({
      refusal: { code: "expired", facts: { late_verdict: "late_deny" } },
    });
  });

  test("a ticket under hold whose deadline was moved back by hand is expired all the same", () => {
    const book = withTicket(parked(), { expiredAt: parked().now.at });
    expect(codeOf(answer(book, A, ALLOW))).toBe("expired");
  });

  test("what somebody answered is not_awaiting, what ended is run_ended; nothing changes", () => {
    const book = allowed(parked(), A);
    expect(answer(book, A, DENY)).toMatchObject({
      refusal: { code: "not_awaiting", facts: { closed_by: { actor: "ada", verdict: "allow", kind: "decision" } } },
    });
    const ended = parked();
    cancelRun(ended, "enough");
    const after = next(ended);
    expect(codeOf(answer(after, A, ALLOW))).toBe("run_ended");
    expect(after.changed || book.changed).toBe(false);
  });

  test("a stored proposal that was rewritten is refused, whichever of the two was", () => {
    const book = parked();
    const attempt = attemptOn(book, ticketOf(book), ALLOW);
    for (const patch of [{ args: canonicalJson({ amount: 9 }) }, { proposalHash: "0".repeat(64) as never }]) {
      const tampered = altered(book, A, patch);
      expect(codeOf(decide(tampered, ticketOf(book).id, attempt, SOMEBODY))).toBe("proposal_hash_mismatch");
    }
  });

  test("the command line names no view; a ticket that is not there is our fault", () => {
    const book = parked();
    const attempt = { ...attemptOn(book, ticketOf(book), ALLOW), viewDigest: null };
    expect(() => decide(book, "none", attempt, SOMEBODY)).toThrow(/not in the book/);
    expect(codeOf(decide(book, ticketOf(book).id, attempt, SOMEBODY))).toBe("ok");
  });
});

describe("a quorum of two", () => {
  const two = () => withTicket(parked(), { quorumNeeded: 2 });
  const earlier = { person: "person-2", verdict: "allow", stillMay: true };

  test("the first allow leaves the ticket open, the second settles it, and deny settles at once", () => {
    const first = two();
    expect(answer(first, A, ALLOW)).toMatchObject({ value: { settles: false, votes: 1, needed: 2 } });
    expect(first.call(A).status).toBe("awaiting");
    expect(answer(two(), A, ALLOW, { votes: [earlier] })).toMatchObject({ value: { settles: true } });
    expect(answer(two(), A, DENY)).toMatchObject({ value: { settles: true, verdict: "deny" } });
  });

  test("a vote whose person lost the right since does not count", () => {
    const lost = [{ ...earlier, stillMay: false }];
    expect(answer(two(), A, ALLOW, { votes: lost })).toMatchObject({ value: { settles: false, votes: 1 } });
  });
});

describe("the run's own agent answers what waits for it", () => {
  const client = aCall({ action: "open_page" }, { reason: "client_execution" });
  const RESULT: ResumeResult = { kind: "tool_result", call_id: A, output: "opened" };

  function own(book: Book, result: ResumeResult) {
    const ticket = ticketOf(book);
    return answerOwnWait(
      book,
      ticket,
      ResumeCommand.fromTicket(resumeTicket(book, ticket), result, 0),
      satisfiesSchema,
    );
  }

  test("with its tool's result; where a worker moves the run it is looked at again", () => {
    const book = parked([client], {}, { executor: "worker" });
    expect(own(book, RESULT)).toMatchObject({ value: { status: "answered" } });
    expect(book.call(A)).toMatchObject({ outcome: "succeeded", outcomeCause: "answered" });
    expect(book.jobs).toMatchObject([{ dedupeKey: `resume:${ticketOf(book).id}` }]);
  });

  test("not with another kind, for another call, or after the deadline", () => {
    expect(codeOf(own(parked([client]), ALLOW))).toBe("result_kind_mismatch");
    expect(codeOf(own(parked([client]), { ...RESULT, call_id: "s9.9" } as ResumeResult))).toBe("tool_call_mismatch");
    const late = next(parked([aCall({ action: "open_page" }, { reason: "client_execution", deadlineInMs: 5 })]), 6);
    expect(codeOf(own(late, RESULT))).toBe("expired");
    expect(codeOf(own(withTicket(parked([client]), { expiredAt: late.now.at }), RESULT))).toBe("expired");
  });
});
