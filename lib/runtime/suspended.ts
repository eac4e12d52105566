import { type Db, inWorkspaceByKey } from "@/db/client";
import { stored } from "@/lib/protocol/book/stored";
import { isObject, type JsonValue } from "@/lib/protocol/canonical-json";
import type { RunState } from "@/lib/protocol/run";
import { RUNTIME_FORMAT } from "./runtime-state";

export interface Counts {
  readonly modelCalls: number;
  readonly toolAttempts: number;
}

export interface SuspensionFacts extends Counts {
  readonly state: RunState;
  readonly pendingRequests: number;
  /** The counts as they were at the transition, taken in its transaction; null when there was none. */
  readonly atWait: Counts | null;
}

/**
 * A run is suspended only if all four hold: it waits, something is pending, and neither a model call nor a tool attempt was made
 * since the transition. A status alone proves nothing. Source: protocol §7, [S1 C11].
 */
export function isRunSuspended({ state, pendingRequests, atWait, modelCalls, toolAttempts }: SuspensionFacts): boolean {
  return (
    state === "awaiting" &&
    pendingRequests > 0 &&
    atWait !== null &&
    modelCalls === atWait.modelCalls &&
    toolAttempts === atWait.toolAttempts
  );
}

/** What the predicate judges, as it is committed; null when there is no such run. */
export async function readSuspension(db: Db, workspace: string, runId: string): Promise<SuspensionFacts | null> {
  return inWorkspaceByKey(db, workspace, async (tx) => {
    const [row] = await tx.sql<
      { state: RunState; pending: number; attempts: number; bytes: Uint8Array | null; format: string | null }[]
    >`
      select r.state, r.open_tickets as pending, s.bytes, s.format,
        coalesce((select sum(attempt) from calls where workspace_id = r.workspace_id and run = r.id), 0) as attempts
      from runs r
      left join lateral (
        select bytes, format from run_states
        where workspace_id = r.workspace_id and run = r.id and bound_at is not null order by bound_at desc limit 1
      ) s on true
      where r.workspace_id = ${workspace} and r.run_id = ${runId}`;
    if (!row) return null;
    const saved =
      row.format === RUNTIME_FORMAT.format && row.bytes ? stored(Buffer.from(row.bytes).toString("utf8")) : {};
    const counted = isObject(saved) ? saved : {};
    return {
      state: row.state,
      pendingRequests: row.pending,
      modelCalls: numberOf(counted.model_calls),
      toolAttempts: row.attempts,
      atWait: countsOf(counted.at_wait),
    };
  });
}

function countsOf(value: JsonValue | undefined): Counts | null {
  if (value === undefined || !isObject(value)) return null;
  return { modelCalls: numberOf(value.model_calls), toolAttempts: numberOf(value.tool_attempts) };
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
