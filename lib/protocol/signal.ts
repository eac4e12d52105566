import { ok, type Result, refuse } from "@/lib/result";
import { isArray, isObject, type JsonObject, type JsonValue, readJson } from "./canonical-json";
import { isGatewayAction, shapeOf, targetField } from "./gateway-actions";
import { checkOutput } from "./proposal";
import type { RefusalCode } from "./refusals";

/** All that a model, a plan or a workflow can propose. None of it changes a run by itself. Source: protocol §7. */
export const SIGNAL_TYPES = ["EXECUTE_TOOL", "REQUEST_USER_INPUT", "FINISH", "FAIL"] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];

/** Who produced a signal. */
export type SignalSource = "model" | "plan" | "workflow";

/** A field that was left out is there as null or the empty text: whether that will do is the runtime's to judge. */
export type Signal =
  | {
      readonly type: "EXECUTE_TOOL";
      readonly action: string;
      readonly args: JsonValue;
      readonly output: JsonValue;
      readonly callId: string | null;
      readonly why: string | null;
    }
  | {
      readonly type: "REQUEST_USER_INPUT";
      readonly question: string;
      readonly schema: JsonValue;
      readonly options: JsonValue;
    }
  | { readonly type: "FINISH"; readonly output: JsonValue }
  | { readonly type: "FAIL"; readonly reason: string };

/** Why a signal changes nothing. `path` is where in the words it went wrong. */
export interface SignalRefusal {
  readonly code: RefusalCode;
  readonly detail: string;
  readonly path?: string;
}

/** The tool by which a model that calls tools asks a person; no catalogue may have one of this name. */
export const ASK_TOOL = "request_user_input";

/** Refusals after which a run cannot go on; every other is told to whoever proposed, and the run goes on. Source: protocol §7. */
const ENDS_THE_RUN: readonly RefusalCode[] = [
  "parse_failed",
  "wait_signal_without_pending_object",
  "wait_signal_without_question",
];

export function endsTheRun(code: RefusalCode): boolean {
  return ENDS_THE_RUN.includes(code);
}

export type Read =
  | { readonly kind: "signal"; readonly signal: Signal }
  /** Natural language, or JSON that claims to be no signal. */
  | { readonly kind: "words" }
  | { readonly kind: "unreadable"; readonly refusal: SignalRefusal };

/**
 * What a text means: a signal only if the whole text is one JSON object whose own `type` is a signal's word, in any case.
 * "Please confirm" is words. An envelope around a signal is not unwrapped: `parse_failed`. Source: [S1 C11].
 */
export function readSignal(text: string): Read {
  if (!text.trimStart().startsWith("{")) return { kind: "words" };
  const json = readJson(text.trim());
  if (!json.ok) return { kind: "unreadable", refusal: parseFailed(`${json.refusal.code}: ${json.refusal.detail}`) };
  if (!isObject(json.value) || !claimsToBeSignal(json.value)) return { kind: "words" };
  const signal = signalOfJson(json.value);
  return signal.ok ? { kind: "signal", signal: signal.value } : { kind: "unreadable", refusal: signal.refusal };
}

/** An object with a `type`, or one that wraps an object with a signal's type: both mean to be one. */
function claimsToBeSignal(value: JsonObject): boolean {
  if (value.type !== undefined) return true;
  return Object.values(value).some((inner) => isObject(inner) && signalType(inner.type) !== null);
}

/** One signal as JSON: a model's whole text, or a step of a plan. */
export function signalOfJson(value: JsonValue): Result<Signal, SignalRefusal> {
  if (!isObject(value)) return refuse(parseFailed("a signal is a JSON object"));
  const type = signalType(value.type);
  if (type === null) return refuse(parseFailed(`a signal's own type is one of ${SIGNAL_TYPES.join(", ")}`));
  switch (type) {
    case "EXECUTE_TOOL":
      return ok({
        type,
        action: textOf(value.action),
        args: value.args ?? {},
        output: value.output ?? null,
        callId: callIdOf(value.call_id),
        why: textOf(value.why) || null,
      });
    case "REQUEST_USER_INPUT":
      return ok(question(value));
    case "FINISH":
      return ok({ type, output: value.output ?? null });
    case "FAIL":
      return ok({ type, reason: textOf(value.reason) });
  }
}

