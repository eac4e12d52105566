import { v7 as newId } from "uuid";
import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import { newestHosted } from "@/db/queries/agents";
import { endedAs } from "@/lib/protocol/book/refusing";
import type { CallRef } from "@/lib/protocol/call";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { MOST_DELEGATIONS } from "@/lib/protocol/delegation";
import type { Instant } from "@/lib/protocol/instant";
import type { JobOrigin } from "@/lib/protocol/mailbox-job";
import { may } from "@/lib/protocol/may";
import type { Caller, Role } from "@/lib/protocol/principal";
import { type Refusal, refusal, refusalAt } from "@/lib/protocol/refusals";
import type { DelegationOrigin, Executor } from "@/lib/protocol/run";
import { ok, type Result, refuse } from "@/lib/result";
import { enqueueStart } from "./mailbox/enqueue";
import { addMessages } from "./messages";
import { type Refused, recordRefusal } from "./refuse";
import { agentFor, EMPTY_SNAPSHOT, insertSnapshot } from "./snapshots";

export interface RunRequest {
  readonly runId: string | null;
  readonly agent: string;
  /** Null: for a run of the worker the agent's newest content that runs here; where there is none, and elsewhere, an empty one. */
  readonly snapshotId: string | null;
  readonly threadId: string | null;
  /** The thread's first message. */
  readonly input: string | null;
  readonly executor: Executor;
  /** A person of the workspace, by id or e-mail; they may not approve what is done in their name. */
  readonly onBehalfOf: string | null;
  readonly parent: { readonly runId: string; readonly call: string } | null;
  /** Refuse with `invalid_body` an agent that does not run here, instead of opening a run that nothing moves. */
  readonly mustRunHere?: boolean;
  readonly isDemo?: boolean;
  /** Of the first look at a run that runs here; absent: as its caller and its parent say. */
  readonly origin?: JobOrigin;
}

export interface OpenedRun {
  readonly id: string;
  readonly runId: string;
  readonly threadId: string;
  readonly snapshotId: string;
  readonly executor: Executor;
  readonly at: Instant;
}

type Opening = Result<OpenedRun, Refusal>;

/**
 * Open a run. Who executes it is fixed here; an agent that runs here gets its first look in the same transaction.
 * A known `run_id` is `run_exists`. One that is refused leaves no agent, snapshot or thread behind. Source: http-api "Agents and runs".
 */
export async function openRun(scope: Scope, caller: Caller, request: RunRequest): Promise<Result<OpenedRun, Refused>> {
  return inWorkspaceByKey(scope, caller.workspace, async (tx) => {
    // A statement waits until somebody does; this one must be sent before the others.
    const marked = tx.sql`savepoint nothing_opened`.execute();
    const [, opened] = await Promise.all([marked, tryOpen(tx, caller, request)]);
    if (opened.ok) return opened;
    // What it is refused for may be found when the name is taken and the thread made: only the refusal stays.
    await tx.sql`rollback to savepoint nothing_opened`;
    const attempted = { verb: "open_run" as const, run: request.runId, input: { agent: request.agent } };
    return refuse(await recordRefusal(tx, caller, attempted, opened.refusal, null));
  });
}

