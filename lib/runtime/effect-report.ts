import type { CallFacts } from "@/lib/protocol/book/facts";
import { type CanonicalJson, canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import type { Advancing } from "./advance";
import type { Effect } from "./gateway/effect";
import { perform } from "./gateway/gateway";
import type { Recording } from "./recording";

/** What is reported of an attempt. */
interface EffectReport {
  readonly output: CanonicalJson | null;
  readonly error: CanonicalJson | null;
  readonly recovered: boolean;
}

/** Do what was granted. Null: nobody knows how the effect ended. */
export async function effectOf(
  context: Advancing,
  recording: Recording | null,
  call: CallFacts,
  { attempt, effectKey }: { readonly attempt: number; readonly effectKey: string },
): Promise<EffectReport | null> {
  const effect = recording ? null : await perform({ ...call, effectKey }, context.reach, context.stop);
  if (effect) return reportOf(effect, call, attempt);
  const step = recording?.steps[call.step - 1];
  const recorded = step?.kind === "calls" ? step.calls[call.batchIndex] : undefined;
  if (!recorded) return failure("unknown_action", `no action ${call.action} is registered here`);
  if (recorded.error !== null)
    return { output: null, error: canonicalJson({ message: recorded.error }), recovered: false };
  return { output: canonicalJson(recorded.result), error: null, recovered: false };
}

/** How often a request is sent under one effect key before its outcome is reported as unknown. */
const MOST_ATTEMPTS = 5;

function reportOf(effect: Effect, call: CallFacts, attempt: number): EffectReport | null {
  switch (effect.kind) {
    case "executed":
    case "recovered":
      return {
        output: canonicalJson({ written: call.target, content_hash: effect.contentHash }),
        error: null,
        recovered: effect.kind === "recovered",
      };
    case "output_conflict":
      return failure(effect.kind, `the target holds something else (${effect.existingHash})`);
    case "output_outside_roots":
      return failure(effect.kind, "the target's folder is not there, or is beneath no write root");
    case "invalid_args":
      return failure(effect.kind, effect.detail);
    case "answered":
      return { output: canonicalJson(effect.output), error: null, recovered: false };
    case "failed":
      // Its worker was stopped, or lost its claim: no failure of the act. Where it may be repeated, the next claim begins it anew.
      if (effect.code === "stopped" && call.effectiveClass !== "none") return null;
      return failure(effect.code, effect.detail, effect.facts);
    case "unknown":
      return effect.again === "same_key" && attempt >= MOST_ATTEMPTS
        ? failure(
            "outcome_unknown",
            `${effect.detail}; it was sent ${attempt} times under one key and may have happened`,
          )
        : null;
  }
}

function failure(code: string, message: string, facts: JsonObject = {}): EffectReport {
  return { output: null, error: canonicalJson({ ...facts, code, message }), recovered: false };
}
