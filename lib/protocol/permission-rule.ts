import { ok, type Result, refuse } from "../result";

/** Whether the tools that a rule names may run, may not, or must be asked about. Source: protocol §5, seed "Permission patterns". */
export const BEHAVIOURS = ["allow", "deny", "ask"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/**
 * One rule of a policy. `tool` is a tool's exact name, or a glob in which `*` stands for any text, also none.
 * Conditions on arguments will stand beside it; a rule without them is the least specific of its tool pattern.
 */
export interface PermissionRule {
  readonly id: string;
  readonly behaviour: Behaviour;
  readonly tool: string;
}

/** An immutable version of a workspace's rules: every evaluation names one. */
export interface Policy {
  readonly version: number;
  readonly rules: readonly PermissionRule[];
  /** What happens to a call that no rule matches. */
  readonly default: Behaviour;
}

/** The policy of an agent that nobody has written rules for. */
export const DEFAULT_POLICY: Policy = { version: 0, rules: [], default: "ask" };

export interface PolicyVerdict {
  readonly behaviour: Behaviour;
  /** `null` where the default answered. */
  readonly rule: PermissionRule | null;
}

/**
 * Judge a tool by its name. Any matching deny wins, whatever else matches; otherwise the most specific of the allow and ask rules does
 * (an exact name before a longer glob before a shorter one), the first in the list among equals; otherwise the policy's default.
 */
export function evaluatePolicy(policy: Policy, action: string): PolicyVerdict {
  const matching = policy.rules.filter((rule) => matchesTool(rule.tool, action));
  const denying = matching.filter((rule) => rule.behaviour === "deny");
  // A deny hides every other rule, and among denies the most specific is the one to tell.
  const rule = mostSpecific(denying.length > 0 ? denying : matching);
  return rule ? { behaviour: rule.behaviour, rule } : { behaviour: policy.default, rule: null };
}

function mostSpecific(rules: readonly PermissionRule[]): PermissionRule | null {
  let best: PermissionRule | null = null;
  for (const rule of rules) {
    // Strictly more specific, so that the earlier of two equals stays.
    if (best === null || compareSpecificity(specificity(rule), specificity(best)) > 0) best = rule;
  }
  return best;
}

/** Compared from the left; what conditions on arguments add will follow behind. */
type Specificity = readonly [exact: number, literalLength: number];

function specificity(rule: PermissionRule): Specificity {
  const literal = rule.tool.replaceAll("*", "");
  return [rule.tool === literal ? 1 : 0, literal.length];
}

function compareSpecificity(left: Specificity, right: Specificity): number {
  return left[0] - right[0] || left[1] - right[1];
}

/** Names are compared code unit by code unit: no case folding, no normalising, so a look-alike never matches. */
export function matchesTool(pattern: string, action: string): boolean {
  const parts = pattern.split("*");
  const [head = "", ...rest] = parts;
  if (rest.length === 0) return pattern === action;
  const tail = rest.pop() ?? "";
  if (!action.startsWith(head) || !action.endsWith(tail) || action.length < head.length + tail.length) return false;
  return containsInOrder(action.slice(head.length, action.length - tail.length), rest);
}

/** Taking the leftmost place of each part is enough for `*`, and takes linear time where a regular expression may not. */
function containsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return true;
}

export interface RuleRefusal {
  readonly code: "invalid_rule";
  readonly detail: string;
}

/** What only an expression needs; `.` and `/` stand in real tool names, so they are told apart by their place. */
const EXPRESSION = /[\s\\^$+?()[\]{}|]|^\.\*|^\/.*\/$/;

/**
 * Judge a rule before it is saved. A regular expression is refused: it fails open, since one that does not match what its author
 * meant lets a call pass.
 */
export function checkRule(rule: PermissionRule): Result<PermissionRule, RuleRefusal> {
  if (rule.id === "") return invalidRule("a rule has an id");
  if (rule.tool === "") return invalidRule("a rule names a tool, or * for all");
  if (EXPRESSION.test(rule.tool)) return invalidRule("a tool pattern is a name with *, not a regular expression");
  return ok(rule);
}

function invalidRule(detail: string) {
  return refuse({ code: "invalid_rule", detail } as const);
}