async function tryOpen(tx: Tx, caller: Caller, request: RunRequest): Promise<Opening> {
  const verb = request.executor === "cli" ? "drive_cli_run" : "open_run";
  const role = caller.kind === "person" ? await roleOf(tx, caller.person) : caller.role;
  if (may({ kind: caller.kind, role }, verb) === "no" && caller.kind !== "system")
    return refuse(refusal("not_permitted"));
  const newest = request.executor === "worker" ? await newestHosted(tx, request.agent) : null;
  // Before the name is taken: whoever misspells one must not own it.
  if (request.mustRunHere && newest === null)
    return refuse(refusalAt("invalid_body", "agent", "no agent of this name runs here"));
  const agentId = await agentFor(tx, caller, request.agent);
  if (agentId === null) return refuse(refusal("not_permitted", {}, "this agent's name belongs to another principal"));
  const snapshot = await snapshotFor(tx, agentId, request, newest);
  if (!snapshot) return refuse(refusal("snapshot_mismatch", { supplied: request.snapshotId }));
  const { snapshotId } = snapshot;
  const parent = await parentFor(tx, caller, request);
  if (!parent.ok) return parent;
  const onBehalfOf = await personFor(tx, request.onBehalfOf);
  // Dropped quietly, it would let the one for whom it is done approve it.
  if (request.onBehalfOf !== null && onBehalfOf === null)
    return refuse(refusalAt("invalid_body", "on_behalf_of", "no such member"));
  const { actsFor, ...parentColumns } = parent.value;
  // Delegation must not free anybody: whoever may not approve the parent's acts may not approve its child's.
  if (actsFor !== null && onBehalfOf !== null && actsFor !== onBehalfOf)
    return refuse(refusalAt("invalid_body", "on_behalf_of", "its parent acts for somebody else"));

  const id = newId();
  const runId = request.runId ?? id;
  const threadId = request.threadId ?? runId;
  // Whoever makes the thread at the same moment is waited for here, and seen below.
  const thread =
    await tx.sql`insert into threads ${tx.sql({ workspaceId: tx.workspace, threadId })} on conflict do nothing`;
  if (thread.count === 0 && (await isAnothers(tx, caller, threadId)))
    return refuse(refusal("not_permitted", {}, "this thread belongs to another principal"));
  const [row] = await tx.sql<{ createdAt: Instant }[]>`
    insert into runs ${tx.sql({
      workspaceId: tx.workspace,
      id,
      runId,
      agentId,
      snapshotId,
      threadId,
      executor: request.executor,
      principalId: caller.principal,
      onBehalfOf: onBehalfOf ?? actsFor,
      isDemo: request.isDemo ?? false,
      ...parentColumns,
    })} on conflict (workspace_id, run_id) do nothing returning created_at`;
  if (!row) return refuse(await runExists(tx, caller, runId));
  tx.touched.add(id);
  if (parentColumns.parentRun !== null) tx.touched.add(parentColumns.parentRun);
  if (request.input !== null)
    await addMessages(tx, threadId, [{ id: `input:${runId}`, role: "user", text: request.input }]);
  if (snapshot.runsHere && request.executor === "worker")
    await enqueueStart(tx, { id, runId, agentId, threadId }, request.origin ?? originOf(caller, request));
  return ok({ id, runId, threadId, snapshotId, executor: request.executor, at: row.createdAt });
}

/** A thread is read by every agent on it, and written by every run: it stays with the principal that began it. */
async function isAnothers(tx: Tx, caller: Caller, threadId: string): Promise<boolean> {
  const [other] = await tx.sql`
    select from runs where workspace_id = ${tx.workspace} and thread_id = ${threadId} and principal_id <> ${caller.principal}
    limit 1`;
  return other !== undefined;
}

/** Read anew: a right that was lost a moment ago counts, and a worker that opens a child for a person does not know it. */
async function roleOf(tx: Tx, person: string | null): Promise<Role | null> {
  const [member] = await tx.sql<{ role: Role }[]>`
    select role from members where workspace_id = ${tx.workspace} and person_id = ${person} and disabled_at is null`;
  return member?.role ?? null;
}

/** A person's request is a user's, an agent's own is one of agents; what a run or we ourselves ask for is internal. */
function originOf({ kind }: Caller, { parent }: RunRequest): JobOrigin {
  if (parent !== null) return "Internal";
  return kind === "person" ? "User" : kind === "agent" ? "A2A" : "Internal";
}

interface ChosenSnapshot {
  readonly snapshotId: string;
  readonly runsHere: boolean;
}

