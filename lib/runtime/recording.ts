import { stored } from "@/lib/protocol/book/stored";
import type { Risk } from "@/lib/protocol/call";
import { canonicalJson, isArray, isObject, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";

/** One call as it was recorded: what was proposed, and what the tool gave back. */
export interface RecordedCall {
  readonly callId: string | null;
  readonly tool: string;
  readonly args: JsonValue;
  readonly output: JsonValue;
  /** The tool's result as text; null when none was recorded. */
  readonly result: string | null;
  readonly error: string | null;
  readonly risk: Risk;
  readonly why: string | null;
}

/** One model step: calls proposed together, or a question to a person. */
export type RecordedStep =
  | { readonly kind: "calls"; readonly message: string | null; readonly calls: readonly RecordedCall[] }
  | {
      readonly kind: "question";
      readonly message: string | null;
      readonly question: string;
      readonly schema: JsonValue;
    };

/** A thread that an agent replays: the whole script, saved as the run's state, so that any worker can go on with it. */
export interface Recording {
  readonly thread: string;
  readonly model: string | null;
  readonly steps: readonly RecordedStep[];
}

export const RECORDING_FORMAT = "holdpoint.recording";
export const RECORDING_VERSION = "1";

export function recordingText(recording: Recording): string {
  return canonicalJson({
    thread: recording.thread,
    model: recording.model,
    steps: recording.steps.map((step) =>
      step.kind === "question" ? { ...step } : { ...step, calls: step.calls.map((call) => ({ ...call })) },
    ),
  });
}

/** Our own writing, read back after its hash was checked. */
export function readRecording(text: string): Recording {
  const value = stored(text);
  if (!isObject(value) || value.steps === undefined || !isArray(value.steps))
    throw new Error("this state is no recording");
  return value as unknown as Recording;
}

/** The tools that a recording names, as its agent's catalogue. */
export function toolsOf(recording: Recording): readonly (JsonObject & { readonly name: string })[] {
  const names = recording.steps.flatMap((step) => (step.kind === "calls" ? step.calls.map((call) => call.tool) : []));
  return [...new Set(names)].sort().map((name) => ({ name }));
}
