import type { Scope } from "@/db/client";
import {
  actOnTime,
  cancelRun,
  cancelTicket,
  type FinishStatus,
  finish,
  replaceTicket,
  type Settlement,
  settleCall,
  withdraw,
} from "@/lib/protocol/book/closing";
import type { CallFacts, RunFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { runEnded } from "@/lib/protocol/book/refusing";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, refuse } from "@/lib/result";
import { findCall, type Outcome, visit } from "./visit";

/** Say what became of an effect that nobody reported; never by the executor. Source: protocol §6 "Settle". */
export async function settle(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  settlement: Settlement,
): Promise<Outcome<CallFacts>> {
  const attempted = { run: runId, call, input: { verdict: settlement.verdict } };
  return visit(scope, caller, { verb: "settle", at: { run: runId }, call, attempted }, ({ book }) => {
    if (book.run.principalId === caller.principal && book.run.executor === "client")
      return refuse(refusal("not_permitted"));
    const found = findCall(book, call);
    return found.ok ? settleCall(book, found.value, settlement) : found;
  });
}

/** The run's own agent takes back a call that nobody has begun. */
export async function withdrawCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  reason: string,
): Promise<Outcome<CallFacts>> {
  const attempted = { run: runId, call, input: { reason } };
  return visit(scope, caller, { verb: "withdraw", at: { run: runId }, call, attempted }, ({ book }) => {
    const found = findCall(book, call);
    return found.ok ? withdraw(book, found.value, reason) : found;
  });
}

/** A fresh ticket for the same call; extending a deadline is this too. Source: protocol §8 "Replace". */
export async function replace(
  scope: Scope,
  caller: Caller,
  ticketId: string,
  reason: string,
  deadlineInMs: number | null,
): Promise<Outcome<TicketFacts>> {
  const attempted = { ticket: ticketId, input: { reason } };
  return visit(scope, caller, { verb: "replace_ticket", at: { ticket: ticketId }, attempted }, ({ book }) =>
    replaceTicket(book, ticketId, reason, deadlineInMs),
  );
}

/** Cancel one call: the model is told "cancelled", siblings and run go on. */
export async function cancelCall(
  scope: Scope,
  caller: Caller,
  ticketId: string,
  reason: string,
): Promise<Outcome<TicketFacts>> {
  const attempted = { ticket: ticketId, input: { reason } };
  return visit(scope, caller, { verb: "cancel_ticket", at: { ticket: ticketId }, attempted }, ({ book }) =>
    cancelTicket(book, ticketId, reason),
  );
}

/** End a run as cancelled. `code` says why where a machine decided it, such as `interrupted`. */
export async function cancel(
  scope: Scope,
  caller: Caller,
  runId: string,
  reason: string,
  code: string | null = null,
): Promise<Outcome<RunFacts>> {
  const attempted = { run: runId, input: { reason } };
  return visit(scope, caller, { verb: "cancel_run", at: { run: runId }, attempted }, ({ book }) => {
    const cancelled = cancelRun(book, reason, code);
    return cancelled.ok ? ok(book.run) : cancelled;
  });
}

/** The agent says that its run is done. Source: protocol §5 "Finish". */
export async function finishRun(
  scope: Scope,
  caller: Caller,
  runId: string,
  status: FinishStatus,
  output: JsonValue | undefined,
): Promise<Outcome<RunFacts>> {
  const attempted = { run: runId, input: { status } };
  return visit(scope, caller, { verb: "finish", at: { run: runId }, attempted }, ({ book }) => {
    const finished = finish(book, status);
    if (!finished.ok) return finished;
    book.output = output;
    return ok(book.run);
  });
}

/** An adapter could not resume its framework: the decision stays, and the run is shown as `resume_failed`. */
export async function reportResumeFailed(
  scope: Scope,
  caller: Caller,
  runId: string,
  error: JsonValue,
): Promise<Outcome<RunFacts>> {
  return visit(scope, caller, { verb: "resume_failed", at: { run: runId } }, ({ book }) => {
    if (book.run.cause !== null) return refuse(runEnded(book));
    book.resumeFailed = canonicalJson(error);
    book.note("state_transition", { cause: "resume_failed" });
    return ok(book.run);
  });
}

/** Do what the clock has brought about in one run: deadlines and leases that are over. Idempotent; any number may sweep. */
export async function sweepRun(scope: Scope, caller: Caller, internalId: string): Promise<Outcome<null>> {
  const what = { verb: "execute_claimed", at: { internal: internalId }, evenSuspended: true } as const;
  return visit(scope, caller, what, ({ book }) => {
    actOnTime(book);
    return ok(null);
  });
}
