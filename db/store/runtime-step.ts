import { type Db, inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import { type FinishStatus, finish } from "@/lib/protocol/book/closing";
import type { RunFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { pauseAtBudget, type SignalNote } from "@/lib/protocol/book/signals";
import { keep } from "@/lib/protocol/book/words";
import type { JsonObject, JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import type { Refusal } from "@/lib/protocol/refusals";
import { endsTheRun } from "@/lib/protocol/signal";
import { ok, type Result, refuse } from "@/lib/result";
import { dropLiveText } from "./live-text";
import type { ClaimedJob } from "./mailbox/claim";
import { putState, type StateClaim } from "./states";
import { type Outcome, visit } from "./visit";

/** What a step was thought out on: the claim that moves the run, and the agent's state as it was read. */
export interface Ground {
  readonly run: string;
  readonly job: Pick<ClaimedJob, "jobId" | "token">;
  readonly stateSha256: string | null;
}

/**
 * Commit one step of an agent, all its verbs together. `not_yours` when the run has ended, the claim is another's by now, or the agent's state has
 * moved on: a worker that slept through its lease must not write what it had thought out before. Source: house.md habit 2.
 */
export async function inRuntimeStep<Value>(
  db: Db,
  workspace: string,
  ground: Ground,
  work: (tx: Tx) => Promise<Value>,
): Promise<Result<Value, "not_yours">> {
  return inWorkspaceByKey(db, workspace, async (tx) => {
    // One flight: each of these sees what was committed before the run's lock was ours.
    const [[run], [claim], [state]] = await Promise.all([
      tx.sql<{ cause: string | null }[]>`
        select cause from runs where workspace_id = ${tx.workspace} and id = ${ground.run} for no key update`,
      tx.sql`
        select from jobs where workspace_id = ${tx.workspace} and job_id = ${ground.job.jobId}
          and claim_token = ${ground.job.token} and status = 'Claimed'`,
      tx.sql<{ sha256: string }[]>`
        select sha256 from run_states where workspace_id = ${tx.workspace} and run = ${ground.run} and bound_at is not null
        order by bound_at desc limit 1`,
    ]);
    if (run?.cause !== null || !claim || (state?.sha256 ?? null) !== ground.stateSha256)
      return refuse("not_yours" as const);
    await dropLiveText(tx, ground.run);
    return ok(await work(tx));
  });
}

/** Keep the agent's state under its hash, for the step of this transaction to bind. */
export async function keepState(
  tx: Tx,
  caller: Caller,
  runId: string,
  kind: Pick<StateClaim, "format" | "version">,
  text: string,
): Promise<Outcome<StateClaim>> {
  const bytes = Buffer.from(text, "utf8");
  const sha256 = sha256Hex(bytes);
  const kept = await putState(tx, caller, runId, sha256, bytes);
  return kept.ok ? ok({ ...kept.value, value: { ...kind, sha256, ref: null } }) : kept;
}

export interface RejectedSignal {
  readonly verb: Extract<Act, "propose" | "ask" | "finish">;
  readonly refusal: Refusal;
  readonly preview: JsonObject;
}

/** A signal that changes nothing: recorded and counted. Where nothing is left to go on with, the run fails with its code. */
export async function rejectSignal(
  scope: Scope,
  caller: Caller,
  runId: string,
  rejected: RejectedSignal,
): Promise<Outcome<null>> {
  const attempted = { run: runId, input: rejected.preview, rejection: "signal_rejected" } as const;
  const what = { verb: rejected.verb, at: { run: runId }, attempted };
  return visit<null>(scope, caller, what, ({ tx, book, alongside }) => {
    const { code } = rejected.refusal;
    if (book.run.cause === null && endsTheRun(code)) book.end("failed", code);
    const { id } = book.run;
    alongside(
      () =>
        tx.sql`update runs set rejected_signals = rejected_signals + 1 where workspace_id = ${tx.workspace} and id = ${id}`,
    );
    return refuse(rejected.refusal);
  });
}

export interface AgentEnding {
  readonly status: FinishStatus | "budget_exhausted";
  readonly code: string | null;
  readonly signal: SignalNote | null;
  readonly output?: JsonValue;
  /** The agent's own words; kept where they can be erased. */
  readonly reason: string | null;
}

/** A worker's agent ends its run, by its signal or because it cannot go on. */
export async function endAgentRun(
  scope: Scope,
  caller: Caller,
  runId: string,
  { status, code, signal, output, reason }: AgentEnding,
): Promise<Outcome<RunFacts>> {
  const attempted = { run: runId, input: { status } };
  return visit<RunFacts>(scope, caller, { verb: "finish", at: { run: runId }, attempted }, ({ book }) => {
    const finished = finish(book, status, { signal, code });
    if (!finished.ok) return finished;
    if (reason !== null) keep(book, "reason", reason);
    book.output = output;
    return ok(book.run);
  });
}

/** Ask a person whether a run whose budget is spent may go on. Source: protocol §3 `pause/budget_reached`. */
export async function pauseForBudget(
  scope: Scope,
  caller: Caller,
  runId: string,
  spent: number,
): Promise<Outcome<TicketFacts>> {
  const attempted = { run: runId, input: { spent } };
  return visit(scope, caller, { verb: "ask", at: { run: runId }, attempted }, ({ book }) => pauseAtBudget(book, spent));
}
