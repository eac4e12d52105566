import { inWorkspace, type Scope } from "@/db/client";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Sha256 } from "@/lib/protocol/hash";

/** An event as it was hashed, and its hash. */
export interface TraceRow {
  readonly seq: number;
  readonly text: CanonicalJson;
  readonly hash: Sha256;
}

/** Events behind `after`, in order, at most `limit`. */
export async function readTracePage(
  scope: Scope,
  workspace: string,
  run: string,
  after: number,
  limit: number,
): Promise<readonly TraceRow[]> {
  return inWorkspace(scope, workspace, async (tx) => {
    return await tx.sql<TraceRow[]>`
      select seq, event_text as text, hash from trace_events
      where workspace_id = ${tx.workspace} and run = ${run} and seq > ${after} order by seq limit ${limit}`;
  });
}

/** Whether facts of calls in flight may still follow a run's end. */
export async function hasCallsInFlight(scope: Scope, workspace: string, run: string): Promise<boolean> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [call] = await tx.sql`
      select from calls where workspace_id = ${tx.workspace} and run = ${run} and status = 'executing' limit 1`;
    return call !== undefined;
  });
}
