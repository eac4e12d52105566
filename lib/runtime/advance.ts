import type { Db } from "@/db/client";
import { type FrozenAgent, type RunProgress, readProgress } from "@/db/queries/run-progress";
import { beginClaimed, completeCall } from "@/db/store/execute";
import type { ClaimedJob } from "@/db/store/mailbox/claim";
import { catalogOf } from "@/db/store/snapshots";
import { readDefinition } from "@/lib/protocol/agent-definition";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { isTerminal } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { type CanonicalJson, canonicalJson, hashJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import type { Result } from "@/lib/result";
import { takeTurn } from "./agent-loop";
import { type Tended, tendChildren } from "./delegation";
import type { FailAt } from "./failpoint";
import type { Effect, Reach } from "./gateway/effect";
import { perform } from "./gateway/gateway";
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

/** What became of a look at a run: nothing more to do now, or look again later. */
export type Advanced = { readonly kind: "done" } | { readonly kind: "later"; readonly inMs: number };

const DONE: Advanced = { kind: "done" };
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
    const approved = progress.book.calls().filter((call) => call.status === "approved" || call.status === "executing");
    if (approved.length > 0) {
      const later = await executeAll(context, progress, loaded, approved);
      if (later) return later;
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
      key: context.job.jobId,
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
  await completeCall(context.db, context.system, runId, call.callRef, { attempt, ...report }, "worker");
  context.failAt("after_commit");
  return "moved";
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

interface EffectReport {
  readonly output: CanonicalJson | null;
  readonly error: CanonicalJson | null;
  readonly recovered: boolean;
}

/** Null: nobody knows how the effect ended. */
async function effectOf(
  context: Advancing,
  recording: Recording | null,
  call: CallFacts,
  { attempt, effectKey }: { readonly attempt: number; readonly effectKey: string },
): Promise<EffectReport | null> {
  const effect = recording ? null : await perform({ ...call, effectKey }, context.reach, context.stop);
  if (effect) return reportOf(effect, call, attempt);
  const step = recording?.steps[call.step - 1];
  const recorded = step?.kind === "calls" ? step.calls[call.batchIndex] : undefined;
  if (!recorded) return failure("unknown_action", `no action ${call.action} is registered here`);
  if (recorded.error !== null)
    return { output: null, error: canonicalJson({ message: recorded.error }), recovered: false };
  return { output: canonicalJson(recorded.result), error: null, recovered: false };
}

/** How often a request is sent under one effect key before its outcome is reported as unknown. */
const MOST_ATTEMPTS = 5;

function reportOf(effect: Effect, call: CallFacts, attempt: number): EffectReport | null {
  switch (effect.kind) {
    case "executed":
    case "recovered":
      return {
        output: canonicalJson({ written: call.target, content_hash: effect.contentHash }),
        error: null,
        recovered: effect.kind === "recovered",
      };
    case "output_conflict":
      return failure(effect.kind, `the target holds something else (${effect.existingHash})`);
    case "output_outside_roots":
      return failure(effect.kind, "the target is beneath no write root");
    case "invalid_args":
      return failure(effect.kind, effect.detail);
    case "answered":
      return { output: canonicalJson(effect.output), error: null, recovered: false };
    case "failed":
      // Its worker was stopped, or lost its claim: no failure of the act. Where it may be repeated, the next claim begins it anew.
      if (effect.code === "stopped" && call.effectiveClass !== "none") return null;
      return failure(effect.code, effect.detail, effect.facts);
    case "unknown":
      return effect.again === "same_key" && attempt >= MOST_ATTEMPTS
        ? failure(
            "outcome_unknown",
            `${effect.detail}; it was sent ${attempt} times under one key and may have happened`,
          )
        : null;
  }
}

function failure(code: string, message: string, facts: JsonObject = {}): EffectReport {
  return { output: null, error: canonicalJson({ ...facts, code, message }), recovered: false };
}
