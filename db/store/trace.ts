import type { Tx } from "@/db/client";
import type { EventDraft } from "@/lib/protocol/book/book";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { type Sha256, sha256Hex } from "@/lib/protocol/hash";
import type { Instant } from "@/lib/protocol/instant";
import type { Caller } from "@/lib/protocol/principal";
import { genesisHash, type TraceActor, traceEventText } from "@/lib/protocol/trace-event";

/** Where a run's chain ends, read under the run's lock: the row's lock is what keeps the chain from forking. */
export interface TraceHead {
  readonly seq: number;
  readonly hash: Sha256;
}

export interface TraceRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly runId: string;
}

export function startOfTrace(run: TraceRun): TraceHead {
  return { seq: 0, hash: genesisHash(run.workspaceId, run.runId) };
}

export function traceActor(caller: Caller): TraceActor {
  return { kind: caller.kind, id: caller.principal, name: caller.display };
}

/** Chain events behind the head. All events of one commit are one insert. Gives the new head. */
export async function appendTrace(
  tx: Tx,
  run: TraceRun,
  head: TraceHead,
  actor: TraceActor,
  at: Instant,
  events: readonly (EventDraft & { readonly refusalCode?: string })[],
): Promise<TraceHead> {
  let { seq, hash } = head;
  const rows = events.map(({ type, payload, refusalCode }) => {
    const prevHash = hash;
    seq += 1;
    const eventText = traceEventText({
      v: 1,
      kind: "trace",
      workspace_id: run.workspaceId,
      run_id: run.runId,
      seq,
      type,
      at,
      actor,
      payload: withoutUndefined(payload),
      prev_hash: prevHash,
    });
    hash = sha256Hex(eventText);
    return {
      workspaceId: run.workspaceId,
      run: run.id,
      seq,
      prevHash,
      eventText,
      hash,
      type,
      at,
      refusalCode: refusalCode ?? null,
    };
  });
  if (rows.length > 0) await tx.sql`insert into trace_events ${tx.sql(rows)}`;
  return { seq, hash };
}

function withoutUndefined(payload: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
}
