import { describe, expect, test } from "vitest";
import {
  A,
  ALLOW,
  aCall,
  allowed,
  altered,
  answer,
  B,
  begun,
  cancelled,
  codeOf,
  lapsed,
  newBook,
  next,
  parked,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { canonicalJson } from "../canonical-json";
import { msOf } from "../instant";
import { pause } from "./ask";
import { actOnTime, cancelRun, cancelTicket, expireTicket, finish, replaceTicket, withdraw } from "./closing";
import { complete, type Report } from "./complete";
import { standingOf } from "./waits";

const DONE: Report = { attempt: 1, output: canonicalJson("done"), error: null, recovered: false };
const _FAILED: Report = { ...DONE, output: null, error: canonicalJson("no funds") };
const HAPPENED = { verdict: "happened", output: canonicalJson("seen"), evidence: "in the statement" } as const;
const _NOT_HAPPENED = { ...HAPPENED, verdict: "did_not_happen" } as const;

describe("withdraw", () => {
  test("takes back a waiting or never begun call, and again is answered the same", () => {
    for (const book of [parked(), allowed(parked(), A)]) {
      expect(withdraw(book, A, "no")).toMatchObject({ value: { outcome: "cancelled", outcomeCause: "withdrawn" } });
      expect(book.openTickets()).toEqual([]);
      expect(codeOf(withdraw(next(book), A, "no"))).toBe("ok");
    }
  });

  test("not one that was begun, is completed, or whose run has ended", () => {
    expect(codeOf(withdraw(begun(), A, "no"))).toBe("call_unfinished");
    expect(codeOf(withdraw(cancelled(begun()), A, "no"))).toBe("run_ended");
    const done = begun();
    complete(done, A, DONE);
    expect(codeOf(withdraw(next(done), A, "no"))).toBe("result_conflict");
    expect(codeOf(withdraw(cancelled(parked()), A, "no"))).toBe("run_ended");
  });
});

describe("a deadline that has passed", () => {
  const due = (onExpiry: "hold" | "deny" | "cancel" | "end_run", executor: "client" | "worker" = "client") =>
    next(parked([aCall({}, { onExpiry, deadlineInMs: 1_000 }), aCall()], {}, { executor }), 1_001);

  test.each([
    ["hold", "open", "awaiting", null, "awaiting"],
    ["deny", "expired", "blocked", "expiry", "awaiting"],
    ["cancel", "expired", "cancelled", "expiry", "awaiting"],
    ["end_run", "expired", "cancelled", "run_ended", "ended"],
  ] as const)("%s: ticket %s, call %s", (onExpiry, status, call, cause, state) => {
    const book = due(onExpiry);
    actOnTime(book);
    expect(ticketOf(book).status).toBe(status);
    expect(ticketOf(book).expiredAt === null).toBe(onExpiry !== "hold");
    expect(book.call(A).outcome ?? book.call(A).status).toBe(call);
    expect(book.call(A).outcomeCause).toBe(cause);
    expect(book.state).toBe(state);
    const again = next(book, 1_000);
    actOnTime(again);
    expect(again.changed).toBe(false);
  });

  test("equal is in time, and two that pass at once act in model order until the run ends", () => {
    const inTime = next(parked([aCall({}, { onExpiry: "deny", deadlineInMs: 1_000 })]), 1_000);
    actOnTime(inTime);
    expect(inTime.changed).toBe(false);
    const both = [
      aCall({}, { onExpiry: "end_run", deadlineInMs: 5 }),
      aCall({}, { onExpiry: "deny", deadlineInMs: 5 }),
    ];
    const book = next(parked(both), 6);
    actOnTime(book);
    expect(book.call(B).outcomeCause).toBe("run_ended");
  });

  test("a worker run wakes to be told, and a pause's deadline touches no call", () => {
    const book = due("deny", "worker");
    actOnTime(book);
    expect(book.jobs).toHaveLength(1);
    const paused = newBook();
    pause(paused, "wait");
    const then = next(paused);
    const ticket = then.openPause();
    if (!ticket) throw new Error("not paused");
    expireTicket(then, { ...ticket, onExpiry: "cancel" });
    expect(then.openPause()).toBeUndefined();
    expect(types(then)).toEqual(["ticket_expired"]);
  });
});

describe("replace", () => {
  test("opens a fresh wait as long as the old one's, or as given, and supersedes the old ticket", () => {
    const timed = next(parked([aCall({}, { deadlineInMs: 1_000 })]), 400);
    const old = ticketOf(timed);
    const fresh = replaceTicket(timed, old.id, "more time", null);
    expect(fresh).toMatchObject({ value: { status: "open", supersedes: old.id, deadlineMs: timed.now.ms + 1_000 } });
    expect(timed.ticketAt(old.id)).toMatchObject({ status: "superseded", closedByKind: "replaced" });
    expect(standingOf(timed, timed.ticketAt(old.id) ?? old).closed_by?.successor_ticket_id).toBe(ticketOf(timed).id);
    const given = parked();
    expect(replaceTicket(given, ticketOf(given).id, "soon", 7)).toMatchObject({
      value: { deadlineMs: given.now.ms + 7 },
    });
    const none = parked();
    expect(replaceTicket(none, ticketOf(none).id, "none", null)).toMatchObject({ value: { deadlineMs: null } });
    expect(msOf(none.now.at)).toBe(none.now.ms);
  });

  test("voids an allow that nobody began, and nothing else", () => {
    const book = allowed(parked(), A);
    const old = ticketOf(book);
    expect(codeOf(replaceTicket(book, old.id, "wrong one", null))).toBe("ok");
    expect(book.voidedDecisions).toEqual([old.id]);
    expect(book.call(A)).toMatchObject({ status: "awaiting", authorisation: null, effectiveAt: null });
    expect(book.ticketAt(old.id)?.status).toBe("answered");
    const executing = begun();
    expect(codeOf(replaceTicket(executing, ticketOf(executing).id, "late", null))).toBe("not_awaiting");
    const ended = cancelled(parked());
    expect(codeOf(replaceTicket(ended, ticketOf(ended).id, "late", null))).toBe("run_ended");
    expect(() => replaceTicket(book, "none", "x", null)).toThrow(/not in the book/);
  });

  test("a pause is replaced by a pause", () => {
    const book = newBook();
    pause(book, "lunch");
    const then = next(book);
    expect(replaceTicket(then, then.openPause()?.id ?? "", "longer", 5_000)).toMatchObject({
      value: { kind: "pause", callRef: null, prompt: "lunch" },
    });
  });
});

describe("cancel", () => {
  test("a ticket: its call is cancelled, siblings and the run go on", () => {
    const book = parked([aCall(), aCall()]);
    expect(cancelTicket(book, ticketOf(book).id, "no need")).toMatchObject({ value: { status: "cancelled" } });
    expect(book.call(A).outcomeCause).toBe("ticket_cancelled");
    expect(book.call(B).status).toBe("awaiting");
    expect(codeOf(cancelTicket(next(book), ticketOf(book).id, "again"))).toBe("not_awaiting");
    const ended = cancelled(parked());
    expect(codeOf(cancelTicket(ended, ticketOf(ended).id, "late"))).toBe("run_ended");
    expect(() => cancelTicket(book, "none", "x")).toThrow(/not in the book/);
  });

  test("a pause: the run goes on", () => {
    const book = newBook();
    pause(book, "lunch");
    const then = next(book);
    cancelTicket(then, then.openPause()?.id ?? "", "back");
    expect(then.state).toBe("running");
  });

  test("a run: what waits is closed, what executes stays, what may have happened is indeterminate", () => {
    const book = allowed(parked([aCall(), aCall()]), B);
    cancelRun(book, "enough");
    expect(book.calls().map((call) => call.outcomeCause)).toEqual(["run_ended", "run_ended"]);
    expect(types(book)).toEqual(["ticket_cancelled", "run_ended"]);
    expect(book.cancelsQueuedJobs).toBe(true);
    expect(cancelled(begun()).call(A).status).toBe("executing");
    expect(cancelled(lapsed({ effectiveClass: "read_only" })).call(A).status).toBe("indeterminate");
    expect(codeOf(cancelRun(cancelled(parked()), "again"))).toBe("run_ended");
    expect(() => cancelled(parked()).end("stopped")).toThrow(/has ended/);
  });
});

describe("finish", () => {
  test("with an open ticket the run awaits; never begun calls are closed by its end", () => {
    expect(codeOf(finish(parked(), "completed"))).toBe("run_awaiting");
    const book = allowed(parked(), A);
    expect(codeOf(finish(book, "completed"))).toBe("ok");
    expect(book.run.cause).toBe("completed");
    expect(book.call(A).outcomeCause).toBe("run_ended");
    expect(codeOf(finish(next(book), "completed"))).toBe("run_ended");
  });

  test.each([
    ["executing", () => begun()],
    ["indeterminate", () => lapsed()],
    ["approved with an unreported attempt", () => lapsed({ effectiveClass: "read_only" })],
  ])("over a call that is %s it is never a success", (_state, made) => {
    expect(codeOf(finish(made(), "completed"))).toBe("call_unfinished");
    for (const status of ["failed", "stopped"] as const) {
      const book = made();
      expect(codeOf(finish(book, status))).toBe("ok");
      expect(book.run).toMatchObject({ cause: "indeterminate", causeCode: status });
    }
  });
});

describe("a book", () => {
  test("throws on what no verb may do", () => {
    const book = parked();
    expect(() => book.amend(A, { status: "executing" })).toThrow(/may not move/);
    expect(() => book.closeTicket({ ...ticketOf(book), status: "answered" }, "cancelled", "cancelled")).toThrow(
      /may not/,
    );
    expect(() => book.call("s9.9" as never)).toThrow(/not in the book/);
    expect(() => book.batch(9)).toThrow(/not in the book/);
    expect(() => book.amendTicket("none", {})).toThrow(/not in the book/);
    expect(() => newBook().addCall({ ...book.call(A), step: 2 })).toThrow(/not its place/);
    const odd = altered(book, A, { status: "approved", attempt: 1, unreported: false });
    expect(() => odd.end("stopped")).toThrow(/was begun/);
  });

  test("a stored text that no longer reads, and a ticket of no legal target, were tampered with", () => {
    expect(() => standingOf(altered(parked(), A, { args: "{" as never }), ticketOf(parked()))).toThrow();
    const book = parked();
    expect(() => answer(next(book, 0, { tickets: [{ ...ticketOf(book), kind: "pause" }] }), A, ALLOW)).toThrow(
      /no legal target/,
    );
    expect(() => answer(altered(book, A, { args: "{" as never }), A, ALLOW)).toThrow(/is no JSON/);
  });
});
