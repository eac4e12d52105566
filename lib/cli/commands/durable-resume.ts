import { type Db, inWorkspace, type Scope } from "@/db/client";
import { readRunBook } from "@/db/queries/ticket-view";
import { readTrace } from "@/db/queries/trace";
import { decideCliRun } from "@/db/store/decide";
import { beginCliCall, completeCall, reportTargetConflict } from "@/db/store/execute";
import { openRun } from "@/db/store/open-run";
import { PLAIN_CALL, proposeStep } from "@/db/store/propose";
import type { Refused } from "@/db/store/refuse";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import type { FailAt } from "@/lib/runtime/failpoint";
import { createFile } from "@/lib/runtime/gateway/create-file";
import { CommandRefused, refusedBy } from "../refused";

/** What these verbs need: the database, who calls, and this process's own name for its attempts. */
export interface Session {
  readonly db: Db;
  readonly caller: Caller;
  readonly writeRoots: readonly string[];
  readonly process: string;
  readonly isAlive: (process: string) => boolean;
  readonly failAt: FailAt;
}

const AGENT = "command-line";
const FIXTURE = { action: "write_draft", content: "approved technical brief" } as const;
const CALL = "s1.0";

type ResumeResult = "executed" | "recovered" | "already_completed";

/** Record the fixture's proposal and stop for a person. Source: [S1] C12, http-api "Command line". */
export async function start(session: Session, runId: string, output: string): Promise<JsonObject> {
  const { db, caller } = session;
  await inWorkspace(db, caller.workspace, async (tx) => {
    const opened = await openRun(tx, caller, {
      runId,
      agent: AGENT,
      snapshotId: null,
      threadId: null,
      input: null,
      executor: "cli",
      onBehalfOf: null,
      parent: null,
    });
    if (!opened.ok) return refusedRunCommits(opened.refusal, runId);
    const proposed = await proposeStep(tx, caller, runId, fixtureStep(output));
    // Thrown, so that a run whose proposal is refused does not stay behind.
    if (!proposed.ok) throw refusedBy(proposed.refusal);
    return null;
  }).then((refused) => {
    if (refused) throw refused;
  });
  return describeRun(session, runId);
}

function refusedRunCommits(refusal: Refused, runId: string): CommandRefused {
  return refusedBy(refusal, refusal.code === "run_exists" ? `run_exists:${runId}` : refusal.code);
}

function fixtureStep(output: string) {
  return {
    step: 1,
    mode: "sequential",
    coupling: "independent",
    state: null,
    messages: [],
    calls: [
      {
        ...PLAIN_CALL,
        action: FIXTURE.action,
        args: { content: FIXTURE.content },
        output,
        risk: "low",
      },
    ],
  } as const;
}

export async function decide(
  session: Session,
  runId: string,
  verdict: "allow" | "deny",
  hash: string,
): Promise<JsonObject> {
  const decided = await decideCliRun(session.db, session.caller, runId, verdict, hash);
  if (!decided.ok) throw refusedBy(decided.refusal, decisionError(decided.refusal, runId));
  return describeRun(session, runId);
}

function decisionError({ code }: Refused, runId: string): string {
  if (code === "unknown_run") return `unknown_run:${runId}`;
  return code === "run_ended" || code === "expired" || code === "not_awaiting" ? "approval_not_pending" : code;
}

/** Claim the right to execute, perform the act, report it. Each is committed before the next. */
export async function resume(session: Session, runId: string, output: string | null): Promise<JsonObject> {
  const { db, caller } = session;
  const begun = await beginCliCall(
    db,
    caller,
    runId,
    {
      output: output === null ? null : canonicalJson(output),
      worker: session.process,
      key: session.process,
      leaseMs: 60_000,
      snapshotId: null,
      catalogFingerprint: null,
    },
    session.isAlive,
  );
  if (!begun.ok) throw await resumeRefused(session, begun.refusal, runId);
  const answer = begun.value.value;
  if (!answer.granted) {
    if (answer.call.outcome === "failed") throw new CommandRefused("cannot_resume:FAILED");
    return { ...(await describeRun(session, runId)), result: "already_completed" };
  }
  session.failAt("after_claim");
  const result = await execute(session, runId, answer.attempt);
  return { ...(await describeRun(session, runId)), result };
}