/** One tool call of a model. Its arguments are read without loss, and refused by the name of what is wrong with them. */
export function signalOfToolCall(call: {
  readonly callId: string | null;
  readonly name: string;
  readonly argumentsText: string;
}): Result<Signal, SignalRefusal> {
  // A tool without parameters is called with nothing at all by some models.
  const args = readJson(call.argumentsText.trim() === "" ? "{}" : call.argumentsText);
  if (!args.ok) {
    const { code, path, detail } = args.refusal;
    return refuse({ code, detail, path: path === "" ? "arguments" : `arguments.${path}` });
  }
  if (call.name === ASK_TOOL) return ok(question(isObject(args.value) ? args.value : {}));
  return ok({
    type: "EXECUTE_TOOL",
    action: call.name,
    args: args.value,
    output: targetAmong(call.name, args.value),
    callId: callIdOf(call.callId),
    why: null,
  });
}

/** A tool call has arguments alone, so the target of our own actions is among them. */
function targetAmong(action: string, args: JsonValue): JsonValue {
  return isGatewayAction(action) && isObject(args) ? (args[targetField(action)] ?? null) : null;
}

function question(value: JsonObject): Signal {
  return {
    type: "REQUEST_USER_INPUT",
    question: textOf(value.question),
    schema: value.schema ?? null,
    options: value.options !== undefined && isArray(value.options) ? value.options : null,
  };
}

/** The state that a signal is held against. */
export interface SignalContext {
  /** The names in the run's frozen catalogue. */
  readonly catalog: ReadonlySet<string>;
  /** What a person would be asked about is there. */
  readonly hasObject: boolean;
  /** Steps of a plan or workflow that come after this one. */
  readonly remaining: number;
}

/** May this signal be acted on now? Source: protocol §7. */
export function validateSignal(signal: Signal, context: SignalContext): Result<Signal, SignalRefusal> {
  switch (signal.type) {
    case "EXECUTE_TOOL":
      return validateTool(signal, context);
    case "REQUEST_USER_INPUT":
      if (!context.hasObject)
        return refuse({
          code: "wait_signal_without_pending_object",
          detail: "nothing is there yet that a person could be asked about",
        });
      if (signal.question.trim() === "")
        return refuse({ code: "wait_signal_without_question", detail: "a wait asks a question" });
      return ok(signal);
    case "FINISH":
      if (context.remaining === 0) return ok(signal);
      return refuse({ code: "premature_finish", detail: `${context.remaining} steps are not done` });
    case "FAIL":
      return ok(signal);
  }
}

function validateTool(
  signal: Extract<Signal, { type: "EXECUTE_TOOL" }>,
  { catalog }: SignalContext,
): Result<Signal, SignalRefusal> {
  const { action, args, output } = signal;
  if (!catalog.has(action))
    return refuse({ code: "unknown_action", detail: `no tool is named ${action || "nothing"}` });
  if (!isGatewayAction(action)) return ok(signal);
  const target = checkOutput(output, shapeOf(action, args));
  return target.ok ? ok(signal) : refuse(target.refusal);
}

function signalType(word: JsonValue | undefined): SignalType | null {
  if (typeof word !== "string") return null;
  return SIGNAL_TYPES.find((type) => type === word.toUpperCase()) ?? null;
}

export function parseFailed(detail: string): SignalRefusal {
  return { code: "parse_failed", detail };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? storable(value) : "";
}

/** A model's words as they can be stored: a column of text holds neither U+0000 nor half a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

const CALL_ID_CHARACTERS = 256;

function callIdOf(value: JsonValue | undefined): string | null {
  return [...textOf(value)].slice(0, CALL_ID_CHARACTERS).join("") || null;
}
