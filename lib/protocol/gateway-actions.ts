import type { EffectShape } from "./proposal";

/**
 * What our own action gateway can do. Its classes are ours to say: an agent's claim counts only for what it executes itself.
 * Source: protocol §6 "Effects", http-api "Who sets what".
 */
export const GATEWAY_ACTIONS = {
  write_draft: { effectClass: "create_new", fileTarget: true },
  write_file: { effectClass: "create_new", fileTarget: true },
} as const satisfies Readonly<Record<string, EffectShape>>;

export type GatewayAction = keyof typeof GATEWAY_ACTIONS;

export function isGatewayAction(action: string): action is GatewayAction {
  return Object.hasOwn(GATEWAY_ACTIONS, action);
}
