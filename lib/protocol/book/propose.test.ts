import { describe, expect, test } from "vitest";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import {
  A,
  aCall,
  allowed,
  answer,
  aStep,
  B,
  beginning,
  begun,
  C,
  codeOf,
  DENY,
  NEW_STEP,
  newBook,
  next,
  parked,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { callRef } from "../call";
import type { Policy } from "../permission-rule";
import { ask, pause } from "./ask";
import { begin } from "./begin";
import type { Book } from "./book";
import { cancelRun, cancelTicket, expireTicket, finish, withdraw } from "./closing";
import { complete } from "./complete";
import { type ProposedStep, propose, type StepRecord } from "./propose";

const RULES: Policy = {
  version: 4,
  rules: [
    { id: "reads-pass", behaviour: "allow", tool: "read_*" },
    { id: "no-drop", behaviour: "deny", tool: "drop_*" },
  ],
  default: "ask",
};

const read = aCall({ action: "read_file" });
const drop = aCall({ action: "drop_table" });
const STEP_2 = callRef(2, 0);

function statuses(book: Book): readonly string[] {
  return book
    .calls()
    .map((call) => (call.outcomeCause === null ? call.status : `${call.outcome}:${call.outcomeCause}`));
}

function second(book: Book, calls = [aCall()], over: Partial<ProposedStep> = {}, record: Partial<StepRecord> = {}) {
  return propose(book, aStep(calls, { step: 2, ...over }), { ...NEW_STEP, highest: 1, ...record });
}

describe("a step is judged by the policy, call by call", () => {
  test("a rule allows, a rule denies, and what no rule matches is asked", () => {
    const book = newBook({ executor: "worker" }, { policy: RULES });
    const outcome = propose(book, aStep([read, drop, aCall()]), NEW_STEP);
    expect(outcome).toMatchObject({
      value: { fromRecord: false, calls: [{ verdict: "allowed" }, { verdict: "blocked" }, { verdict: "awaiting" }] },
    });
    expect(statuses(book)).toEqual(["approved", "blocked:rule", "awaiting"]);
    expect(book.call(A).authorisation).toMatchObject({ by: "rule", requestId: "rule:run-1:s1.0", policyVersion: 4 });
    expect(book.jobs.map((job) => job.dedupeKey)).toEqual(["resume:s1.0"]);
    expect(book.state).toBe("awaiting");
  });

  test("a park writes exactly checkpoint_saved and proposal_recorded", () => {
    const book = newBook();
    propose(book, aStep([aCall()], { state: { sha256: "0", format: "f", version: "1" } }), NEW_STEP);
    expect(types(book)).toEqual(["checkpoint_saved", "proposal_recorded"]);
    expect(JSON.stringify(book.events)).not.toContain("amount");
  });

  test("a proposal that was denied often enough is blocked without asking", () => {
    const hash = parked().call(A).proposalHash;
    for (const [times, cause] of [
      [2, "awaiting"],
      [3, "blocked:repeat_of_denied"],
    ] as const) {
      const book = newBook();
      propose(book, aStep([aCall()]), { ...NEW_STEP, deniedBefore: new Map([[hash, times]]) });
      expect(statuses(book)).toEqual([cause]);
    }
  });

  test("what waits by its target waits even where a rule would allow it", () => {
    const client = aCall({ action: "read_page" }, { reason: "client_execution" });
    expect(statuses(parked([client], {}, {}, RULES))).toEqual(["awaiting"]);
  });

  test("in a sequential batch one call waits, the others stand in line, and the next is judged when its turn comes", () => {
    const book = parked([aCall(), drop, read, aCall()], { mode: "sequential" });
    expect(statuses(book)).toEqual(["awaiting", "queued", "queued", "queued"]);
    const ruled = next(book, 0, { policy: RULES });
    answer(ruled, A, DENY);
    expect(statuses(ruled)).toEqual(["blocked:person", "blocked:rule", "approved", "queued"]);
    const asked = next(book, 5_000);
    answer(asked, A, DENY);
    expect(statuses(asked)).toEqual(["blocked:person", "awaiting", "queued", "queued"]);
    expect(ticketOf(asked, B).openedAt).toBe(asked.now.at);
  });

  test("a sequential batch that begins with a blocked call opens the next at once", () => {
    expect(statuses(parked([drop, aCall()], { mode: "sequential" }, {}, RULES))).toEqual(["blocked:rule", "awaiting"]);
  });
});

describe("all_or_nothing", () => {
  const coupled = { coupling: "all_or_nothing" } as const;

  test("a rule's deny closes the siblings, before any queued call is opened", () => {
    expect(statuses(parked([aCall(), drop], coupled, {}, RULES))).toEqual(["cancelled:sibling_denied", "blocked:rule"]);
    const book = parked([aCall(), aCall(), aCall()], { ...coupled, mode: "sequential" });
    answer(book, A, DENY);
    expect(statuses(book)).toEqual(["blocked:person", "cancelled:sibling_denied", "cancelled:sibling_denied"]);
    expect(book.newTickets.size).toBe(0);
  });

  test("a queued call that a later rule denies takes the rest with it", () => {
    const book = parked([aCall(), drop, aCall()], { ...coupled, mode: "sequential" });
    const ruled = next(allowed(book, A), 0, { policy: RULES });
    begin(ruled, A, beginning(ruled));
    complete(ruled, A, { attempt: 1, output: canonicalJson(1), error: null, recovered: false });
    expect(statuses(ruled)).toEqual(["succeeded:executed", "blocked:rule", "cancelled:sibling_denied"]);
  });

  test.each([
    ["a deny", (book: Book) => answer(book, A, DENY)],
    ["a ticket cancelled", (book: Book) => cancelTicket(book, ticketOf(book).id, "no")],
    ["a call withdrawn", (book: Book) => withdraw(book, A, "no")],
    ["a deadline", (book: Book) => expireTicket(book, { ...ticketOf(book), onExpiry: "deny" })],
  ] as const)("%s takes an allowed sibling with it, and one that was begun stays", (_what, close) => {
    const book = allowed(parked([aCall(), aCall(), aCall()], coupled), B, C);
    begin(book, C, beginning(book, C));
    const now = next(book);
    close(now);
    expect(now.call(B).outcomeCause).toBe("sibling_denied");
    expect(now.call(C).status).toBe("executing");
  });

  test("independent calls go on without each other", () => {
    const book = allowed(parked([aCall(), aCall()]), B);
    answer(book, A, DENY);
    expect(statuses(book)).toEqual(["blocked:person", "approved"]);
  });
});

describe("steps", () => {
  test("a recorded step is answered from the record, whatever the run's state; other content is batch_conflict", () => {
    const book = parked();
    cancelRun(book, "enough");
    const after = next(book);
    const recorded = after.batch(1);
    const again = propose(after, aStep([aCall()]), { ...NEW_STEP, recorded, highest: 1 });
    expect(again).toMatchObject({ value: { fromRecord: true, calls: [{ call: A, verdict: "blocked" }] } });
    const other = propose(after, aStep([read]), { ...NEW_STEP, recorded, highest: 1 });
    expect(codeOf(other)).toBe("batch_conflict");
    expect(after.changed).toBe(false);
  });

  test("a step never goes back, and an ended run takes none", () => {
    const book = allowed(parked(), A);
    expect(codeOf(second(book, [aCall()], { step: 1 }))).toBe("batch_conflict");
    finish(book, "completed");
    expect(codeOf(second(next(book)))).toBe("run_ended");
  });

  test.each([
    ["awaiting", () => parked()],
    ["executing", () => begun()],
  ] as const)("a later step while a call is %s is batch_open", (state, made) => {
    const book = made();
    expect(second(book)).toMatchObject({
      refusal: { code: "batch_open", facts: { open_calls: [{ call_ref: A, state }] } },
    });
  });

  test("a later step closes the allowed calls that nobody began", () => {
    const book = allowed(parked(), A);
    expect(codeOf(second(book))).toBe("ok");
    expect(book.call(A)).toMatchObject({ outcome: "cancelled", outcomeCause: "not_picked_up" });
  });

  test("an unused allow of the same act moves once to the call that asks for it again", () => {
    const same = aCall({ rebind: true });
    const book = allowed(parked(), A);
    const request = book.call(A).authorisation?.requestId;
    second(book, [same, same]);
    expect(book.call(A).outcomeCause).toBe("rebound");
    expect(book.call(STEP_2)).toMatchObject({ status: "approved", reboundFrom: A });
    expect(book.call(STEP_2).authorisation?.requestId).toBe(request);
    expect(book.call(callRef(2, 1)).status).toBe("awaiting");
    expect(codeOf(begin(next(book), STEP_2, beginning(book, STEP_2)))).toBe("ok");
  });

  test("another act, or one that does not ask for it, gets no allow", () => {
    for (const call of [aCall({ rebind: true, action: "send_more" }), aCall()]) {
      const book = allowed(parked(), A);
      second(book, [call]);
      expect(book.call(STEP_2).status).toBe("awaiting");
    }
  });
});

describe("a question", () => {
  const question = aCall({ action: "ask", callId: "q1" }, { kind: "remote_input", reason: "user_input" });
  const fresh = { recorded: null, highest: 0 };

  test("is a step of one call; the same again is answered from the record, another is batch_conflict", () => {
    const book = newBook();
    const asked = ask(book, question, fresh, null, 1);
    expect(asked).toEqual({ ok: true, value: { call: A, fromRecord: false } });
    expect(book.state).toBe("awaiting");
    const again = next(book);
    expect(ask(again, question, { recorded: A, highest: 1 }, null, 1)).toMatchObject({ value: { fromRecord: true } });
    const other = { ...question, args: canonicalJson("?") };
    expect(codeOf(ask(again, other, { recorded: A, highest: 1 }, null, 1))).toBe("batch_conflict");
    expect(codeOf(ask(again, { ...question, callId: "q2" }, { recorded: null, highest: 1 }, null, 1))).toBe(
      "batch_open",
    );
  });

  test("closes allowed calls that nobody began, and keeps the state it was asked at", () => {
    const book = allowed(parked(), A);
    ask(book, question, { recorded: null, highest: 1 }, { sha256: "ab", format: "f", version: "1" }, 0);
    expect(book.call(A).outcomeCause).toBe("not_picked_up");
    expect(book.batch(2).stateSha256).toBe("ab");
  });
});

describe("a pause", () => {
  test("opens once; a second one is answered with it, and an ended run takes none", () => {
    const book = newBook();
    const first = pause(book, "lunch");
    expect(first).toMatchObject({ value: { fromRecord: false } });
    expect(pause(next(book), "again")).toMatchObject({ value: { fromRecord: true } });
    const ended = newBook();
    finish(ended, "stopped");
    expect(codeOf(pause(next(ended), "late"))).toBe("run_ended");
  });
});
