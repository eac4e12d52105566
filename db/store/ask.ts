import type { Scope } from "@/db/client";
import { ask, pause } from "@/lib/protocol/book/ask";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import type { ProposedCall } from "@/lib/protocol/book/propose";
import type { SignalNote } from "@/lib/protocol/book/signals";
import type { OnExpiry } from "@/lib/protocol/call";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { ASK_ACTION, type Proposal, questionProposal } from "@/lib/protocol/proposal";
import { refusalAt } from "@/lib/protocol/refusals";
import { ok, refuse } from "@/lib/result";
import type { Message } from "./messages";
import { answerFor, deadlineInMs, type ProposedAnswer, recordBeside } from "./propose";
import { findState, type StateClaim } from "./states";
import { type Outcome, visit } from "./visit";

interface Wait {
  /** Set by the runtime alone: the signal by which a controller asks. */
  readonly signal?: SignalNote;
  readonly callId: string;
  readonly schema: JsonValue;
  readonly deadlineMs: number | null;
  readonly deadlineInMs: number | null;
  readonly onExpiry: OnExpiry;
  readonly state: StateClaim | null;
  readonly messages: readonly Message[];
}

export interface Question extends Wait {
  readonly question: string;
  readonly options: JsonValue;
}

export interface EventWait extends Wait {
  readonly event: string;
}

export interface AskAnswer extends ProposedAnswer {
  readonly fromRecord: boolean;
}

/** Ask a person. The same `call_id` with the same content is answered with the ticket, or its answer. */
export async function askPerson(
  scope: Scope,
  caller: Caller,
  runId: string,
  question: Question,
): Promise<Outcome<AskAnswer>> {
  const proposal = questionProposal(question.question, question.schema, question.options);
  return recordWait(scope, caller, runId, question, proposal, "ask", "user_input");
}

/** Wait for an event that the run's own agent will report. */
export async function waitForEvent(
  scope: Scope,
  caller: Caller,
  runId: string,
  wait: EventWait,
): Promise<Outcome<AskAnswer>> {
  const proposal = { action: ASK_ACTION, args: { event: wait.event, schema: wait.schema }, output: null };
  return recordWait(scope, caller, runId, wait, proposal, "wait", "external_event");
}

async function recordWait(
  scope: Scope,
  caller: Caller,
  runId: string,
  wait: Wait,
  proposal: Proposal,
  verb: "ask" | "wait",
  reason: "user_input" | "external_event",
): Promise<Outcome<AskAnswer>> {
  const attempted = { run: runId, input: { call_id: wait.callId } };
  return visit(scope, caller, { verb, at: { run: runId }, call: wait.callId, attempted }, async (visited) => {
    const { book, open } = visited;
    const recorded = book.calls().find((call) => call.callId === wait.callId && call.terms.kind === "remote_input");
    const deadline = deadlineInMs(book, wait);
    if (!recorded && deadline !== null && deadline < 0) return refuse(refusalAt("deadline_in_past", "deadline_ms"));
    const state = await findState(visited.tx, book.run.id, recorded ? null : wait.state);
    if (!state.ok) return state;
    const call = waitingCall(wait, proposal, reason, deadline);
    const record = { recorded: recorded?.callRef ?? null, highest: open.highest };
    const done = ask(book, call, record, wait.state, wait.messages.length, wait.signal ?? null);
    if (!done.ok) return done;
    if (!done.value.fromRecord) await recordBeside(visited, wait.messages, wait.state);
    return ok({ ...answerFor(book, done.value.call), fromRecord: done.value.fromRecord });
  });
}

function waitingCall(
  wait: Wait,
  proposal: Proposal,
  reason: "user_input" | "external_event",
  deadline: number | null,
): ProposedCall {
  return {
    callId: wait.callId,
    action: proposal.action,
    args: canonicalJson(proposal.args),
    target: canonicalJson(proposal.output),
    mcpServer: null,
    why: null,
    declaredClass: null,
    effectiveClass: "read_only",
    resumeMode: "replay_tool_call",
    onDeny: "continue",
    rebind: false,
    terms: {
      kind: "remote_input",
      reason,
      deadlineInMs: deadline,
      onExpiry: wait.onExpiry,
      allowValidMs: null,
      prompt: "question" in wait && typeof wait.question === "string" ? wait.question : null,
      schema: wait.schema,
      options: "options" in wait ? (wait.options as JsonValue) : null,
      risk: "low",
    },
  };
}

/** Pause a run by hand; an open pause is returned. */
export async function pauseRun(
  scope: Scope,
  caller: Caller,
  runId: string,
  reason: string,
): Promise<Outcome<{ readonly ticket: TicketFacts; readonly fromRecord: boolean }>> {
  const attempted = { run: runId, input: { reason } };
  return visit(scope, caller, { verb: "pause_run", at: { run: runId }, attempted }, ({ book }) => pause(book, reason));
}
