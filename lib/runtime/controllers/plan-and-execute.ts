import { canonicalJson, isArray, type JsonValue, readJson } from "@/lib/protocol/canonical-json";
import { parseFailed, type SignalRefusal, signalOfJson, storable } from "@/lib/protocol/signal";
import { ok, type Result, refuse } from "@/lib/result";
import type { Controller, ControlState, Decision, NoDecision, Proposed } from "./controller";

const MOST_STEPS = 200;

/** The model is asked once, for the whole plan; its steps are then proposed one after another. */
export const planAndExecute: Controller = {
  async decide(state) {
    const { plan, cursor, values } = state.runtime;
    if (plan !== null) return ok(stepOf(plan, cursor, values, []));
    return planned(state);
  },
};

async function planned(state: ControlState): Promise<Result<Decision, NoDecision>> {
  const { definition, conversation, tools, runtime, ask } = state;
  const answer = await ask({
    messages: [{ role: "system", text: `${definition.instructions}\n\n${howToPlan(tools)}` }, ...conversation],
    tools: [],
  });
  if (!answer.ok) return answer;
  const text = storable(answer.value.text ?? "");
  const plan = readPlan(text);
  if (plan.ok) return ok(stepOf(plan.value, 0, runtime.values, [text]));
  const unreadable: Proposed = { signal: refuse(plan.refusal), name: "", text };
  const { values, keeps } = runtime;
  return ok({
    source: "plan",
    proposals: [unreadable],
    texts: text.trim() === "" ? [] : [text],
    next: { plan: null, cursor: 0, values, keeps },
    remaining: 0,
  });
}

/** A plan that says nothing more is done. */
function stepOf(
  plan: readonly JsonValue[],
  cursor: number,
  values: Decision["next"]["values"],
  texts: readonly string[],
): Decision {
  const step = plan[cursor] ?? { type: "FINISH" };
  const proposal: Proposed = { signal: signalOfJson(step), name: "", text: canonicalJson(step) };
  const next = { plan: [...plan], cursor: cursor + 1, values, keeps: null };
  return { source: "plan", proposals: [proposal], texts, next, remaining: Math.max(0, plan.length - cursor - 1) };
}

/** One JSON array of signals, and nothing around it. A step that is no signal spoils the plan before anything of it is done. */
function readPlan(text: string): Result<readonly JsonValue[], SignalRefusal> {
  const read = readJson(text.trim());
  if (!read.ok) return refuse(parseFailed(`the plan is no JSON: ${read.refusal.detail}`));
  if (!isArray(read.value) || read.value.length === 0) return refuse(parseFailed("a plan is a JSON array of signals"));
  if (read.value.length > MOST_STEPS) return refuse(parseFailed(`a plan has at most ${MOST_STEPS} steps`));
  for (const step of read.value) {
    const signal = signalOfJson(step);
    if (!signal.ok) return refuse(signal.refusal);
  }
  return ok(read.value);
}

function howToPlan(tools: ControlState["tools"]): string {
  const catalog = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  return [
    "Answer with the whole plan and nothing else: one JSON array whose items are, in order,",
    '{"type":"EXECUTE_TOOL","action":NAME,"args":{…},"output":TARGET},',
    '{"type":"REQUEST_USER_INPUT","question":TEXT} where a person must answer before it goes on,',
    '{"type":"FINISH","output":…} as the last one.',
    `The tools: ${canonicalJson(catalog)}`,
  ].join("\n");
}
