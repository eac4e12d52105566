import fc from "fast-check";
import { expect, test } from "vitest";
import {
  A,
  ALLOW,
  aCall,
  answer,
  aStep,
  B,
  beginning,
  C,
  DENY,
  NEW_STEP,
  next,
  parked,
  ticketOf,
} from "@/lib/protocol/fixtures/book";
import { canonicalJson } from "../canonical-json";
import type { Policy } from "../permission-rule";
import { pause } from "./ask";
import { begin, renew } from "./begin";
import type { Book } from "./book";
import { actOnTime, cancelRun, cancelTicket, finish, isDue, replaceTicket, settleCall, withdraw } from "./closing";
import { complete } from "./complete";
import { propose } from "./propose";

const REFS = [A, B, C] as const;
const DENY_ALL: Policy = { version: 9, rules: [{ id: "none", behaviour: "deny", tool: "*" }], default: "ask" };
type Act = (book: Book, ref: (typeof REFS)[number]) => { readonly ok: boolean } | null;

/** Every command of §5 and §6 on a named call, as a caller may send it at any time. */
const ACTS: Readonly<Record<string, Act>> = {
  allow: (book, ref) => (book.newestTicketOf(ref) ? answer(book, ref, ALLOW) : null),
  deny: (book, ref) => (book.newestTicketOf(ref) ? answer(book, ref, DENY) : null),
  begin: (book, ref) => begin(book, ref, beginning(book, ref)),
  tampered: (book, ref) => begin(book, ref, beginning(book, ref, { args: canonicalJson("other") })),
  complete: (book, ref) =>
    complete(book, ref, { attempt: book.call(ref).attempt, output: canonicalJson(1), error: null, recovered: false }),
  fail: (book, ref) =>
    complete(book, ref, { attempt: book.call(ref).attempt, output: null, error: canonicalJson("x"), recovered: false }),
  renew: (book, ref) => renew(book, ref, book.call(ref).attempt, 60_000),
  settle: (book, ref) => settleCall(book, ref, { verdict: "happened", output: null, evidence: "seen" }),
  withdraw: (book, ref) => withdraw(book, ref, "no"),
  replace: (book, ref) =>
    book.newestTicketOf(ref) ? replaceTicket(book, ticketOf(book, ref).id, "again", null) : null,
  cancel_ticket: (book, ref) => (book.newestTicketOf(ref) ? cancelTicket(book, ticketOf(book, ref).id, "no") : null),
  cancel_run: (book) => cancelRun(book, "enough"),
  finish: (book) => finish(book, "completed"),
  stop: (book) => finish(book, "stopped"),
  pause: (book) => pause(book, "wait"),
  step: (book) => propose(book, aStep([aCall()], { step: 2 }), { ...NEW_STEP, highest: 1 }),
};

const call = fc.record({
  effectiveClass: fc.constantFrom("none" as const, "read_only" as const),
  onDeny: fc.constantFrom("continue" as const, "stop_run" as const),
});
const terms = fc.record({
  onExpiry: fc.constantFrom("hold" as const, "deny" as const, "cancel" as const, "end_run" as const),
  deadlineInMs: fc.constantFrom(null, 50_000),
});
const setting = fc.record({
  calls: fc.tuple(call, call, call),
  terms,
  mode: fc.constantFrom("parallel" as const, "sequential" as const, "parallel_streaming" as const),
  coupling: fc.constantFrom("independent" as const, "all_or_nothing" as const),
  executor: fc.constantFrom("client" as const, "worker" as const),
});
const command = fc.record({
  act: fc.constantFrom(...Object.keys(ACTS)),
  ref: fc.constantFrom(...REFS),
  afterMs: fc.constantFrom(0, 0, 10, 60_001),
  denies: fc.constantFrom(false, false, false, true),
});

test("whatever is sent in whatever order: no illegal move, what has ended stays, and a refusal changes nothing", () => {
  fc.assert(
    fc.property(setting, fc.array(command, { maxLength: 25 }), (set, commands) => {
      const calls = set.calls.map((it) => aCall(it, set.terms));
      let book = parked(calls, { mode: set.mode, coupling: set.coupling }, { executor: set.executor });
      for (const { act, ref, afterMs, denies } of commands) {
        const before = next(book, afterMs, denies ? { policy: DENY_ALL } : {});
        actOnTime(before);
        const met = next(before);
        const outcome = ACTS[act]?.(met, ref) ?? null;
        terminalStays(book, met);
        holdsTogether(met);
        // What a deny rule does on the way is its own step; every other refused command leaves the run as it was.
        if (outcome?.ok === false && met.policy !== DENY_ALL) expect(standing(met)).toEqual(standing(next(before)));
        book = met;
      }
    }),
    { numRuns: 500 },
  );
});

function standing(book: Book) {
  return { run: book.run, calls: book.calls(), tickets: book.tickets() };
}

function terminalStays(before: Book, after: Book): void {
  if (before.run.cause !== null) expect(after.run).toEqual(before.run);
  for (const old of before.calls()) {
    const { status, outcome, outcomeCause } = after.call(old.callRef);
    if (old.status === "completed") expect({ status, outcome, outcomeCause }).toEqual(outcomeOf(old));
  }
  for (const old of before.tickets()) {
    // Only the link to a successor is read from elsewhere, and the row stays.
    if (old.status !== "open")
      expect({ ...after.ticketAt(old.id), successor: null }).toEqual({ ...old, successor: null });
  }
}

function outcomeOf({ status, outcome, outcomeCause }: ReturnType<Book["call"]>) {
  return { status, outcome, outcomeCause };
}

function holdsTogether(book: Book): void {
  expect(book.state === "awaiting").toBe(book.run.cause === null && book.openTickets().length > 0);
  if (book.run.cause !== null) expect(book.openTickets()).toEqual([]);
  for (const call of book.calls()) {
    const open = book.openTickets().filter((ticket) => ticket.callRef === call.callRef);
    expect(open.length).toBe(call.status === "awaiting" ? 1 : 0);
    expect(call.status === "approved" && call.authorisation === null).toBe(false);
    if (call.effectiveClass === "none") expect(call.attempt).toBeLessThanOrEqual(1);
    if (book.run.cause === "completed") expect(["executing", "indeterminate"]).not.toContain(call.status);
  }
  expect(book.openTickets().some((ticket) => ticket.onExpiry !== "hold" && isDue(book, ticket))).toBe(false);
}