async function snapshotFor(
  tx: Tx,
  agentId: string,
  request: RunRequest,
  newest: string | null,
): Promise<ChosenSnapshot | undefined> {
  if (request.snapshotId !== null) {
    const [known] = await tx.sql<ChosenSnapshot[]>`
      select snapshot_id, definition is not null as runs_here from agent_snapshots
      where workspace_id = ${tx.workspace} and agent_id = ${agentId} and snapshot_id = ${request.snapshotId}`;
    return known;
  }
  if (newest !== null) return { snapshotId: newest, runsHere: true };
  return { ...(await insertSnapshot(tx, agentId, request.agent, EMPTY_SNAPSHOT)), runsHere: false };
}

/** A run's state is told to its own principal alone. */
async function runExists(tx: Tx, caller: Caller, runId: string): Promise<Refusal<"run_exists">> {
  const [run] = await tx.sql<{ principalId: string; state: string }[]>`
    select principal_id, state from runs where workspace_id = ${tx.workspace} and run_id = ${runId}`;
  return refusal("run_exists", run?.principalId === caller.principal ? { run_id: runId, state: run.state } : {});
}

async function personFor(tx: Tx, named: string | null): Promise<string | null> {
  if (named === null) return null;
  const [person] = await tx.sql<{ id: string }[]>`
    select p.id from people p
    join members m on m.person_id = p.id and m.workspace_id = ${tx.workspace}
    where p.id::text = ${named} or p.email = ${named}::citext`;
  return person?.id ?? null;
}

interface Parent {
  /** The person for whom the parent acts; not stored twice. */
  readonly actsFor: string | null;
  readonly parentRun: string | null;
  readonly parentCall: CallRef | null;
  readonly rootRun: string | null;
  readonly depth: number;
  readonly origin: string | null;
}

const NO_PARENT: Parent = { actsFor: null, parentRun: null, parentCall: null, rootRun: null, depth: 0, origin: null };

/**
 * A parent is a run of the same principal, still alive, with that call; the origin is frozen here. Its row is shared until this
 * commits, so that its end either refuses the child or tells it. Source: [S0], protocol §8 "the finish boundary".
 */
async function parentFor(tx: Tx, caller: Caller, { parent }: RunRequest): Promise<Result<Parent, Refusal>> {
  if (parent === null) return ok(NO_PARENT);
  const [run] = await tx.sql<
    {
      id: string;
      cause: string | null;
      causeCode: string | null;
      endedBy: string | null;
      endedAt: Instant | null;
      rootRun: string | null;
      rootRunId: string;
      depth: number;
      callRef: CallRef;
      actsFor: string | null;
    }[]
  >`
    select r.id, r.cause, r.cause_code, r.ended_by, r.ended_at, r.root_run, coalesce(root.run_id, r.run_id) as root_run_id, r.depth, c.call_ref,
      r.on_behalf_of as acts_for
    from runs r
    join calls c on c.workspace_id = r.workspace_id and c.run = r.id and c.call_ref = ${parent.call}
    left join runs root on root.workspace_id = r.workspace_id and root.id = r.root_run
    where r.workspace_id = ${tx.workspace} and r.run_id = ${parent.runId} and r.principal_id = ${caller.principal}
    for share of r`;
  if (!run) return refuse(refusal("unknown_run"));
  if (run.cause !== null) return refuse(endedAs(run));
  if (run.depth >= MOST_DELEGATIONS) {
    const detail = `a chain of delegated runs has at most ${MOST_DELEGATIONS} behind its first`;
    return refuse(refusalAt("invalid_body", "parent", detail));
  }
  const origin: DelegationOrigin = {
    parent_run_id: parent.runId,
    parent_call_ref: run.callRef,
    root_run_id: run.rootRunId,
    depth: run.depth + 1,
  };
  return ok({
    actsFor: run.actsFor,
    parentRun: run.id,
    parentCall: run.callRef,
    rootRun: run.rootRun ?? run.id,
    depth: run.depth + 1,
    origin: canonicalJson({ ...origin }),
  });
}
