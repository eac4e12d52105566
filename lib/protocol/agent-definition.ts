import { z } from "zod";
import { ok, type Result, refuse } from "@/lib/result";
import { stored } from "./book/stored";
import { BATCH_MODES, COUPLINGS, RESUME_MODES } from "./call";
import { type CanonicalJson, canonicalJson, type JsonValue } from "./canonical-json";
import { isGatewayAction } from "./gateway-actions";
import { type Refusal, refusalAt } from "./refusals";
import { ASK_TOOL } from "./signal";
import { agentName } from "./wire/agents";
import { actionName, json, textOf } from "./wire/parts";

export const CONTROLLERS = ["react", "plan_and_execute", "workflow"] as const;
export type ControllerName = (typeof CONTROLLERS)[number];

/** Model calls of one run, when its definition names no budget. Source: [S1 C11]. */
export const DEFAULT_BUDGET = 8;

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);

/** The node is passed over unless the value of that name contains the text. */
const when = z.strictObject({ value: name, contains: textOf(1, 1_000) });

/** Stations of a workflow, in order. `{{name}}` in a text stands for the value that an earlier node was saved `as`. */
const node = z.union([
  z.strictObject({
    tool: actionName,
    args: json,
    output: json.optional(),
    why: textOf(1, 2_000).optional(),
    as: name.optional(),
    when: when.optional(),
  }),
  z.strictObject({
    /** May be empty in the definition: the runtime refuses the wait when it comes to it. */
    ask: textOf(0, 4_000),
    schema: json.optional(),
    options: z.array(json).max(50).optional(),
    as: name.optional(),
    when: when.optional(),
  }),
  z.strictObject({ model: textOf(1, 20_000), as: name, when: when.optional() }),
  z.strictObject({ finish: textOf(0, 20_000), when: when.optional() }),
]);
export type WorkflowNode = z.output<typeof node>;

const shared = {
  instructions: textOf(0, 100_000),
  budget: z.int().min(1).max(1_000).optional(),
  /** What happens when the budget is spent: the run ends, or a person is asked whether it may go on. */
  on_budget: z.enum(["end", "pause"]).optional(),
  batch_mode: z.enum(BATCH_MODES).optional(),
  coupling: z.enum(COUPLINGS).optional(),
  resume_modes: z.record(actionName, z.enum(RESUME_MODES)).optional(),
  /** Tools that another agent answers: a call of one opens a run of that agent, and waits for its end. */
  delegates: z.record(actionName, agentName).optional(),
  /** A wait for a person needs an object: one of these tools must have succeeded in the run before. */
  needs_object: z.array(actionName).min(1).max(100).optional(),
};

const definition = z.discriminatedUnion("controller", [
  z.strictObject({ controller: z.literal("react"), ...shared }),
  z.strictObject({ controller: z.literal("plan_and_execute"), ...shared }),
  z.strictObject({ controller: z.literal("workflow"), ...shared, nodes: z.array(node).min(1).max(200) }),
]);
export type AgentDefinition = z.output<typeof definition>;

/** Judge an agent that is to run here before it is frozen: `invalid_body` with the path of the first fault. */
export function checkDefinition(
  value: JsonValue,
  tools: readonly { readonly name: string }[],
): Result<CanonicalJson, Refusal> {
  if (tools.some((tool) => tool.name === ASK_TOOL)) {
    return refuse(refusalAt("invalid_body", "tools", `the name ${ASK_TOOL} is reserved`));
  }
  const read = definition.safeParse(value);
  if (!read.success) {
    const [first] = read.error.issues;
    return refuse(refusalAt("invalid_body", ["definition", ...(first?.path ?? [])].join("."), first?.message));
  }
  for (const action of Object.keys(read.data.delegates ?? {})) {
    const fault = isGatewayAction(action)
      ? "is done by the action gateway"
      : tools.some((tool) => tool.name === action)
        ? null
        : "is no tool of the agent";
    if (fault !== null) return refuse(refusalAt("invalid_body", "definition.delegates", `${action} ${fault}`));
  }
  return ok(canonicalJson(value));
}

/** Our own writing, read back from a frozen snapshot. Throws on anything else: it was tampered with. */
export function readDefinition(text: string): AgentDefinition {
  return definition.parse(stored(text));
}
