import type { Scope } from "@/db/client";
import { type BeginRequest, type Begun, begin, renew } from "@/lib/protocol/book/begin";
import { type Completed, complete, conflictOfTarget, type Report } from "@/lib/protocol/book/complete";
import type { CallFacts } from "@/lib/protocol/book/facts";
import type { Instant } from "@/lib/protocol/instant";
import type { Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import type { Executor } from "@/lib/protocol/run";
import { type Result, refuse } from "@/lib/result";
import { findCall, type Outcome, type Visit, type Visited, visit } from "./visit";

type Sent = Omit<BeginRequest, "claim" | "earlierClaimIsOver">;

/** An agent that executes for itself claims one call. `executing` is committed when this returns. */
export async function beginCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  sent: Sent,
): Promise<Outcome<Begun>> {
  const request: BeginRequest = { ...sent, claim: null, earlierClaimIsOver: () => false };
  return onCall(scope, caller, visitFor("begin", runId, call, sent), "client", ({ book }, ref) =>
    begin(book, ref, request),
  );
}

/**
 * The worker claims a call under its job's claim: a claim of another token on the same mailbox is over, whatever its lease says,
 * because a mailbox has one claimed job. `stale_claim` when the job is no longer the worker's.
 */
export async function beginClaimed(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  sent: Sent,
  claim: { readonly job: string; readonly token: string },
): Promise<Outcome<Begun>> {
  const request: BeginRequest = {
    ...sent,
    claim,
    earlierClaimIsOver: (earlier) => earlier.claimToken !== null && earlier.claimToken !== claim.token,
  };
  return onCall(scope, caller, visitFor("execute_claimed", runId, call, sent), "worker", async ({ tx, book }, ref) => {
    const [held] = await tx.sql`
      select from jobs where workspace_id = ${tx.workspace} and job_id = ${claim.job} and claim_token = ${claim.token}
        and status = 'Claimed' and lease_until >= ${book.now.at}`;
    return held ? begin(book, ref, request) : refuse(refusal("stale_claim", { job_id: claim.job }));
  });
}

/** The command line resumes its own run. An attempt of a process that has ended is over with it. */
export async function beginCliCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  sent: Omit<Sent, "requestId" | "action" | "args" | "output"> & { readonly output: Sent["output"] | null },
  isAlive: (process: string) => boolean,
): Promise<Outcome<Begun>> {
  const what = { ...visitFor("drive_cli_run", runId, "s1.0", {}), rejection: "resume_rejected" };
  return onCall(scope, caller, what, "cli", ({ book }, ref) => {
    const call = book.call(ref);
    return begin(book, ref, {
      ...sent,
      // The command line names what it found: the request on record, and the act as it is stored now.
      requestId: book.newestTicketOf(ref)?.correlationId ?? "",
      action: call.action,
      args: call.args,
      output: sent.output ?? call.target,
      claim: null,
      earlierClaimIsOver: (earlier) => earlier.claimedBy !== null && !isAlive(earlier.claimedBy),
    });
  });
}

export async function renewCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  attempt: number,
  leaseMs: number,
): Promise<Outcome<Instant>> {
  const what = visitFor("renew", runId, call, { attempt });
  return onCall(scope, caller, what, "client", ({ book }, ref) => renew(book, ref, attempt, leaseMs));
}

/** Report an attempt's result. Accepted late, and after the run has ended; never acts on a lapse that it meets. */
export async function completeCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  report: Report,
  executor: Executor = "client",
): Promise<Outcome<Completed>> {
  const verb = executor === "client" ? "complete" : executor === "cli" ? "drive_cli_run" : "execute_claimed";
  const what = { ...visitFor(verb, runId, call, { attempt: report.attempt }), rejection: "resume_rejected" };
  return onCall(scope, caller, what, executor, ({ book }, ref) => complete(book, ref, report));
}

/** The gateway found something else at the target and did nothing. The run of a command line may try again. */
export async function reportTargetConflict(
  scope: Scope,
  caller: Caller,
  runId: string,
  attempt: number,
  code: "output_conflict" | "output_outside_roots",
  contents: { readonly expected: string; readonly existing: string | null },
): Promise<Outcome<CallFacts>> {
  const what = { ...visitFor("drive_cli_run", runId, "s1.0", { attempt }), rejection: "resume_rejected" };
  return onCall<CallFacts>(scope, caller, what, "cli", ({ book }, ref) =>
    refuse(conflictOfTarget(book, ref, attempt, code, contents)),
  );
}

interface Named extends Visit {
  readonly call: string;
  readonly runId: string;
  readonly rejection?: string;
}

function visitFor(verb: Verb, runId: string, call: string, input: object): Named {
  const { requestId, attempt, worker } = { requestId: null, attempt: null, worker: null, ...input } as {
    requestId: string | null;
    attempt: number | null;
    worker: string | null;
  };
  return {
    verb,
    at: { run: runId },
    runId,
    call,
    attempted: { run: runId, call, input: { request_id: requestId, attempt, worker } },
  };
}

/** The call that the caller named, in a run that the caller's kind executes. */
async function onCall<Value>(
  scope: Scope,
  caller: Caller,
  { runId: _runId, rejection, ...what }: Named,
  executor: Executor,
  act: (visited: Visited, ref: Parameters<typeof begin>[1]) => Result<Value, Refusal> | Promise<Result<Value, Refusal>>,
): Promise<Outcome<Value>> {
  const attempted =
    rejection === "resume_rejected" ? { ...what.attempted, rejection: "resume_rejected" as const } : what.attempted;
  return visit(scope, caller, attempted ? { ...what, attempted } : what, async (visited) => {
    const { book } = visited;
    if (book.run.executor !== executor) {
      return refuse(
        executor === "cli" ? refusal("not_permitted") : refusal("wrong_executor", { executor: book.run.executor }),
      );
    }
    const found = findCall(book, what.call);
    return found.ok ? act(visited, found.value) : found;
  });
}
