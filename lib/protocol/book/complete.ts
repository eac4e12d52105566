import { ok, type Result, refuse } from "@/lib/result";
import type { CallRef } from "../call";
import type { CanonicalJson, JsonObject } from "../canonical-json";
import { sha256Hex } from "../hash";
import { type Refusal, refusal } from "../refusals";
import { followUp } from "./batch";
import { isLapsed } from "./begin";
import { type Book, NO_CLAIM } from "./book";
import { type CallFacts, isTerminal, mayHaveHappened } from "./facts";
import { keep, reference } from "./words";

/** What an executor says of its attempt: a result, or an error. */
export interface Report {
  readonly attempt: number;
  readonly output: CanonicalJson | null;
  readonly error: CanonicalJson | null;
  /** The effect was found done by an earlier attempt of the same call, and was not repeated. */
  readonly recovered: boolean;
}

export interface Completed {
  readonly call: CallFacts;
  readonly late: boolean;
  /** Nothing changed: the same report again, or one that agrees with a settlement. */
  readonly repeated: boolean;
}

/**
 * A report of fact. The attempt is judged first; then the call as it stands, without acting on a lapse that is met. It changes the
 * call and the trace and never a run that has ended. Source: protocol §6 "Complete".
 */
export function complete(book: Book, ref: CallRef, report: Report): Result<Completed, Refusal> {
  const call = book.call(ref);
  if (call.attempt === 0 || report.attempt !== call.attempt) {
    return refuse(
      refusal("stale_attempt", {
        call_ref: ref,
        attempt: report.attempt,
        current_attempt: call.attempt,
        state: call.status,
        reported: keepReport(book, report),
      }),
    );
  }
  if (isTerminal(call)) return judgeAgain(book, call, report);
  if (!mayHaveHappened(call)) throw new Error(`call ${ref} has attempt ${call.attempt} and is ${call.status}`);
  return ok({ ...record(book, call, report), repeated: false });
}

/** Another result on a completed call is a conflict; against a settlement it is a contradiction. Both are kept. */
function judgeAgain(book: Book, call: CallFacts, report: Report): Result<Completed, Refusal> {
  const done = { call, late: call.late, repeated: true };
  if (call.settledBy !== null) {
    const agrees = (call.outcome === "succeeded") === (report.error === null);
    if (!agrees) return refuse(conflict("settlement_contradicted", book, call, report));
    book.note(report.error === null ? "action_executed" : "action_failed", {
      call_ref: call.callRef,
      attempt: report.attempt,
      late: true,
      agrees_with_settlement: true,
      result: keepReport(book, report),
    });
    return ok(done);
  }
  const isSame = call.result === report.output && call.error === report.error;
  return isSame ? ok(done) : refuse(conflict("result_conflict", book, call, report));
}

function conflict(
  code: "settlement_contradicted" | "result_conflict",
  book: Book,
  call: CallFacts,
  report: Report,
): Refusal {
  return refusal(code, {
    call_ref: call.callRef,
    attempt: report.attempt,
    outcome: call.outcome,
    reported: keepReport(book, report),
  });
}

/** What was reported is never lost, also where it is refused. */
function keepReport(book: Book, { output, error }: Report): JsonObject {
  return keep(book, "report", error ?? output ?? "null");
}

function record(book: Book, call: CallFacts, report: Report): { call: CallFacts; late: boolean } {
  const late = call.status !== "executing" || isLapsed(book, call) || book.run.cause !== null;
  const failed = report.error !== null;
  const done = book.complete(call.callRef, failed ? "failed" : "succeeded", failed ? "reported_failure" : "executed", {
    result: report.output,
    error: report.error,
    late,
  });
  const text = report.error ?? report.output ?? "null";
  book.note(failed ? "action_failed" : report.recovered ? "action_recovered" : "action_executed", {
    call_ref: call.callRef,
    attempt: report.attempt,
    result: reference(text, `call:${call.callRef}:${failed ? "error" : "result"}`),
    ...(late ? { late } : {}),
  });
  followUp(book, call.step);
  // Whoever reports in time goes on by itself; a late one's claim is another's, who may have left the run for a person to settle.
  if (late) book.enqueue({ dedupeKey: `late:${call.callRef}:${call.attempt}`, ticketId: null });
  return { call: done, late };
}

/**
 * The gateway met something else at the target, or the target outside its roots, and did nothing. Only a run of the command line
 * keeps its allow and may be retried. Source: protocol §5 "Call", §6 "C12".
 */
export function conflictOfTarget(
  book: Book,
  ref: CallRef,
  attempt: number,
  code: "output_conflict" | "output_outside_roots",
  contents: { readonly expected: string; readonly existing: string | null },
): Refusal {
  const call = book.call(ref);
  if (call.status !== "executing" || call.attempt !== attempt) {
    return refusal("stale_attempt", { call_ref: ref, attempt, current_attempt: call.attempt, state: call.status });
  }
  const hashes = {
    expected_content_hash: sha256Hex(contents.expected),
    ...(contents.existing === null ? {} : { existing_content_hash: contents.existing }),
  };
  book.amend(ref, { ...NO_CLAIM, status: "approved", unreported: false });
  book.note("action_conflict", { call_ref: ref, attempt, code, ...hashes });
  return refusal(code, { call_ref: ref, ...hashes });
}
