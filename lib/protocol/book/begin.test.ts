import { describe, expect, test } from "vitest";
import {
  A,
  aCall,
  allowed,
  altered,
  answer,
  B,
  beginning,
  begun,
  codeOf,
  DENY,
  next,
  parked,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { canonicalJson } from "../canonical-json";
import { plusMs } from "../instant";
import type { Policy } from "../permission-rule";
import { pause } from "./ask";
import { type BeginRequest, begin, effectKeyOf, lapseOver, renew } from "./begin";
import type { Book } from "./book";
import { cancelRun, settleCall, withdraw } from "./closing";
import { complete } from "./complete";

const NO_TRANSFERS: Policy = {
  version: 2,
  rules: [{ id: "no-transfers", behaviour: "deny", tool: "send_*" }],
  default: "ask",
};

function tryBegin(book: Book, over: Partial<BeginRequest> = {}, ref = A) {
  return begin(book, ref, beginning(book, ref, over));
}

const ready = (calls = [aCall()]) => allowed(parked(calls), A);
const report = { attempt: 1, output: canonicalJson("done"), error: null, recovered: false };

describe("begin grants an attempt once", () => {
  test("an allowed call executes, and the event is there before the tool is entered", () => {
    const book = ready();
    const outcome = tryBegin(book);
    expect(outcome).toMatchObject({ ok: true, value: { granted: true, attempt: 1, note: null } });
    expect(book.call(A)).toMatchObject({ status: "executing", attempt: 1, unreported: true, claimedBy: "worker-1" });
    expect(types(book)).toEqual(["proposal_verified", "resume_started"]);
  });

  test("a worker's claim is the grant's token", () => {
    const book = ready();
    expect(tryBegin(book, { claim: { job: "job-1", token: "token-1" } })).toMatchObject({
      value: { claimToken: "token-1" },
    });
    expect(book.call(A)).toMatchObject({ claimJob: "job-1", claimToken: "token-1" });
  });

  test("the same key and worker get the same grant; one of them missing or different is in_progress", () => {
    const book = begun();
    expect(tryBegin(book)).toMatchObject({ ok: true, value: { attempt: 1, claimToken: book.call(A).claimToken } });
    for (const over of [{ key: null }, { worker: null }, { key: "key-2" }, { worker: "worker-2" }])
      expect(codeOf(tryBegin(book, over))).toBe("in_progress");
    expect(book.changed).toBe(false);
  });

  test("an earlier claim that is known to be over is not waited for", () => {
    const book = begun({ effectiveClass: "create_new" });
    expect(tryBegin(book, { earlierClaimIsOver: () => true, key: "key-2" })).toMatchObject({ value: { attempt: 2 } });
  });

  test("the effect's key is one for all attempts of a call and another for every other call", () => {
    const book = allowed(parked([aCall(), aCall()]), A, B);
    const first = effectKeyOf(book, book.call(A));
    tryBegin(book);
    expect(book.call(A).effectKey).toBe(first);
    expect(effectKeyOf(book, book.call(B))).not.toBe(first);
  });
});

function paused(book: Book): Book {
  pause(book, "wait");
  return next(book);
}

/** Each check with a way to fail it, in the order of protocol §6. A later one never hides an earlier one. */
const CHECKS: readonly (readonly [code: string, fail: (book: Book) => Book, say: Partial<BeginRequest>])[] = [
  ["run_awaiting", paused, {}],
  ["in_undo_window", (book) => altered(book, A, { effectiveAt: plusMs(book.now.at, 1) }), {}],
  ["approval_lapsed", (book) => altered(book, A, { allowValidUntil: book.now.ms - 1 }), {}],
  ["approver_revoked", (book) => altered(book, A, { approverMay: false }), {}],
  ["snapshot_mismatch", (book) => book, { snapshotId: "snapshot-2" }],
  ["fingerprint_mismatch", (book) => book, { catalogFingerprint: "fingerprint-2" }],
  ["output_mismatch", (book) => book, { output: canonicalJson("account:2") }],
  ["approval_request_mismatch", (book) => book, { requestId: "another" }],
  ["proposal_hash_mismatch", (book) => book, { args: canonicalJson({ amount: 2 }) }],
  ["approval_rejected", (book) => next(book, 0, { policy: NO_TRANSFERS }), {}],
];

describe("begin's checks", () => {
  test.each(CHECKS)("%s is found, and changes nothing but what a deny rule decides", (code, fail, say) => {
    const book = fail(ready());
    const before = book.call(A);
    expect(codeOf(tryBegin(book, say))).toBe(code);
    if (code !== "approval_rejected") expect(book.call(A)).toBe(before);
    else expect(book.call(A)).toMatchObject({ outcome: "blocked", outcomeCause: "blocked_by_rule" });
  });

  test("of any two that fail the first in the order is the answer", () => {
    for (const [first, [code, fail, say]] of CHECKS.entries()) {
      for (const [, alsoFail, alsoSay] of CHECKS.slice(first + 1)) {
        const book = alsoFail(fail(ready()));
        expect(codeOf(tryBegin(book, { ...alsoSay, ...say }))).toBe(code);
      }
    }
  });

  test("a run whose snapshot has tools must say what it runs now", () => {
    const book = allowed(parked([aCall()], {}, { hasCatalog: true }), A);
    expect(codeOf(tryBegin(book))).toBe("snapshot_mismatch");
    expect(codeOf(tryBegin(book, { snapshotId: "snapshot-1" }))).toBe("fingerprint_mismatch");
    const said = { snapshotId: "snapshot-1", catalogFingerprint: "fingerprint-1" };
    expect(codeOf(tryBegin(book, said))).toBe("ok");
  });

  test("a stored proposal that was rewritten is found, whatever is sent", () => {
    const args = canonicalJson({ amount: 1_000 });
    const book = altered(ready(), A, { args });
    expect(codeOf(tryBegin(book))).toBe("proposal_hash_mismatch");
    const target = canonicalJson("account:9");
    expect(codeOf(tryBegin(altered(ready(), A, { target })))).toBe("proposal_hash_mismatch");
  });

  test("an allow that no decision stands behind is none", () => {
    const book = ready();
    const calls = book.calls().map((call) => ({ ...call, decidedHash: null }));
    const bare = next(book, 0);
    Object.assign(bare.call(A), calls[0]);
    expect(codeOf(tryBegin(bare))).toBe("approval_request_mismatch");
  });

  test("what is approved has an authorisation, else it is our fault", () => {
    expect(() => tryBegin(altered(ready(), A, { authorisation: null }))).toThrow(/without an authorisation/);
  });

  test("sequential calls begin in order", () => {
    const rule: Policy = { version: 1, rules: [], default: "allow" };
    const book = parked([aCall(), aCall()], { mode: "sequential" }, {}, rule);
    expect(codeOf(tryBegin(book, {}, B))).toBe("batch_order");
    expect(codeOf(tryBegin(book))).toBe("ok");
    complete(book, A, report);
    expect(codeOf(tryBegin(next(book), {}, B))).toBe("ok");
  });

  test("a call not decided yet needs approval; the ended run and an unknown effect are said first", () => {
    const waiting = parked([aCall(), aCall()], { mode: "sequential" });
    expect(codeOf(tryBegin(waiting))).toBe("approval_required");
    expect(tryBegin(waiting, {}, B)).toMatchObject({
      refusal: { code: "approval_required", facts: { state: "queued", current_request_id: null } },
    });
    const over = ready();
    cancelRun(over, "enough");
    expect(codeOf(tryBegin(next(over)))).toBe("run_ended");
    expect(codeOf(tryBegin(allowed(parked([aCall()], {}, { parentEnded: true }), A)))).toBe("run_ended");
    const unknown = next(begun(), 60_001);
    lapseOver(unknown);
    expect(codeOf(tryBegin(next(unknown)))).toBe("indeterminate");
  });

  test("an attempt that nobody reported is not hidden by a later deny rule", () => {
    const lapsed = next(begun({ effectiveClass: "create_new" }), 60_001);
    lapseOver(lapsed);
    const book = next(lapsed, 0, { policy: NO_TRANSFERS });
    expect(codeOf(tryBegin(book))).toBe("indeterminate");
    expect(book.call(A).status).toBe("indeterminate");
  });
});

describe("begin on a completed call", () => {
  test("gives what the first one did, and says why a blocked or cancelled one may not", () => {
    const done = begun();
    complete(done, A, report);
    expect(tryBegin(next(done))).toMatchObject({ ok: true, value: { granted: false, call: { outcome: "succeeded" } } });
    const denied = parked();
    answer(denied, A, DENY);
    expect(tryBegin(next(denied))).toMatchObject({
      refusal: { code: "approval_rejected", facts: { cause: "person" } },
    });
    const blocked = parked([aCall()], {}, {}, NO_TRANSFERS);
    expect(tryBegin(blocked)).toMatchObject({ refusal: { code: "approval_rejected", facts: { cause: "rule" } } });
    const taken = parked();
    withdraw(taken, A, "changed my mind");
    expect(codeOf(tryBegin(next(taken)))).toBe("call_cancelled");
  });
});

describe("a lease", () => {
  test("is over one microsecond after its end, and equal is in time", () => {
    const atEnd = next(begun(), 60_000);
    lapseOver(atEnd);
    expect(atEnd.call(A).status).toBe("executing");
    const past = next(begun(), 60_001);
    lapseOver(past);
    expect(past.call(A)).toMatchObject({ status: "indeterminate", claimToken: null, unreported: true });
    expect(types(past)).toEqual(["action_indeterminate"]);
  });

  test("a class that may be repeated goes back to approved, unless the run has ended", () => {
    const book = next(begun({ effectiveClass: "read_only" }), 60_001);
    lapseOver(book);
    expect(book.call(A).status).toBe("approved");
    expect(tryBegin(next(book), { key: "key-2" })).toMatchObject({ value: { attempt: 2 } });
    const ended = begun({ effectiveClass: "read_only" });
    cancelRun(ended, "enough");
    const after = next(ended, 60_001);
    lapseOver(after);
    expect(after.call(A).status).toBe("indeterminate");
  });

  test("a worker run gets a job for the next attempt", () => {
    const book = allowed(parked([aCall({ effectiveClass: "create_new" })], {}, { executor: "worker" }), A);
    tryBegin(book);
    const past = next(book, 60_001);
    lapseOver(past);
    expect(past.jobs).toEqual([{ dedupeKey: "resume:s1.0:1", ticketId: null }]);
  });

  test("renew moves it for the live attempt alone", () => {
    const book = begun();
    expect(renew(book, A, 1, 90_000)).toEqual({ ok: true, value: plusMs(book.now.at, 90_000) });
    expect(codeOf(renew(book, A, 2, 90_000))).toBe("stale_attempt");
    expect(codeOf(renew(ready(), A, 0, 90_000))).toBe("stale_attempt");
    cancelRun(book, "enough");
    expect(codeOf(renew(next(book), A, 1, 90_000))).toBe("run_ended");
  });

  test("an approved call with an unreported attempt can be settled, and then begins no more", () => {
    const lapsed = next(begun({ effectiveClass: "create_new" }), 60_001);
    lapseOver(lapsed);
    const settlement = { verdict: "happened", output: null, evidence: "seen at the bank" } as const;
    expect(codeOf(settleCall(lapsed, A, settlement))).toBe("ok");
    expect(tryBegin(next(lapsed))).toMatchObject({ value: { granted: false } });
    expect(ticketOf(lapsed).status).toBe("answered");
  });
});
