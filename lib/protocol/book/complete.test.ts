import { describe, expect, test } from "vitest";
import {
  A,
  aCall,
  allowed,
  altered,
  begun,
  cancelled,
  codeOf,
  lapsed,
  next,
  parked,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { canonicalJson } from "../canonical-json";
import type { Book } from "./book";
import { replaceTicket, settleCall, withdraw } from "./closing";
import { complete, conflictOfTarget, type Report } from "./complete";

const DONE: Report = { attempt: 1, output: canonicalJson("done"), error: null, recovered: false };
const FAILED: Report = { ...DONE, output: null, error: canonicalJson("no funds") };
const HAPPENED = { verdict: "happened", output: canonicalJson("seen"), evidence: "in the statement" } as const;
const NOT_HAPPENED = { ...HAPPENED, verdict: "did_not_happen" } as const;

describe("complete", () => {
  test("a result succeeds, an error fails, and an effect found done is told as recovered", () => {
    for (const [report, outcome, cause, type] of [
      [DONE, "succeeded", "executed", "action_executed"],
      [FAILED, "failed", "reported_failure", "action_failed"],
      [{ ...DONE, recovered: true }, "succeeded", "executed", "action_recovered"],
    ] as const) {
      const book = begun();
      expect(complete(book, A, report)).toMatchObject({ value: { late: false, repeated: false } });
      expect(book.call(A)).toMatchObject({ outcome, outcomeCause: cause, unreported: false, claimToken: null });
      expect(types(book)).toEqual([type]);
    }
  });

  test.each([
    ["past its lease, before anyone acted", () => next(begun(), 60_001)],
    ["back in approved", () => lapsed({ effectiveClass: "read_only" })],
    ["indeterminate", () => lapsed()],
    ["after the run was cancelled", () => cancelled(begun())],
  ])("is accepted %s, and late", (_where, made) => {
    const book = made();
    const cause = book.run.cause;
    expect(complete(book, A, DONE)).toMatchObject({ value: { late: true } });
    expect(book.call(A)).toMatchObject({ outcome: "succeeded", late: true });
    expect(book.run.cause).toBe(cause);
  });

  test("an older or unknown attempt is stale_attempt, and what it reported is kept", () => {
    for (const [book, attempt] of [
      [begun(), 2],
      [parked(), 0],
      [allowed(parked(), A), 1],
    ] as const) {
      expect(codeOf(complete(book, A, { ...DONE, attempt }))).toBe("stale_attempt");
      expect(book.contents).toEqual([{ kind: "report", text: '"done"' }]);
    }
  });

  test("the same report again changes nothing; another is result_conflict and kept", () => {
    const book = begun();
    complete(book, A, DONE);
    const after = next(book);
    expect(complete(after, A, DONE)).toMatchObject({ value: { repeated: true } });
    expect(after.changed).toBe(false);
    expect(codeOf(complete(after, A, FAILED))).toBe("result_conflict");
    expect(after.contents).toEqual([{ kind: "report", text: '"no funds"' }]);
  });

  test("a report that agrees with a settlement is kept in the trace, one that contradicts it is refused loudly", () => {
    for (const [settlement, agrees, contradicts] of [
      [HAPPENED, DONE, FAILED],
      [NOT_HAPPENED, FAILED, DONE],
    ] as const) {
      const book = lapsed();
      settleCall(book, A, settlement);
      const after = next(book);
      expect(complete(after, A, agrees)).toMatchObject({ value: { repeated: true } });
      expect(after.events[0]?.payload).toMatchObject({ agrees_with_settlement: true, late: true });
      expect(codeOf(complete(after, A, contradicts))).toBe("settlement_contradicted");
      expect(after.call(A)).toEqual(book.call(A));
    }
  });

  test("an attempt on a call that was never granted is our fault", () => {
    expect(() => complete(altered(parked(), A, { attempt: 1 }), A, DONE)).toThrow(/has attempt 1/);
  });
});

describe("a command line's target conflict", () => {
  const contents = { expected: "x", existing: null };

  test("puts the call back for another try, and a stale attempt nothing", () => {
    const book = begun({}, { executor: "cli" });
    expect(conflictOfTarget(book, A, 2, "output_conflict", contents).code).toBe("stale_attempt");
    expect(conflictOfTarget(book, A, 1, "output_conflict", { ...contents, existing: "ab" })).toMatchObject({
      code: "output_conflict",
      facts: { existing_content_hash: "ab" },
    });
    expect(book.call(A)).toMatchObject({ status: "approved", unreported: false });
    expect(conflictOfTarget(next(book), A, 1, "output_outside_roots", contents).code).toBe("stale_attempt");
  });

  test("its run ends with its only call: done, failed or not done", () => {
    const ended = (act: (book: Book) => void, book = begun({}, { executor: "cli" })) => {
      act(book);
      return book.run.cause;
    };
    expect(ended((book) => complete(book, A, DONE))).toBe("completed");
    expect(ended((book) => complete(book, A, FAILED))).toBe("failed");
    expect(ended((book) => withdraw(book, A, "no"), parked([aCall()], {}, { executor: "cli" }))).toBe("stopped");
  });

  test("its requests are named after the run", () => {
    const book = parked([aCall()], {}, { executor: "cli" });
    expect(ticketOf(book).correlationId).toBe("approval:run-1");
    replaceTicket(book, ticketOf(book).id, "again", null);
    expect(ticketOf(book).correlationId).toBe("approval:run-1:2");
  });
});

describe("settle", () => {
  test("says what became of an effect that nobody reported; never back to approved", () => {
    const book = lapsed({ effectiveClass: "read_only" });
    expect(book.call(A).status).toBe("approved");
    expect(settleCall(book, A, HAPPENED)).toMatchObject({
      value: { outcome: "succeeded", outcomeCause: "settled", settledBy: "ada", result: '"seen"' },
    });
    const other = lapsed();
    expect(settleCall(other, A, NOT_HAPPENED)).toMatchObject({
      value: { outcome: "failed", outcomeCause: "effect_did_not_happen", result: null },
    });
    expect(codeOf(settleCall(next(other), A, HAPPENED))).toBe("not_indeterminate");
  });

  test.each([
    ["waits", () => parked()],
    ["was never begun", () => allowed(parked(), A)],
    ["executes under its lease", () => begun()],
  ])("is not for a call that %s", (_what, made) => {
    expect(codeOf(settleCall(made(), A, HAPPENED))).toBe("not_indeterminate");
  });
});
