import { ok, type Result, refuse } from "../result";
import { CALL_REF_PATTERN, type CallRef } from "./call";
import type { JsonObject, JsonValue } from "./canonical-json";

/**
 * What a run waits for. The union is closed so that fields cannot contradict each other: whoever waits for a tool names it and its call,
 * whoever waits for input from outside names a call alone, and a pause names nothing. The types, the decoder and a check constraint agree.
 * Source: protocol §3, [S0].
 */
export type AwaitTarget =
  | {
      readonly kind: "tool_call";
      readonly reason: ToolCallReason;
      readonly callId: CallRef;
      readonly tool: PendingTool;
    }
  | { readonly kind: "remote_input"; readonly reason: RemoteInputReason; readonly callId: CallRef }
  | { readonly kind: "pause"; readonly reason: PauseReason };

export interface PendingTool {
  readonly toolId: string;
  readonly arguments: JsonValue;
}

export const AWAIT_KINDS = ["tool_call", "remote_input", "pause"] as const;
export type AwaitKind = (typeof AWAIT_KINDS)[number];

export const TOOL_CALL_REASONS = ["permission", "client_execution", "scheduled_action", "delegation"] as const;
export type ToolCallReason = (typeof TOOL_CALL_REASONS)[number];

export const REMOTE_INPUT_REASONS = ["user_input", "external_event"] as const;
export type RemoteInputReason = (typeof REMOTE_INPUT_REASONS)[number];

export const PAUSE_REASONS = ["manual", "rate_limit", "budget_reached"] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** The nine pairs that exist, as the check constraint of `tickets` has them. */
export const AWAIT_PAIRS = [
  ["tool_call", "permission"],
  ["tool_call", "client_execution"],
  ["tool_call", "scheduled_action"],
  ["tool_call", "delegation"],
  ["remote_input", "user_input"],
  ["remote_input", "external_event"],
  ["pause", "manual"],
  ["pause", "rate_limit"],
  ["pause", "budget_reached"],
] as const satisfies readonly (readonly [AwaitKind, AwaitReason])[];

export type AwaitReason = ToolCallReason | RemoteInputReason | PauseReason;

export const RESULT_KINDS = ["permission", "input", "tool_result", "continue"] as const;
export type ResultKind = (typeof RESULT_KINDS)[number];

/** `own_agent` is the principal that opened the run; nobody but the system answers what the system waits for. */
export const ANSWERERS = ["person", "own_agent", "system"] as const;
export type Answerer = (typeof ANSWERERS)[number];

interface AwaitRule {
  readonly answeredBy: Answerer;
  readonly resultKinds: readonly ResultKind[];
}

/** Who answers a target, and with what. Reasons are unique over all kinds, so they are the key. Source: protocol §3, the table. */
export const AWAIT_RULES: Readonly<Record<AwaitReason, AwaitRule>> = {
  permission: { answeredBy: "person", resultKinds: ["permission"] },
  client_execution: { answeredBy: "own_agent", resultKinds: ["tool_result"] },
  scheduled_action: { answeredBy: "system", resultKinds: ["permission"] },
  delegation: { answeredBy: "own_agent", resultKinds: ["input", "tool_result"] },
  user_input: { answeredBy: "person", resultKinds: ["input"] },
  external_event: { answeredBy: "own_agent", resultKinds: ["input"] },
  manual: { answeredBy: "person", resultKinds: ["input", "continue"] },
  rate_limit: { answeredBy: "system", resultKinds: ["input"] },
  budget_reached: { answeredBy: "person", resultKinds: ["continue"] },
};

/** Whether the inbox may show it. A scheduled action never is: approving it would be nobody's decision. Source: protocol §3. */
export function isOfferedToPeople(target: Pick<AwaitTarget, "reason">): boolean {
  return AWAIT_RULES[target.reason].answeredBy === "person";
}

export function toolCallTarget(reason: ToolCallReason, callId: CallRef, tool: PendingTool): AwaitTarget {
  return { kind: "tool_call", reason, callId, tool };
}

export function remoteInputTarget(reason: RemoteInputReason, callId: CallRef): AwaitTarget {
  return { kind: "remote_input", reason, callId };
}

export function pauseTarget(reason: PauseReason): AwaitTarget {
  return { kind: "pause", reason };
}

export interface AwaitTargetRefusal {
  readonly code: "invalid_await_target";
  readonly detail: string;
}

/** The inverse of `awaitTargetJson`; refuses any other shape, also one with a field too many. */
export function parseAwaitTarget(value: unknown): Result<AwaitTarget, AwaitTargetRefusal> {
  if (!isRecord(value)) return refuseTarget("a target is an object");
  switch (value.kind) {
    case "tool_call":
      return parseToolCall(value);
    case "remote_input":
      return parseRemoteInput(value);
    case "pause":
      return parsePause(value);
    default:
      return refuseTarget("kind is tool_call, remote_input or pause");
  }
}

function parseToolCall(value: Fields): Result<AwaitTarget, AwaitTargetRefusal> {
  const { reason, callId, tool } = value;
  if (!hasOnly(value, ["kind", "reason", "callId", "tool"]))
    return refuseTarget("a tool call has kind, reason, callId and tool");
  if (!isOneOf(TOOL_CALL_REASONS, reason)) return refuseTarget("this is no reason of a tool call");
  if (!isCallRef(callId)) return refuseTarget("a tool call names its call");
  if (!isPendingTool(tool)) return refuseTarget("a tool call has its pending tool: toolId and arguments");
  return ok(toolCallTarget(reason, callId, { toolId: tool.toolId, arguments: tool.arguments }));
}

function parseRemoteInput(value: Fields): Result<AwaitTarget, AwaitTargetRefusal> {
  const { reason, callId } = value;
  if (!hasOnly(value, ["kind", "reason", "callId"])) return refuseTarget("a remote input has kind, reason and callId");
  if (!isOneOf(REMOTE_INPUT_REASONS, reason)) return refuseTarget("this is no reason of a remote input");
  if (!isCallRef(callId)) return refuseTarget("a remote input names its own call");
  return ok(remoteInputTarget(reason, callId));
}

function parsePause(value: Fields): Result<AwaitTarget, AwaitTargetRefusal> {
  const { reason } = value;
  if (!hasOnly(value, ["kind", "reason"])) return refuseTarget("a pause has kind and reason");
  if (!isOneOf(PAUSE_REASONS, reason)) return refuseTarget("this is no reason of a pause");
  return ok(pauseTarget(reason));
}

/** The target as it is stored and sent. */
export function awaitTargetJson(target: AwaitTarget): JsonObject {
  if (target.kind !== "tool_call") return { ...target };
  return { ...target, tool: { toolId: target.tool.toolId, arguments: target.tool.arguments } };
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOnly(value: Fields, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

function isOneOf<Word extends string>(words: readonly Word[], word: unknown): word is Word {
  return words.some((known) => known === word);
}

function isCallRef(value: unknown): value is CallRef {
  return typeof value === "string" && CALL_REF_PATTERN.test(value);
}

function isPendingTool(value: unknown): value is { toolId: string; arguments: JsonValue } {
  if (!isRecord(value) || !hasOnly(value, ["toolId", "arguments"])) return false;
  return typeof value.toolId === "string" && value.toolId !== "" && value.arguments !== undefined;
}

function refuseTarget(detail: string) {
  return refuse({ code: "invalid_await_target", detail } as const);
}
