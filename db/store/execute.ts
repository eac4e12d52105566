import type { Scope, Tx } from "@/db/client";
import { type BeginRequest, type Begun, begin, renew } from "@/lib/protocol/book/begin";
import { type Completed, complete, conflictOfTarget, type Report } from "@/lib/protocol/book/complete";
import { type CallFacts, isInHand } from "@/lib/protocol/book/facts";
import type { CallRef } from "@/lib/protocol/call";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import type { JobClaim } from "@/lib/protocol/mailbox-job";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import type { Executor } from "@/lib/protocol/run";
import { ok, type Result, refuse } from "@/lib/result";
import { ackWithin } from "./mailbox/report";
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
  const what = {
    ...onCallOf("execute_claimed", runId, call, saidOf(sent)),
    beside: (tx: Tx) => isHeld(tx, { jobId: claim.job, token: claim.token }),
  };
  return onCall(scope, caller, what, "worker", ({ book, beside: held }, ref) =>
    held ? begin(book, ref, request) : refuse(refusal("stale_claim", { job_id: claim.job })),
  );
}

async function isHeld(tx: Tx, claim: JobClaim): Promise<boolean> {
  const [held] = await tx.sql`select from jobs where ${underClaim(tx, claim)}`;
  return held !== undefined;
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

export interface CompletedClaimed extends Completed {
  /** The job was acked with it: nothing of the run is left for its worker. */
  readonly acked: boolean;
}

/**
 * A worker reports a call that it ran under its job's claim. Where nobody plays the run's agent here and no other call may run, this
 * is the job's last write, and its ack rides in it: no crash comes between. Source: interleaving 7.
 */
export async function completeClaimed(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  report: Report,
  { ackWhenIdle }: { readonly ackWhenIdle: JobClaim | null },
): Promise<Outcome<CompletedClaimed>> {
  let acked = false;
  const what = reportOf(runId, call, report, "worker");
  const done = await onCall(scope, caller, what, "worker", ({ tx, book, alongside }, ref) => {
    const completed = complete(book, ref, report);
    if (completed.ok && ackWhenIdle !== null && !book.calls().some(isInHand))
      alongside(async () => {
        acked = await ackWithin(tx, ackWhenIdle);
      });
    return completed;
  });
  return done.ok ? ok({ ...done.value, value: { ...done.value.value, acked } }) : done;
}

/** Report an attempt's result. Accepted late, and after the run has ended; never acts on a lapse that it meets. */
export async function completeCall(
  scope: Scope,
  caller: Caller,
  runId: string,
  call: string,
  report: Report,
  executor: Exclude<Executor, "worker"> = "client",
): Promise<Outcome<Completed>> {
  const what = reportOf(runId, call, report, executor);
  return onCall(scope, caller, what, executor, ({ book }, ref) => complete(book, ref, report));
}

function reportOf(runId: string, call: string, { attempt }: Report, executor: Executor) {
  return {
    ...onCallOf(executor === "worker" ? "execute_claimed" : "complete", runId, call, { attempt }),
    ...(executor === "cli" ? { right: "drive_cli_run" as const } : {}),
    leavesLapses: true,
    // Our own executor has acted: its report must not be lost because the workspace was suspended meanwhile.
    evenSuspended: executor !== "client",
  };
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
async function onCall<Value, Beside = undefined>(
  scope: Scope,
  caller: Caller,
  what: Visit<Beside> & { readonly call: string },
  executor: Executor,
  act: (visited: Visited<Beside>, ref: CallRef) => Result<Value, Refusal> | Promise<Result<Value, Refusal>>,
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
