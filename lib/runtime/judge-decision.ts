import type { Message } from "@/db/store/messages";
import type { RejectedSignal } from "@/db/store/runtime-step";
import { type CallRef, callRef } from "@/lib/protocol/call";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import type { SaidCall } from "@/lib/protocol/said-calls";
import { ASK_TOOL, type Signal, validateSignal } from "@/lib/protocol/signal";
import { MAX_CALLS } from "@/lib/protocol/wire/parts";
import { unreachable } from "@/lib/result";
import type { Decision, Proposed } from "./controllers/controller";
import type { AgentState } from "./runtime";
import { runtimeMessage, saidMessages, toolMessage } from "./thread";

type Tool = Extract<Signal, { type: "EXECUTE_TOOL" }>;

/** What a decision comes to: one batch of tools, or one other signal, or nothing. */
export type Taken =
  | { readonly kind: "tools"; readonly signals: readonly Tool[] }
  | { readonly kind: "one"; readonly signal: Exclude<Signal, Tool> }
  | { readonly kind: "nothing" };

export interface Judged {
  readonly taken: Taken;
  readonly refused: readonly RejectedSignal[];
  /** Each proposal in order: the call it is on the thread, if it is one, and what the model is told of it at once. */
  readonly lines: readonly { readonly call: SaidCall | null; readonly told: JsonObject | null }[];
}

/**
 * Hold each proposal of a decision against the run's state. Tools stand together as one batch; a question, a finish or a failure
 * stands alone, so beside tools it is put off and the model is told to come again.
 */
export function judgeDecision(decision: Decision, state: AgentState): Judged {
  const { definition, facts, catalog, highest } = state;
  const needed = definition.needs_object;
  const hasObject = needed === undefined || needed.some((action) => facts.succeeded.has(action));
  const verdicts = decision.proposals.map(({ signal }) =>
    signal.ok ? validateSignal(signal.value, { catalog, hasObject, remaining: decision.remaining }) : signal,
  );
  const accepted = verdicts.flatMap((verdict) => (verdict.ok ? [verdict.value] : []));
  // What a door refuses as a flood is one here too; the rest is put off.
  const tools = accepted.filter((signal) => signal.type === "EXECUTE_TOOL").slice(0, MAX_CALLS);
  const taken = tools.length > 0 ? { kind: "tools" as const, signals: tools } : oneOf(accepted);
  const refused: RejectedSignal[] = [];
  const lines = decision.proposals.map((proposed, index) => {
    const verdict = verdicts[index] ?? proposed.signal;
    if (!verdict.ok) {
      refused.push({ verb: verbOf(proposed.signal), refusal: verdict.refusal, preview: previewOf(decision, proposed) });
      const { code, detail } = verdict.refusal;
      return { call: saidCall(proposed, null), told: { refused: code, detail } };
    }
    const ref = placeOf(verdict.value, taken, highest + 1);
    return { call: saidCall(proposed, ref), told: ref === null && !isTaken(verdict.value, taken) ? PUT_OFF : null };
  });
  return { taken, refused, lines };
}

const PUT_OFF: JsonObject = { not_done: "propose it alone, once the other calls have their results" };

function oneOf(accepted: readonly Signal[]): Taken {
  const first = accepted.find((signal) => signal.type !== "EXECUTE_TOOL");
  return first ? { kind: "one", signal: first } : { kind: "nothing" };
}

function isTaken(signal: Signal, taken: Taken): boolean {
  return taken.kind === "one" && taken.signal === signal;
}

/** The call that a proposal becomes in the step; null for what becomes none. */
function placeOf(signal: Signal, taken: Taken, step: number): CallRef | null {
  if (taken.kind === "tools" && signal.type === "EXECUTE_TOOL") {
    const index = taken.signals.indexOf(signal);
    return index < 0 ? null : callRef(step, index);
  }
  return signal.type === "REQUEST_USER_INPUT" && isTaken(signal, taken) ? callRef(step, 0) : null;
}

function saidCall({ signal, name, text }: Proposed, ref: CallRef | null): SaidCall | null {
  if (!signal.ok) return name === "" ? null : { name, argumentsText: text, callRef: null };
  const { value } = signal;
  switch (value.type) {
    case "EXECUTE_TOOL":
      return { name: value.action || "unnamed", argumentsText: canonicalJson(value.args), callRef: ref };
    case "REQUEST_USER_INPUT": {
      const { question, schema, options } = value;
      return { name: ASK_TOOL, argumentsText: canonicalJson({ question, schema, options }), callRef: ref };
    }
    case "FINISH":
    case "FAIL":
      return null;
    default:
      return unreachable(value);
  }
}

function verbOf(signal: Proposed["signal"]): RejectedSignal["verb"] {
  if (!signal.ok) return "propose";
  switch (signal.value.type) {
    case "REQUEST_USER_INPUT":
      return "ask";
    case "FINISH":
    case "FAIL":
      return "finish";
    default:
      return "propose";
  }
}

function previewOf({ source }: Decision, { name, text }: Proposed): JsonObject {
  return { source, ...(name === "" ? {} : { tool: name }), words: text };
}

/** A decision on the thread: its words, its calls, and at once what is known of them. */
export function saidOf(runId: string, turn: number, texts: readonly string[], { lines }: Judged): Message[] {
  const calls = lines.flatMap(({ call, told }) => (call ? [{ call, told }] : []));
  const loose = lines.flatMap(({ call, told }) => (call === null && told !== null ? [canonicalJson(told)] : []));
  return [
    ...saidMessages(
      runId,
      turn,
      texts,
      calls.map(({ call }) => call),
    ),
    ...calls.flatMap(({ told }, index) =>
      told === null ? [] : [toolMessage(runId, turn, index, canonicalJson(told))],
    ),
    ...(loose.length > 0 ? [runtimeMessage(runId, turn, loose.join("\n"))] : []),
  ];
}
