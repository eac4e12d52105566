import type { CanonicalJson } from "./canonical-json";
import type { Comparison } from "./console-view";
import { type ProposalField, proposalFields } from "./proposal-fields";

export type Novelty = Comparison["novel"][number];

/**
 * Which fields hold what no earlier call of this agent and action held: a value never seen, or a number over all of them.
 * With nothing earlier nothing is new: everything would be.
 */
export function noveltiesOf(
  proposal: string,
  earlier: readonly CanonicalJson[] | readonly string[],
): readonly Novelty[] {
  const before = earlier.map((text) => proposalFields(text)).filter((fields) => fields !== null);
  if (before.length === 0) return [];
  return (proposalFields(proposal) ?? []).flatMap((field) => noveltyOf(field, before));
}

function noveltyOf(field: ProposalField, before: readonly (readonly ProposalField[])[]): readonly Novelty[] {
  if (field.path === "action" || field.value === null) return [];
  const values = before.flatMap((fields) => fields.filter((other) => other.path === field.path));
  if (values.some((other) => other.text === field.text)) return [];
  const numbers = values.map((other) => other.value).filter((value) => typeof value === "number");
  if (typeof field.value === "number" && numbers.length > 0) {
    return field.value > Math.max(...numbers) ? [{ path: field.path, kind: "largest_so_far" }] : [];
  }
  return [{ path: field.path, kind: "first_ever" }];
}
