import { type Db, inWorkspace } from "@/db/client";
import { readBook } from "@/db/store/read-book";
import { type BoundState, boundState } from "@/db/store/states";
import type { Book } from "@/lib/protocol/book/book";
import type { PrincipalKind } from "@/lib/protocol/principal";

export interface RunProgress {
  readonly book: Book;
  readonly highest: number;
  /** Nothing of a suspended workspace moves. */
  readonly suspended: boolean;
  /** The agent's own state, for the worker that plays the agent. */
  readonly state: BoundState | null;
  readonly principal: { readonly id: string; readonly kind: PrincipalKind; readonly name: string };
  readonly snapshot: FrozenAgent;
}

/** What a run's snapshot froze. */
export interface FrozenAgent {
  readonly provider: string | null;
  readonly model: string | null;
  /** Canonical JSON: the tools, sorted by name. */
  readonly catalog: string;
  /** Null where the agent does not run here, or is a recording. */
  readonly definition: string | null;
}

/** Where a run stands, for the worker that moves it: everything unfinished, its last step, and its agent's state. */
export async function readProgress(db: Db, workspace: string, run: string): Promise<RunProgress | null> {
  return inWorkspace(db, workspace, async (tx) => {
    const [last] = await tx.sql<{ step: number }[]>`
      select coalesce(max(step), 0) as step from batches where workspace_id = ${workspace} and run = ${run}`;
    const open = await readBook(tx, { person: null, display: "" }, { internal: run }, { step: last?.step }, "look");
    if (!open) return null;
    const state = await boundState(tx, run);
    const [principal] = await tx.sql<RunProgress["principal"][]>`
      select id, kind, name from principals where workspace_id = ${workspace} and id = ${open.book.run.principalId}`;
    if (!principal) throw new Error(`run ${open.book.run.runId} has no principal`);
    const [snapshot] = await tx.sql<FrozenAgent[]>`
      select provider, model, catalog, definition from agent_snapshots
      where workspace_id = ${workspace} and snapshot_id = ${open.book.run.snapshotId}`;
    if (!snapshot) throw new Error(`run ${open.book.run.runId} has no snapshot`);
    return { book: open.book, highest: open.highest, suspended: open.rights.suspended, state, principal, snapshot };
  });
}

/** The last thing that a user said on a thread, so that it is not said again. */
export async function readMessagesSeen(
  db: Db,
  workspace: string,
  threadId: string,
): Promise<{ lastUserText: string | null }> {
  return inWorkspace(db, workspace, async (tx) => {
    const [row] = await tx.sql<{ content: string }[]>`
      select content from messages where workspace_id = ${workspace} and thread_id = ${threadId} and role = 'user'
      order by seq desc limit 1`;
    return { lastUserText: row?.content ?? null };
  });
}
