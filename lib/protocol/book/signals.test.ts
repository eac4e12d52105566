import { describe, expect, test } from "vitest";
import { cancelled, codeOf, newBook, next, types } from "@/lib/protocol/fixtures/book";
import { finish } from "./closing";
import { pauseAtBudget } from "./signals";

describe("a budget that is spent", () => {
  test("opens one pause, which says so, however often it is met", () => {
    const book = newBook();
    expect(pauseAtBudget(book, 8)).toMatchObject({ ok: true, value: { kind: "pause", reason: "budget_reached" } });
    expect(types(book)).toEqual(["pending_recorded"]);
    const again = next(book);
    expect(codeOf(pauseAtBudget(again, 8))).toBe("ok");
    expect(again.openTickets().length).toBe(1);
  });

  test("pauses no run that has ended", () => {
    expect(codeOf(pauseAtBudget(cancelled(newBook()), 8))).toBe("run_ended");
  });
});

test("a finish by a signal names the signal before the end, and a failure its code", () => {
  const book = newBook();
  finish(book, "failed", { signal: { source: "plan", type: "FAIL" }, code: "agent_failed" });
  expect(types(book)).toEqual(["signal_received", "runtime_validated", "run_ended"]);
  expect(book.run).toMatchObject({ cause: "failed", causeCode: "agent_failed" });
});
