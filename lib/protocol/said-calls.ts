import type { CallRef } from "./call";
import { type CanonicalJson, canonicalJson, isArray, isObject, readJson } from "./canonical-json";

/** The role of a message that holds the calls of one model turn. */
export const CALLS_ROLE = "tool_calls";

/** One call as a model's turn named it. `callRef` is null for one that was turned down: it became no call of the run. */
export interface SaidCall {
  readonly name: string;
  /** As the model wrote them; need not be JSON. */
  readonly argumentsText: string;
  readonly callRef: CallRef | null;
}

/** The text of the message that keeps a turn's calls on its thread. */
export function saidCallsText(calls: readonly SaidCall[]): CanonicalJson {
  return canonicalJson(
    calls.map((call) => ({ name: call.name, arguments: call.argumentsText, call_ref: call.callRef })),
  );
}

/** The same, read back; null when the text is none, or was cut. */
export function readSaidCalls(text: string): readonly SaidCall[] | null {
  const read = readJson(text);
  if (!read.ok || !isArray(read.value)) return null;
  const calls = read.value.flatMap((call) =>
    isObject(call) && typeof call.name === "string" && typeof call.arguments === "string"
      ? [
          {
            name: call.name,
            argumentsText: call.arguments,
            callRef: typeof call.call_ref === "string" ? (call.call_ref as CallRef) : null,
          },
        ]
      : [],
  );
  return calls.length === read.value.length ? calls : null;
}
