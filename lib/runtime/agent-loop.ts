import { readAgentFacts } from "@/db/queries/agent-facts";
import type { FrozenAgent, RunProgress } from "@/db/queries/run-progress";
import { endAgentRun, inRuntimeStep, keepState, pauseForBudget } from "@/db/store/runtime-step";
import { bindState } from "@/db/store/states";
import {
  type AgentDefinition,
  type ControllerName,
  DEFAULT_BUDGET,
  readDefinition,
} from "@/lib/protocol/agent-definition";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, isArray, isObject } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { refuse } from "@/lib/result";
import type { Advanced, Advancing } from "./advance";
import type { Controller, NoDecision } from "./controllers/controller";
import { planAndExecute } from "./controllers/plan-and-execute";
import { react } from "./controllers/react";
import { workflow } from "./controllers/workflow";
import type { ModelFailure, ModelTool } from "./model/model";
import { type AgentState, type Handled, handle } from "./runtime";
import { loadState, RUNTIME_FORMAT, stateText } from "./runtime-state";
import { Thinking } from "./thinking";
import { conversation, missingResults } from "./thread";

export const CONTROLLERS: Readonly<Record<ControllerName, Controller>> = {
  react,
  plan_and_execute: planAndExecute,
  workflow,
};

/** Tries of one model call, the first among them; then the run fails with the failure's code. */
const MODEL_TRIES = 5;
const LOOK_AGAIN_MS = 1_000;

/**
 * One turn of a defined agent whose calls all have an outcome: its controller decides, the runtime acts. `again` when the run may
 * have more to do. Nothing that was not committed is relied on, so after a crash any worker takes the same turn anew.
 */
export async function takeTurn(context: Advancing, agent: Caller, progress: RunProgress): Promise<Advanced | "again"> {
  const begunAt = performance.now();
  const { state, thinking, control } = await readTurn(context, agent, progress);
  const { now } = progress.book;
  const restMs = state.runtime.rest_until_ms - now.ms;
  // Another job of the run may look before the one that was put off.
  if (restMs > 0) return { kind: "later", inMs: restMs };
  const decided = await CONTROLLERS[state.definition.controller].decide(control);
  if (context.stop.aborted) return { kind: "later", inMs: 0 };
  const spent = { ...state.runtime, model_calls: state.runtime.model_calls + thinking.answers };
  const thought = { ...state, runtime: spent };
  if (!decided.ok) return withoutDecision(thought, decided.refusal, now.ms + (performance.now() - begunAt));
  context.failAt("before_commit");
  const handled = await handle(decided.value, thought);
  return handled === "goes_on" ? "again" : advancedOf(handled);
}

function advancedOf(handled: Handled): Advanced {
  return handled === "held" ? { kind: "later", inMs: LOOK_AGAIN_MS } : { kind: "done" };
}

async function readTurn(context: Advancing, agent: Caller, progress: RunProgress) {
  const { db, job, stop } = context;
  const { book, highest, snapshot } = progress;
  const { run } = book;
  const definition = definitionOf(snapshot);
  const runtime = loadState(progress);
  const facts = await readAgentFacts(db, job.workspace, run.id, run.threadId, highest);
  const results = missingResults(run.runId, facts.thread, book.callsOf(highest), facts.reasons);
  const tools = toolsOf(snapshot);
  const thinking = new Thinking({
    db,
    workspace: job.workspace,
    run: run.id,
    turn: runtime.turns + 1,
    model: context.modelFor?.(snapshot) ?? refuse(NO_MODEL),
    modelName: snapshot.model ?? "",
    left: (definition.budget ?? DEFAULT_BUDGET) * (1 + facts.budgetGrants) - runtime.model_calls,
    stop,
  });
  const known = results.map(({ id, role, text }) => ({ sourceId: id, role, content: text }));
  const control = {
    definition,
    tools,
    runtime,
    conversation: conversation([...facts.thread, ...known]),
    results: results.map(({ text }) => wordsOf(text)),
    ask: thinking.ask.bind(thinking),
  };
  const state: AgentState = {
    db,
    agent,
    system: context.system,
    run,
    ground: { run: run.id, job, stateSha256: progress.state?.sha256 ?? null },
    definition,
    catalog: new Set(tools.map(({ name }) => name)),
    facts,
    highest,
    runtime,
    results,
  };
  return { state, thinking, control };
}

function definitionOf({ definition }: FrozenAgent): AgentDefinition {
  if (definition === null) throw new Error("this snapshot has no definition");
  return readDefinition(definition);
}

const NO_MODEL: ModelFailure = {
  code: "model_not_configured",
  detail: "this worker has no models",
  retryInMs: null,
};

/** The frozen catalogue as a model is told of it. */
function toolsOf({ catalog }: FrozenAgent): ModelTool[] {
  const tools = stored(catalog);
  if (!isArray(tools)) throw new Error("a catalogue is no list");
  return tools.map((tool) => {
    if (!isObject(tool) || typeof tool.name !== "string") throw new Error("a tool of a catalogue has no name");
    const { name, description, input_schema: inputSchema } = tool;
    return {
      name,
      description: typeof description === "string" ? description : null,
      inputSchema: inputSchema ?? null,
    };
  });
}

/** A result that is a JSON text is that text. */
function wordsOf(result: string): string {
  const value = stored(result);
  return typeof value === "string" ? value : canonicalJson(value);
}

/** There is no answer: time cures some of it, a person may lift the budget, and everything else ends the run. */
async function withoutDecision(state: AgentState, why: NoDecision, nowMs: number): Promise<Advanced> {
  if (why.code === "budget_exhausted") return advancedOf(await spendBudget(state));
  const tries = state.runtime.tries + 1;
  if (why.retryInMs !== null && tries < MODEL_TRIES) {
    const restUntilMs = Math.ceil(nowMs + why.retryInMs);
    const counted = await saveState(state, { ...state.runtime, tries, rest_until_ms: restUntilMs });
    return counted === "held" ? advancedOf(counted) : { kind: "later", inMs: why.retryInMs };
  }
  return advancedOf(await endRun(state, "failed", why.code));
}

/** Whoever continues the pause grants the budget once more. One that is cancelled grants nothing: it is asked again. */
async function spendBudget(state: AgentState): Promise<Handled> {
  const { definition, runtime, agent, run } = state;
  if (definition.on_budget !== "pause") return endRun(state, "budget_exhausted", null);
  return saveState(state, runtime, (tx) => pauseForBudget(tx, agent, run.runId, runtime.model_calls));
}

async function saveState(
  { db, agent, run, ground }: AgentState,
  runtime: AgentState["runtime"],
  beside?: (tx: Parameters<typeof bindState>[0]) => Promise<{ readonly ok: boolean }>,
): Promise<Handled> {
  const done = await inRuntimeStep(db, agent.workspace, ground, async (tx) => {
    const kept = await keepState(tx, agent, run.runId, RUNTIME_FORMAT, stateText(runtime));
    if (!kept.ok) return false;
    await bindState(tx, run.id, kept.value.value);
    return beside === undefined || (await beside(tx)).ok;
  });
  return done.ok && done.value ? "exits" : "held";
}

async function endRun(
  { db, agent, run, ground }: AgentState,
  status: "failed" | "budget_exhausted",
  code: string | null,
): Promise<Handled> {
  const done = await inRuntimeStep(db, agent.workspace, ground, (tx) =>
    endAgentRun(tx, agent, run.runId, { status, code, signal: null, reason: null }),
  );
  return done.ok && done.value.ok ? "exits" : "held";
}
