import type { Db } from "@/db/client";
import { inWorkspace } from "@/db/client";
import { readMessagesSeen } from "@/db/queries/run-progress";
import { askPerson } from "@/db/store/ask";
import { enqueueStart } from "@/db/store/mailbox/enqueue";
import type { Message } from "@/db/store/messages";
import { openRun } from "@/db/store/open-run";
import { finishRun } from "@/db/store/operate";
import { type CallRequest, PLAIN_CALL, proposeStep } from "@/db/store/propose";
import type { Refused } from "@/db/store/refuse";
import { allowList, setPolicy } from "@/db/store/set-policy";
import { publishSnapshot, type SnapshotContent } from "@/db/store/snapshots";
import { bindState, putState } from "@/db/store/states";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { RECORDED } from "@/lib/protocol/gateway-actions";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import { ok, type Result, refuse } from "@/lib/result";
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedStep,
  type Recording,
  recordingText,
  toolsOf,
} from "./recording";
import { resultText } from "./thread";

export interface StartOptions {
  readonly agent: string;
  readonly runId: string | null;
  /** Tools that pass without asking. */
  readonly allowed: readonly string[];
  readonly isDemo: boolean;
}

/** What a recorded agent is made of: its tools are those that the recording names. */
export function snapshotOf(recording: Recording): SnapshotContent {
  return { provider: RECORDED, model: recording.model, mcpServers: null, tools: toolsOf(recording), build: null };
}

/**
 * Open a run that replays a recording. The script is saved as the run's state and a job asks a worker to look at it, so the run
 * goes on by itself whatever happens to the process that started it.
 */
export async function startRecording(
  db: Db,
  agent: Caller,
  cli: Caller,
  recording: Recording,
  options: StartOptions,
): Promise<Result<string, Refused>> {
  const snapshot = await publishSnapshot(db, agent, options.agent, snapshotOf(recording));
  if (!snapshot.ok) return snapshot;
  const policy = await setPolicy(db, cli, options.agent, { default: "ask", rules: allowList(options.allowed) });
  if (!policy.ok) return policy;
  const bytes = Buffer.from(recordingText(recording), "utf8");
  const sha256 = sha256Hex(bytes);
  return inWorkspace(db, agent.workspace, async (tx) => {
    const opened = await openRun(tx, agent, {
      runId: options.runId,
      agent: options.agent,
      snapshotId: snapshot.value.snapshotId,
      threadId: null,
      input: null,
      executor: "worker",
      onBehalfOf: null,
      parent: null,
      isDemo: options.isDemo,
    });
    if (!opened.ok) return opened;
    const { id, runId, threadId } = opened.value;
    const kept = await putState(tx, agent, runId, sha256, bytes);
    if (!kept.ok) return refuse(kept.refusal);
    await bindState(tx, id, { sha256, format: RECORDING_FORMAT, version: RECORDING_VERSION, ref: null });
    const [owner] = await tx.sql<
      { agentId: string }[]
    >`select agent_id from runs where workspace_id = ${tx.workspace} and id = ${id}`;
    if (!owner) throw new Error(`run ${runId} is not there after it was opened`);
    await enqueueStart(tx, { id, runId, agentId: owner.agentId, threadId });
    return ok(runId);
  });
}

/** What the agent does next, after every call of its last step has an outcome: propose its next recorded step, or finish. */
export async function takeNextStep(
  db: Db,
  agent: Caller,
  runId: string,
  threadId: string,
  recording: Recording,
  highest: number,
  lastCalls: readonly CallFacts[],
): Promise<Result<"proposed" | "finished", Refused>> {
  const step = recording.steps[highest];
  const results = lastCalls.map(resultMessage);
  if (!step) {
    const finished = await finishRun(db, agent, runId, "completed", undefined);
    return finished.ok ? ok("finished") : refuse(finished.refusal);
  }
  const seen = await readMessagesSeen(db, agent.workspace, threadId);
  const said =
    step.message !== null && step.message !== seen.lastUserText ? [userMessage(highest + 1, step.message)] : [];
  const messages = [...results, ...said];
  const proposed =
    step.kind === "question"
      ? await askPerson(db, agent, runId, questionOf(highest + 1, step, messages))
      : await proposeStep(
          db,
          agent,
          runId,
          {
            step: highest + 1,
            mode: "parallel",
            coupling: "independent",
            state: null,
            messages,
            calls: step.calls.map(callRequest),
          },
          // A recorded tool returns what was recorded and touches nothing.
          "read_only",
        );
  return proposed.ok ? ok("proposed") : refuse(proposed.refusal);
}

function userMessage(step: number, text: string): Message {
  return { id: `user:${step}`, role: "user", text };
}

function resultMessage(call: CallFacts): Message {
  return { id: `result:${call.callRef}`, role: "tool", text: resultText(call) };
}

function questionOf(step: number, question: Extract<RecordedStep, { kind: "question" }>, messages: readonly Message[]) {
  return {
    callId: `ask-${step}`,
    question: question.question,
    schema: question.schema,
    options: null,
    deadlineMs: null,
    deadlineInMs: null,
    onExpiry: "hold",
    state: null,
    messages,
  } as const;
}

function callRequest(call: Extract<RecordedStep, { kind: "calls" }>["calls"][number]): CallRequest {
  return {
    ...PLAIN_CALL,
    callId: call.callId,
    action: call.tool,
    args: call.args,
    output: call.output,
    why: call.why,
    risk: call.risk,
  };
}
