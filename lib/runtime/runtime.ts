import type { Db, Tx } from "@/db/client";
import type { AgentFacts } from "@/db/queries/agent-facts";
import { askPerson } from "@/db/store/ask";
import { addMessages, type Message } from "@/db/store/messages";
import { cancel } from "@/db/store/operate";
import { type CallRequest, PLAIN_CALL, proposeStep } from "@/db/store/propose";
import { endAgentRun, type Ground, inRuntimeStep, keepState, rejectSignal } from "@/db/store/runtime-step";
import { bindState, type StateClaim } from "@/db/store/states";
import type { AgentDefinition } from "@/lib/protocol/agent-definition";
import type { RunFacts } from "@/lib/protocol/book/facts";
import type { Caller } from "@/lib/protocol/principal";
import type { RefusalCode } from "@/lib/protocol/refusals";
import { endsTheRun, type Signal } from "@/lib/protocol/signal";
import type { Decision } from "./controllers/controller";
import { type Judged, judgeDecision, saidOf, type Taken } from "./judge-decision";
import { RUNTIME_FORMAT, type RuntimeState, stateText } from "./runtime-state";

/** Where an agent's run stands when a decision is made on it. */
export interface AgentState {
  readonly db: Db;
  readonly agent: Caller;
  readonly system: Caller;
  readonly run: RunFacts;
  readonly ground: Ground;
  readonly definition: AgentDefinition;
  /** The names in the frozen catalogue. */
  readonly catalog: ReadonlySet<string>;
  readonly facts: AgentFacts;
  readonly highest: number;
  /** With the model calls that this decision took. */
  readonly runtime: RuntimeState;
  /** Results that the thread does not have yet. */
  readonly results: readonly Message[];
}

/** What became of the run: it goes on, it waits or has ended, or somebody else moves it and it is looked at later. */
export type Handled = "goes_on" | "exits" | "held";

/**
 * The one entry by which a decision becomes anything at all. Each signal is held against the run's state; those that stand become
 * the store's verbs, in one transaction with the agent's words and its saved state. Source: protocol §7.
 */
export async function handle(decision: Decision, state: AgentState): Promise<Handled> {
  const judged = judgeDecision(decision, state);
  const done = await inRuntimeStep(state.db, state.agent.workspace, state.ground, (tx) =>
    commit(tx, decision, judged, state),
  );
  return done.ok ? done.value : "held";
}

async function commit(tx: Tx, decision: Decision, judged: Judged, state: AgentState): Promise<Handled> {
  for (const { verb, refusal, preview } of judged.refused) {
    const rejected = await rejectSignal(tx, state.agent, state.run.runId, { verb, refusal, preview });
    if (!rejected.ok && rejected.refusal.code !== refusal.code) return withoutRight(tx, state, rejected.refusal.code);
    if (!endsTheRun(refusal.code)) continue;
    await addMessages(tx, state.run.threadId, messagesOf(decision, judged, state));
    return "exits";
  }
  return act(tx, decision, judged, state);
}

async function act(tx: Tx, decision: Decision, judged: Judged, state: AgentState): Promise<Handled> {
  const { runtime, facts } = state;
  const counts = { model_calls: runtime.model_calls, tool_attempts: facts.toolAttempts };
  const next = { ...runtime, ...decision.next, turns: runtime.turns + 1, tries: 0, rest_until_ms: 0, at_wait: counts };
  const kept = await keepState(tx, state.agent, state.run.runId, RUNTIME_FORMAT, stateText(next));
  if (!kept.ok) return withoutRight(tx, state, kept.refusal.code);
  const saved = kept.value.value;
  const messages = messagesOf(decision, judged, state);
  const { taken } = judged;
  if (taken.kind === "tools") return proposeTools(tx, taken.signals, saved, messages, state);
  if (taken.kind === "one") {
    const { signal } = taken;
    if (signal.type === "REQUEST_USER_INPUT") return ask(tx, decision, signal, saved, messages, state);
    if (signal.type === "FAIL" || !(await hasNews(tx, state))) return end(tx, decision, signal, messages, state);
    return goOn(tx, state.results, saved, state);
  }
  return goOn(tx, messages, saved, state);
}

async function goOn(tx: Tx, messages: readonly Message[], saved: StateClaim, state: AgentState): Promise<Handled> {
  await addMessages(tx, state.run.threadId, messages);
  await bindState(tx, state.run.id, saved);
  return "goes_on";
}

