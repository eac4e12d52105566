import type { CallRef } from "./call";

/** States and causes of a run. Source: protocol §5 "Run". */
export const RUN_STATES = ["running", "awaiting", "ended"] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_CAUSES = ["completed", "cancelled", "stopped", "failed", "budget_exhausted", "indeterminate"] as const;
export type RunCause = (typeof RUN_CAUSES)[number];

/** Who performs a run's effects; fixed when the run is opened. Source: protocol §1 "Executor". */
export const EXECUTORS = ["worker", "client", "cli"] as const;
export type Executor = (typeof EXECUTORS)[number];

/** The edges of §5. One that is not here does not exist; `ended` has none, so it absorbs. */
export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  running: ["awaiting", "ended"],
  awaiting: ["running", "ended"],
  ended: [],
};

export function mayRunMove(from: RunState, to: RunState): boolean {
  return RUN_TRANSITIONS[from].includes(to);
}

/** How the finish boundary was crossed and by whom; what `run_ended` tells a late caller. */
export interface RunEnding {
  readonly cause: RunCause;
  readonly code: string | null;
  readonly by: string;
  readonly at: string;
}

/** A parent's call that a delegated run works for. Stable from open to end. Source: [S0] delegated runs. */
export interface DelegationOrigin {
  readonly parent_run_id: string;
  readonly parent_call_ref: CallRef;
  readonly root_run_id: string;
  readonly depth: number;
}