async function execute(session: Session, runId: string, attempt: number): Promise<ResumeResult> {
  const { db, caller } = session;
  const call = await readCall(db, caller.workspace, runId);
  session.failAt("before_effect");
  if (call.action !== FIXTURE.action) throw new Error(`the command line does not perform ${call.action}`);
  const effect = await createFile(call, session.writeRoots);
  session.failAt("after_effect");
  if (effect.kind === "executed" || effect.kind === "recovered") {
    const recovered = effect.kind === "recovered";
    const report = { attempt, output: canonicalJson({ content_hash: effect.contentHash }), error: null, recovered };
    const done = await completeCall(db, caller, runId, CALL, report, "cli");
    if (!done.ok) throw refusedBy(done.refusal);
    return effect.kind;
  }
  if (effect.kind === "invalid_args") {
    const error = canonicalJson({ code: effect.kind, message: effect.detail });
    await completeCall(db, caller, runId, CALL, { attempt, output: null, error, recovered: false }, "cli");
    throw new CommandRefused(effect.kind, effect.detail);
  }
  const existing = effect.kind === "output_conflict" ? effect.existingHash : null;
  const told = await reportTargetConflict(db, caller, runId, attempt, effect.kind, {
    expected: effect.expected,
    existing,
  });
  if (told.ok) throw new Error("a conflict is always a refusal");
  throw refusedBy(told.refusal);
}

async function resumeRefused(session: Session, refusal: Refused, runId: string): Promise<CommandRefused> {
  if (refusal.code === "unknown_run") return refusedBy(refusal, `unknown_run:${runId}`);
  if (refusal.code !== "call_cancelled" && refusal.code !== "run_ended") return refusedBy(refusal);
  const book = await readRunBook(session.db, session.caller.workspace, runId, { call: CALL });
  const cause = book?.run.cause ?? "cancelled";
  return new CommandRefused("cannot_resume:CANCELLED", null, { cause });
}

export async function showTrace(session: Session, runId: string): Promise<JsonObject> {
  return describeRun(session, runId);
}

async function readCall(scope: Scope, workspace: string, runId: string): Promise<CallFacts> {
  const book = await readRunBook(scope, workspace, runId, { call: CALL });
  const call = book?.calls()[0];
  if (!call) throw new CommandRefused(`unknown_run:${runId}`);
  return call;
}

/** A run in the words of C12. */
async function describeRun({ db, caller }: Session, runId: string): Promise<JsonObject> {
  const book = await readRunBook(db, caller.workspace, runId, { call: CALL });
  const call = book?.calls()[0];
  if (!book || !call) throw new CommandRefused(`unknown_run:${runId}`);
  const events = await readTrace(db, caller.workspace, runId);
  return {
    run_id: runId,
    status: statusOf(call),
    request_id: book.newestTicketOf(call.callRef)?.correlationId ?? null,
    action: call.action,
    args: stored(call.args),
    output: stored(call.target),
    proposal_hash: call.proposalHash,
    approval_request_id: call.authorisation?.requestId ?? null,
    approval_hash: call.authorisation?.hash ?? null,
    executed: call.outcome === "succeeded",
    trace: events.map(({ text, hash, type }): JsonValue => ({ ...(stored(text) as JsonObject), event: type, hash })),
  };
}

function statusOf(call: CallFacts): string {
  switch (call.outcome) {
    case "succeeded":
      return "COMPLETED";
    case "blocked":
      return "REJECTED";
    case "cancelled":
      return "CANCELLED";
    case "failed":
      return "FAILED";
    case null:
      return call.status === "awaiting" ? "WAITING_FOR_USER" : "APPROVED";
  }
}