function messagesOf(decision: Decision, judged: Judged, { run, runtime, results }: AgentState): Message[] {
  return [...results, ...saidOf(run.runId, runtime.turns + 1, decision.texts, judged)];
}

type Tool = Extract<Signal, { type: "EXECUTE_TOOL" }>;

async function proposeTools(
  tx: Tx,
  signals: readonly Tool[],
  saved: StateClaim,
  messages: readonly Message[],
  state: AgentState,
): Promise<Handled> {
  const { definition, agent, run, highest } = state;
  const proposed = await proposeStep(tx, agent, run.runId, {
    step: highest + 1,
    // A worker's batch is one after another unless its definition says otherwise. Source: protocol §5 "Batch".
    mode: definition.batch_mode ?? "sequential",
    coupling: definition.coupling ?? "independent",
    state: saved,
    messages,
    calls: signals.map((signal) => callOf(signal, definition)),
  });
  return proposed.ok ? "goes_on" : afterRefusal(tx, state, proposed.refusal.code);
}

function callOf(
  { callId, action, args, output, why }: Tool,
  { resume_modes: modes, delegates }: AgentDefinition,
): CallRequest {
  const mode = modes && Object.hasOwn(modes, action) ? modes[action] : undefined;
  return {
    ...PLAIN_CALL,
    callId,
    action,
    args,
    output,
    why,
    target: delegates && Object.hasOwn(delegates, action) ? "delegation" : "permission",
    resumeMode: mode ?? "replay_tool_call",
  };
}

async function ask(
  tx: Tx,
  { source }: Decision,
  signal: Extract<Signal, { type: "REQUEST_USER_INPUT" }>,
  saved: StateClaim,
  messages: readonly Message[],
  state: AgentState,
): Promise<Handled> {
  const asked = await askPerson(tx, state.agent, state.run.runId, {
    callId: `ask:${state.runtime.turns + 1}`,
    question: signal.question.trim(),
    schema: signal.schema,
    options: signal.options,
    deadlineMs: null,
    deadlineInMs: null,
    onExpiry: "hold",
    state: saved,
    messages,
    signal: { source, type: signal.type },
  });
  return asked.ok ? "exits" : afterRefusal(tx, state, asked.refusal.code);
}

async function end(
  tx: Tx,
  { source }: Decision,
  signal: Exclude<Taken, { kind: "tools" | "nothing" }>["signal"],
  messages: readonly Message[],
  state: AgentState,
): Promise<Handled> {
  const note = { source, type: signal.type };
  const ended = await endAgentRun(
    tx,
    state.agent,
    state.run.runId,
    signal.type === "FINISH"
      ? { status: "completed", code: null, signal: note, output: signal.output, reason: null }
      : { status: "failed", code: "agent_failed", signal: note, reason: signal.type === "FAIL" ? signal.reason : null },
  );
  if (!ended.ok) return afterRefusal(tx, state, ended.refusal.code);
  await addMessages(tx, state.run.threadId, messages);
  return "exits";
}

/** A person spoke while the model thought: its last words were no answer to that, so they are dropped and it is asked again. */
async function hasNews(tx: Tx, { run, facts }: AgentState): Promise<boolean> {
  const seen = facts.thread.at(-1)?.seq ?? 0;
  const [news] = await tx.sql`
    select from messages where workspace_id = ${tx.workspace} and thread_id = ${run.threadId} and seq > ${seen}
      and role = 'user' limit 1`;
  return news !== undefined;
}

/** What somebody else brought about meanwhile; it is looked at again. Everything else would be refused for ever. */
const PASSES: readonly RefusalCode[] = ["batch_open", "batch_conflict", "run_awaiting", "run_ended", "call_unfinished"];

async function afterRefusal(tx: Tx, state: AgentState, code: RefusalCode): Promise<Handled> {
  if (PASSES.includes(code)) return "held";
  const why = { status: "failed", code, signal: null, reason: null } as const;
  const ended = await endAgentRun(tx, state.agent, state.run.runId, why);
  return ended.ok ? "exits" : withoutRight(tx, state, ended.refusal.code);
}

/** Whoever the agent acts as may not move the run any more: nobody is left to go on with it. */
export async function withoutRight(
  tx: Tx,
  { system, run }: Pick<AgentState, "system" | "run">,
  code: RefusalCode,
): Promise<Handled> {
  const cancelled = await cancel(tx, system, run.runId, `its principal may not move it any more: ${code}`);
  return cancelled.ok ? "exits" : "held";
}
