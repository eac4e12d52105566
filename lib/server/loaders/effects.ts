import "server-only";
import { type CanonicalJson, canonicalJson, type JsonValue, readJson } from "@/lib/protocol/canonical-json";
import type { EffectLine } from "@/lib/protocol/console-view";
import { effectLine } from "@/lib/protocol/effect-line";
import { proposalText } from "@/lib/protocol/proposal";
import { findings, hiddenCount, proposalFields } from "@/lib/protocol/proposal-fields";

const STORED_LIMITS = { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER };

export function storedJson(text: string | null): JsonValue {
  if (text === null) return null;
  const read = readJson(text, STORED_LIMITS);
  if (!read.ok) throw new Error(`stored text is not JSON: ${read.refusal.code}`);
  return read.value;
}

/** Arguments that are too long for a row come as null: the row then says only where the effect goes. */
export function effectOf(args: CanonicalJson | null, target: CanonicalJson | null): EffectLine {
  return effectLine(storedJson(args), storedJson(target));
}

export function hiddenIn(action: string, args: CanonicalJson | null, target: CanonicalJson | null): number {
  const text = proposalText(action, args ?? canonicalJson(null), target ?? canonicalJson(null));
  return hiddenCount(findings(proposalFields(text) ?? []));
}
