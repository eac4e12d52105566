import { inWorkspace, type Scope } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { fixedLimit } from "./paging";

/** An event as stored: `text` is what was hashed. */
export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: Instant;
  readonly text: string;
  readonly prevHash: string;
  readonly hash: string;
  readonly refusalCode: string | null;
}

/** A window of a run's trace, by seq: events after `after`, at most `most`. Empty for a run that does not exist. */
export async function readTrace(
  scope: Scope,
  workspace: string,
  runId: string,
  { after = 0, most = 10_000 }: { readonly after?: number; readonly most?: number } = {},
): Promise<readonly StoredEvent[]> {
  return inWorkspace(
    scope,
    workspace,
    async (tx) =>
      await tx.sql<StoredEvent[]>`
      select e.seq, e.type, e.at, e.event_text as text, e.prev_hash, e.hash, e.refusal_code
      from trace_events e
      where e.workspace_id = ${workspace}
        and e.run = (select id from runs where workspace_id = ${workspace} and run_id = ${runId})
        and e.seq > ${after}
      order by e.seq limit ${fixedLimit(tx, most)}`,
  );
}
