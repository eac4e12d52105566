import { z } from "zod";
import type { RunProgress } from "@/db/queries/run-progress";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";

export const RUNTIME_FORMAT = { format: "holdpoint.runtime", version: "1" } as const;

const counts = z.strictObject({ model_calls: z.int().min(0), tool_attempts: z.int().min(0) });

// What an earlier version kept besides is let go.
const shape = z.object({
  /** Decisions committed; each names its messages by its number. */
  turns: z.int().min(0),
  model_calls: z.int().min(0),
  /** Failed tries of the model call that is due, and before when it may not be tried again: epoch ms by the database's clock. */
  tries: z.int().min(0),
  rest_until_ms: z.int().min(0).default(0),
  /** The counts at the last park, taken in its transaction. Source: [S1 C11] `snapshot_wait`. */
  at_wait: counts.nullable(),
  /** The planner's steps, each a signal as JSON; null before it has planned. */
  plan: z.array(z.custom<JsonValue>()).nullable(),
  cursor: z.int().min(0),
  values: z.record(z.string(), z.string()),
  /** Under which name the results of the last decision are kept. */
  keeps: z.string().nullable(),
});

/** What of an agent's progress no other committed fact tells. Saved with each step, in its transaction. */
export type RuntimeState = z.output<typeof shape>;

export function firstState(): RuntimeState {
  return {
    turns: 0,
    model_calls: 0,
    tries: 0,
    rest_until_ms: 0,
    at_wait: null,
    plan: null,
    cursor: 0,
    values: {},
    keeps: null,
  };
}

export function stateText(state: RuntimeState): string {
  return canonicalJson(state);
}

/** The state last bound, after its hash was checked; a fresh one before the first step. */
export function loadState({ state, book }: Pick<RunProgress, "state" | "book">): RuntimeState {
  if (state === null) return firstState();
  if (state.format !== RUNTIME_FORMAT.format || !state.bytes || sha256Hex(state.bytes) !== state.sha256)
    throw new Error(`the saved state of run ${book.run.runId} is not what was bound`);
  return shape.parse(stored(Buffer.from(state.bytes).toString("utf8")));
}
