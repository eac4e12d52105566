import { setTimeout as sleep } from "node:timers/promises";
import { Busy, type Db } from "@/db/client";
import { type FrozenAgent, type RunProgress, readProgress } from "@/db/queries/run-progress";
import { beginClaimed, completeClaimed } from "@/db/store/execute";
import type { ClaimedJob } from "@/db/store/mailbox/claim";
import { catalogOf } from "@/db/store/snapshots";
import { readDefinition } from "@/lib/protocol/agent-definition";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { isInHand, isTerminal } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { hashJson } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import type { Result } from "@/lib/result";
import { takeTurn } from "./agent-loop";
import { type Tended, tendChildren } from "./delegation";
import { effectOf } from "./effect-report";
import type { FailAt } from "./failpoint";
import type { Reach } from "./gateway/effect";
import type { Model, ModelFailure } from "./model/model";
import { takeNextStep } from "./recorded-agent";
import { RECORDING_FORMAT, type Recording, readRecording, toolsOf } from "./recording";

export interface Advancing {
  readonly db: Db;
  /** Who executes: the system, per workspace. */
  readonly system: Caller;
  readonly worker: string;
  readonly job: ClaimedJob;
  readonly reach: Reach;
  readonly failAt: FailAt;
  /** The claim was lost or the worker is stopping: go no further. */
  readonly stop: AbortSignal;
  /** The model that a snapshot names, or why there is none. */
  readonly modelFor?: (snapshot: Pick<FrozenAgent, "provider" | "model">) => Result<Model, ModelFailure>;
}

/** What became of a look at a run: nothing more to do now, which its last write may have said already, or look again later. */
export type Advanced = { readonly kind: "done" | "acked" } | { readonly kind: "later"; readonly inMs: number };

const DONE: Advanced = { kind: "done" };
const ACKED: Advanced = { kind: "acked" };
const LOOK_AGAIN_MS = 1_000;
const SUSPENDED_LOOK_MS = 30_000;

/**
 * Move one run as far as it goes without a person: begin what is approved, perform it, report it, and let the agent take its next
 * step once every call has an outcome. Each step is a committed verb, so a crash between two of them loses nothing.
 */
export async function advanceRun(context: Advancing, run: string): Promise<Advanced> {
  while (!context.stop.aborted) {
    const progress = await readProgress(context.db, context.job.workspace, run);
    if (!progress || progress.book.run.cause !== null || progress.book.run.executor !== "worker") return DONE;
    // Before anything is begun or asked: what is refused for the workspace's sake would be taken for the run's own end.
    if (progress.suspended) return { kind: "later", inMs: SUSPENDED_LOOK_MS };
    const loaded = loadOf(progress);
    const inHand = progress.book.calls().filter(isInHand);
    if (inHand.length > 0) {
      const ended = await executeAll(context, progress, loaded, inHand);
      if (ended) return ended;
      continue;
    }
    const tended = await tendDelegated(context, progress);
    if (tended === "held") return { kind: "later", inMs: LOOK_AGAIN_MS };
    if (tended === "moved") continue;
    if (progress.book.calls().some((call) => !isTerminal(call)) || progress.book.openTickets().length > 0) return DONE;
    if (progress.snapshot.definition !== null) {
      const moved = await takeTurn(context, agentOf(context, progress), progress);
      if (moved !== "again") return moved;
      continue;
    }
    if (!loaded?.recording) return DONE;
    const { run: facts } = progress.book;
    const lastCalls = progress.book.callsOf(progress.highest);
    const agent = agentOf(context, progress);
    const next = await takeNextStep(
      context.db,
      agent,
      facts.runId,
      facts.threadId,
      loaded.recording,
      progress.highest,
      lastCalls,
    );
    if (!next.ok) throw new Error(`the recorded agent's next step was refused: ${next.refusal.code}`);
    if (next.value === "finished") return DONE;
  }
  return { kind: "later", inMs: 0 };
}

async function tendDelegated(context: Advancing, progress: RunProgress): Promise<Tended> {
  const { definition } = progress.snapshot;
  const delegates = definition === null ? undefined : readDefinition(definition).delegates;
  return delegates === undefined ? "nothing" : tendChildren(context, agentOf(context, progress), progress, delegates);
}

/** The run's own principal: an agent that runs here has no key at hand, so its worker speaks for it. */
function agentOf({ job }: Advancing, { principal, book }: RunProgress): Caller {
  return {
    workspace: job.workspace,
    principal: principal.id,
    kind: principal.kind,
    // A person's role is read anew under the lock of each verb.
    role: null,
    person: principal.kind === "person" ? book.run.openedByPerson : null,
    display: principal.name,
    surface: "worker",
    credential: null,
  };
}

/** What this worker has loaded for a run: its script if it is one, and the catalogue that it runs now. */
interface Loaded {
  readonly recording: Recording | null;
  readonly fingerprint: string;
}

