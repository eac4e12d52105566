import type { IdempotencyClass } from "./call";
import { isObject, type JsonValue } from "./canonical-json";
import type { EffectShape } from "./proposal";

/** What our own action gateway can do. Source: protocol §6 "Effects". */
export const GATEWAY_ACTIONS = ["write_draft", "write_file", "http_request", "run_command"] as const;
export type GatewayAction = (typeof GATEWAY_ACTIONS)[number];

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export function isGatewayAction(action: string): action is GatewayAction {
  return (GATEWAY_ACTIONS as readonly string[]).includes(action);
}

/** The provider that a recorded agent's snapshot names: its tools give back what was recorded. */
export const RECORDED = "recording";

/** Whether a worker of ours knows the tool. One that it does not know fails after it was allowed. */
export function canExecute(action: string, provider: string | null): boolean {
  return provider === RECORDED || isGatewayAction(action);
}

/**
 * An action's class and target. Its classes are ours to say: an agent's claim counts only for what it executes itself.
 * Source: protocol §6 "Effects", http-api "Who sets what".
 */
export function shapeOf(action: GatewayAction, args: JsonValue): EffectShape {
  switch (action) {
    case "write_draft":
    case "write_file":
      return { effectClass: "create_new", target: "file" };
    case "http_request":
      return { effectClass: classOfMethod(httpMethodOf(args)), target: "url" };
    case "run_command":
      return { effectClass: "none", target: "folder" };
  }
}

/** A model's tool call has arguments alone: the field of them that names the action's target. */
const TARGET_FIELDS: Readonly<Record<EffectShape["target"], string>> = { file: "path", url: "url", folder: "folder" };

export function targetField(action: GatewayAction): string {
  return TARGET_FIELDS[shapeOf(action, null).target];
}

/** `args.method`, spelt in capitals; GET when there is none; null for anything else, which the gateway refuses to send. */
export function httpMethodOf(args: JsonValue): HttpMethod | null {
  if (!isObject(args)) return null;
  const { method } = args;
  if (method === undefined || method === null) return "GET";
  return HTTP_METHODS.find((known) => known === method) ?? null;
}

/** What only reads may be repeated as it is; what writes carries the effect key, so that the target system can tell a repeat. */
function classOfMethod(method: HttpMethod | null): IdempotencyClass {
  return method === "GET" || method === "HEAD" ? "read_only" : "idempotency_key";
}
