import type { WorkflowNode } from "@/lib/protocol/agent-definition";
import { canonicalJson, isArray, isObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { parseFailed, type Signal, storable } from "@/lib/protocol/signal";
import { ok, refuse } from "@/lib/result";
import type { Controller, ControlState, Decision, Proposed } from "./controller";

const PLACE = /\{\{([a-z][a-z0-9_]*)\}\}/g;

type Values = Decision["next"]["values"];

/** The stations are fixed by the definition; only what stands in them may be a model's. */
export const workflow: Controller = {
  async decide(state) {
    const nodes = state.definition.controller === "workflow" ? state.definition.nodes : [];
    let values = withResults(state);
    const texts: string[] = [];
    for (let cursor = state.runtime.cursor; ; cursor += 1) {
      const node = nodes[cursor];
      if (node && !isTaken(node, values)) continue;
      if (node && filledLength(node, values) > MOST_FILLED) {
        const next = { plan: null, cursor, values, keeps: null };
        return ok({ source: "workflow", proposals: [TOO_LONG], texts, next, remaining: 0 });
      }
      if (node && "model" in node) {
        const answer = await state.ask(questionOf(state, fill(node.model, values)));
        if (!answer.ok) return answer;
        const text = storable(answer.value.text ?? "");
        if (text !== "") texts.push(text);
        values = { ...values, [node.as]: text };
        continue;
      }
      const signal = node ? signalOf(node, values) : ({ type: "FINISH", output: null } as const);
      const keeps = node && "as" in node ? (node.as ?? null) : null;
      return ok({
        source: "workflow",
        proposals: [{ signal: ok(signal), name: "", text: canonicalJson({ ...signal }) }],
        texts,
        next: { plan: null, cursor: cursor + 1, values, keeps },
        remaining: isEarlyEnd(node) ? 0 : Math.max(0, nodes.length - cursor - 1),
      });
    }
  },
};

/** A station's texts with its values in place, in UTF-16 units: what a door would take, and no more. */
const MOST_FILLED = 1_048_576;

const TOO_LONG: Proposed = {
  signal: refuse(parseFailed(`a station with its values is longer than ${MOST_FILLED} characters`)),
  name: "",
  text: "",
};

/** Counted before it is made: a value that stands a thousand times may be a megabyte each time. */
function filledLength(node: WorkflowNode, values: Values): number {
  const text = canonicalJson(node as unknown as JsonValue);
  let length = text.length;
  for (const [, name] of text.matchAll(PLACE)) length += valueNamed(values, name ?? "")?.length ?? 0;
  return length;
}

/** What the last station brought, under the name that it was to be kept by. */
function withResults({ runtime, results }: ControlState): Values {
  const result = results.at(-1);
  return runtime.keeps === null || result === undefined
    ? runtime.values
    : { ...runtime.values, [runtime.keeps]: result };
}

function isTaken({ when }: WorkflowNode, values: Values): boolean {
  return when === undefined || (valueNamed(values, when.value) ?? "").includes(when.contains);
}

/** An end under a condition is meant to leave the stations behind it out; one without would leave them out always. */
function isEarlyEnd(node: WorkflowNode | undefined): boolean {
  return node !== undefined && "finish" in node && node.when !== undefined;
}

function questionOf({ definition, conversation }: ControlState, instructions: string) {
  const system = { role: "system", text: `${definition.instructions}\n\n${instructions}` } as const;
  return { messages: [system, ...conversation], tools: [] };
}

function signalOf(node: Exclude<WorkflowNode, { model: string }>, values: Values): Signal {
  if ("ask" in node) {
    const { schema, options } = node;
    return {
      type: "REQUEST_USER_INPUT",
      question: storable(fill(node.ask, values)),
      schema: schema ?? null,
      options: options ?? null,
    };
  }
  if ("finish" in node) return { type: "FINISH", output: fill(node.finish, values) };
  return {
    type: "EXECUTE_TOOL",
    action: node.tool,
    args: fillJson(node.args, values),
    output: fillJson(node.output ?? null, values),
    callId: null,
    why: node.why ?? null,
  };
}

/** A node may be saved as `constructor`; every plain object has something of that name. */
function valueNamed(values: Values, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** `{{name}}` becomes the value of that name; a name without a value stays as it is written. */
function fill(text: string, values: Values): string {
  return text.replace(PLACE, (whole, name: string) => valueNamed(values, name) ?? whole);
}

function fillJson(value: JsonValue, values: Values): JsonValue {
  if (typeof value === "string") return fill(value, values);
  if (isArray(value)) return value.map((item) => fillJson(item, values));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillJson(item, values)]));
}
