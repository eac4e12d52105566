import type { Scope } from "@/db/client";
import { type BeginRequest, type Begun, begin, renew } from "@/lib/protocol/book/begin";
import { type Completed, complete, conflictOfTarget, type Report } from "@/lib/protocol/book/complete";
import type { CallFacts } from "@/lib/protocol/book/facts";
import type { CallRef } from "@/lib/protocol/call";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import type { Executor } from "@/lib/protocol/run";
import { type Result, refuse } from "@/lib/result";
import { underClaim } from "./mailbox/rows";
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
  return onCall(scope, caller, onCallOf("begin", runId, call, saidOf(sent)), "client", ({ book }, ref) =>
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
  return onCall(
    scope,
    caller,
    onCallOf("execute_claimed", runId, call, saidOf(sent)),
    "worker",
    async ({ tx, book }, ref) => {
      const [held] = await tx.sql`select from jobs where ${underClaim(tx, { jobId: claim.job, token: claim.token })}`;
      return held ? begin(book, ref, request) : refuse(refusal("stale_claim", { job_id: claim.job }));
    },
  );
}

/** The command line resumes its own run. An attempt of a process that has ended is over with it. */
export async function beginCliCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  sent: Omit<Sent, "requestId" | "action" | "args" | "output"> & { readonly output: Sent["output"] | null },
  isAlive: (process: string) => boolean,
): Promise<Outcome<Begun>> {
  const what = { ...onCallOf("begin", runId, "s1.0", { output: sent.output }), right: "drive_cli_run" as const };
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
  const what = onCallOf("renew", runId, call, { attempt });
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
  const verb = executor === "worker" ? "execute_claimed" : "complete";
  const what = {
    ...onCallOf(verb, runId, call, { attempt: report.attempt }),
    ...(executor === "cli" ? { right: "drive_cli_run" as const } : {}),
    leavesLapses: true,
    // Our own executor has acted: its report must not be lost because the workspace was suspended meanwhile.
    evenSuspended: executor !== "client",
  };
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
  const what = { ...onCallOf("complete", runId, "s1.0", { attempt }), right: "drive_cli_run" as const };
  return onCall<CallFacts>(scope, caller, what, "cli", ({ book }, ref) =>
    refuse(conflictOfTarget(book, ref, attempt, code, contents)),
  );
}

function saidOf({ requestId, action, worker }: Sent): JsonObject {
  return { request_id: requestId, action, worker };
}

/** What a verb on one call visits. All of them are claims or reports, so a refusal of one is a rejected resume. */
function onCallOf(verb: Act, runId: string, call: string, input: JsonObject): Visit & { readonly call: string } {
  const attempted = { run: runId, call, input, rejection: "resume_rejected" } as const;
  return { verb, at: { run: runId }, call, attempted };
}

/** The call that the caller named, in a run that the caller's kind executes. */
async function onCall<Value>(
  scope: Scope,
  caller: Caller,
  what: Visit & { readonly call: string },
  executor: Executor,
  act: (visited: Visited, ref: CallRef) => Result<Value, Refusal> | Promise<Result<Value, Refusal>>,
): Promise<Outcome<Value>> {
  return visit(scope, caller, what, async (visited) => {
    const { book } = visited;
    if (book.run.executor !== executor) {
      const mine = refusal("wrong_executor", { executor: book.run.executor });
      return refuse(executor === "cli" ? refusal("not_permitted") : mine);
    }
    const found = findCall(book, what.call);
    return found.ok ? act(visited, found.value) : found;
  });
}