/** By the hash of the bytes, so that what was read once need not be read at every look. */
const recordings = new Map<string, Loaded>();
const MOST_RECORDINGS = 200;

function loadOf(progress: RunProgress): Loaded | null {
  const { definition, catalog } = progress.snapshot;
  if (definition === null) return loadRecording(progress);
  return { recording: null, fingerprint: hashJson(stored(catalog)) };
}

/** The run's script, after its hash was checked; null when the run has none. */
function loadRecording({ state, book }: RunProgress): Loaded | null {
  if (state?.format !== RECORDING_FORMAT || !state.bytes) return null;
  const known = recordings.get(state.sha256);
  if (known) return known;
  if (sha256Hex(state.bytes) !== state.sha256)
    throw new Error(`the saved state of run ${book.run.runId} is not what was bound`);
  const read = readRecording(Buffer.from(state.bytes).toString("utf8"));
  const loaded = { recording: read, fingerprint: catalogOf(toolsOf(read)).fingerprint };
  if (recordings.size >= MOST_RECORDINGS) recordings.clear();
  recordings.set(state.sha256, loaded);
  return loaded;
}

/** Begin waits for no sibling; a call that must wait for time is looked at again later. */
async function executeAll(
  context: Advancing,
  progress: RunProgress,
  loaded: Loaded | null,
  calls: readonly CallFacts[],
): Promise<Advanced | null> {
  let later: Advanced | null = null;
  let moved = false;
  for (const call of calls) {
    if (context.stop.aborted) return { kind: "later", inMs: 0 };
    const outcome = await execute(context, progress, loaded, call);
    if (outcome === "moved") moved = true;
    else if (outcome.kind === "acked") return outcome;
    else later = outcome;
  }
  return moved ? null : later;
}

async function execute(
  context: Advancing,
  { book }: RunProgress,
  loaded: Loaded | null,
  call: CallFacts,
): Promise<"moved" | Advanced> {
  const { runId } = book.run;
  const registry = loaded
    ? { snapshotId: book.run.snapshotId, catalogFingerprint: loaded.fingerprint }
    : NOTHING_LOADED;
  const begun = await beginClaimed(
    context.db,
    context.system,
    runId,
    call.callRef,
    {
      requestId: call.authorisation?.requestId ?? "",
      action: call.action,
      args: call.args,
      output: call.target,
      worker: context.worker,
      // A worker does not ask twice: whatever it left unreported under this claim is not its to begin again.
      key: null,
      leaseMs: 30_000,
      ...registry,
    },
    { job: context.job.jobId, token: context.job.token },
  );
  context.failAt("after_claim");
  if (!begun.ok) return afterRefusal(begun.refusal.code);
  if (!begun.value.value.granted) return "moved";

  context.failAt("before_effect");
  const { attempt, effectKey } = begun.value.value;
  const report = await effectOf(context, loaded?.recording ?? null, call, { attempt, effectKey });
  context.failAt("after_effect");
  // Left unreported: the next claim ends this attempt, and the call's class says whether there is another.
  if (report === null) return { kind: "later", inMs: LOOK_AGAIN_MS };
  // Nobody plays the run's agent here: what comes next is a job of its own.
  const ackWhenIdle = loaded === null ? context.job : null;
  const told = await untilTold(() =>
    completeClaimed(context.db, context.system, runId, call.callRef, { attempt, ...report }, { ackWhenIdle }),
  );
  context.failAt("after_commit");
  return told.ok && told.value.value.acked ? ACKED : "moved";
}

const REPORT_TRIES = 8;
const REPORT_REST_MS = 250;

/**
 * What was done is not forgotten because a lock or the database was away for a moment: nobody else could tell it. The same report
 * again changes nothing, so an answer that was lost does no harm.
 */
async function untilTold<Told>(tell: () => Promise<Told>): Promise<Told> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tell();
    } catch (error) {
      if (!(error instanceof Busy) || tries === REPORT_TRIES) throw error;
      await sleep(REPORT_REST_MS * tries);
    }
  }
}

const NOTHING_LOADED = { snapshotId: null, catalogFingerprint: null };

/** What a worker meets at begin: time cures some, and everything else is somebody else's to move. Source: protocol §10. */
function afterRefusal(code: string): "moved" | Advanced {
  switch (code) {
    case "in_progress":
    case "run_awaiting":
    case "in_undo_window":
    case "batch_order":
    // Suspended since the look began: the next look says for how long.
    case "not_permitted":
      return { kind: "later", inMs: LOOK_AGAIN_MS };
    // The call is over, so the run goes on: a deny rule that came later closed it here, or it fell with a sibling.
    case "approval_rejected":
    case "call_cancelled":
      return "moved";
    default:
      return DONE;
  }
}
