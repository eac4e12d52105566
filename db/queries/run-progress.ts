import { type Db, inWorkspaceByKey, type Tx } from "@/db/client";
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
  return inWorkspaceByKey(db, workspace, async (tx) => {
    const [step, frozen, state] = await Promise.all([readLastStep(tx, run), readFrozen(tx, run), boundState(tx, run)]);
    const open = await readBook(tx, { person: null, display: "" }, { internal: run }, { step }, "look");
    if (!open || !frozen) return null;
    const { principalId, principalKind, principalName, ...snapshot } = frozen;
    const principal = { id: principalId, kind: principalKind, name: principalName };
    return { book: open.book, highest: open.highest, suspended: open.rights.suspended, state, principal, snapshot };
  });
}

async function readLastStep(tx: Tx, run: string): Promise<number> {
  const [last] = await tx.sql<{ step: number }[]>`
    select coalesce(max(step), 0) as step from batches where workspace_id = ${tx.workspace} and run = ${run}`;
  return last?.step ?? 0;
}

interface Frozen extends FrozenAgent {
  readonly principalId: string;
  readonly principalKind: PrincipalKind;
  readonly principalName: string;
}

/** What never changes while a run lives: who opened it, and what its agent was then. */
async function readFrozen(tx: Tx, run: string): Promise<Frozen | undefined> {
  const [frozen] = await tx.sql<Frozen[]>`
    select p.id as principal_id, p.kind as principal_kind, p.name as principal_name, s.provider, s.model, s.catalog, s.definition
    from runs r
    join principals p on p.workspace_id = r.workspace_id and p.id = r.principal_id
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id
    where r.workspace_id = ${tx.workspace} and r.id = ${run}`;
  return frozen;
}

/** The last thing that a user said on a thread, so that it is not said again. */
export async function readMessagesSeen(
  db: Db,
  workspace: string,
  threadId: string,
): Promise<{ lastUserText: string | null }> {
  return inWorkspaceByKey(db, workspace, async (tx) => {
    const [row] = await tx.sql<{ content: string }[]>`
      select content from messages where workspace_id = ${workspace} and thread_id = ${threadId} and role = 'user'
      order by seq desc limit 1`;
    return { lastUserText: row?.content ?? null };
  });
}
