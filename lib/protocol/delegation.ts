/**
 * Runs that lie above a delegated one, at most. A chain that is longer is a loop that nobody meant, and whoever decides at its end
 * could no longer say for whom.
 */
export const MOST_DELEGATIONS = 8;

/** A run that another delegated, as its parent knows it. */
export interface ChildRun {
  readonly runId: string;
  readonly callRef: string;
  readonly cause: string | null;
  readonly causeCode: string | null;
}

/** Why a delegated call is taken back: in words, for the model and for the trace. */
export function childEnded({ runId, cause, causeCode }: ChildRun): string {
  return `the run ${runId} that it was delegated to ended: ${cause}${causeCode === null ? "" : ` (${causeCode})`}`;
}
