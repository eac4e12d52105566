import { z } from "zod";
import { BATCH_MODES, COUPLINGS } from "../call";
import { RUN_CAUSES, RUN_STATES } from "../run";
import { agentName } from "./agents";
import { callAnswer } from "./calls";
import { instant, json, plainText, runId, sha256, step, textOf, words } from "./parts";
import { decisionAnswer, ticketAnswer } from "./tickets";

/** POST /runs. Without ids the server makes the run's, and a thread of the same id. */
export const openRunBody = z.strictObject({
  run_id: runId.optional(),
  agent: agentName,
  snapshot_id: textOf(1, 128).optional(),
  thread_id: textOf(1, 256).optional(),
  session_id: textOf(1, 256).optional(),
  input: plainText.optional(),
  executor: z.enum(["client", "worker"]).optional(),
  on_behalf_of: textOf(1, 320).optional(),
  parent: z.strictObject({ run_id: runId, call: textOf(1, 256) }).optional(),
});
export type OpenRunBody = z.output<typeof openRunBody>;

export const finishBody = z.strictObject({
  status: z.enum(["completed", "failed", "stopped"]),
  output: json.optional(),
});
export type FinishBody = z.output<typeof finishBody>;

export const cancelRunBody = z.strictObject({ reason: words });
export type CancelRunBody = z.output<typeof cancelRunBody>;

/** POST …/messages: what a user says next. The same id again is the same message. */
export const talkBody = z.strictObject({ id: textOf(1, 200), text: words });
export type TalkBody = z.output<typeof talkBody>;

export const talkAnswer = z.strictObject({ run_id: z.string(), thread_id: z.string(), added: z.boolean() });

export const pauseBody = z.strictObject({ reason: words });
export type PauseBody = z.output<typeof pauseBody>;

export const resumeFailedBody = z.strictObject({ error: words });
export type ResumeFailedBody = z.output<typeof resumeFailedBody>;

export const runAnswer = z.strictObject({
  run_id: z.string(),
  agent: z.string(),
  snapshot_id: z.string(),
  catalog_fingerprint: z.string(),
  thread_id: z.string(),
  executor: z.enum(["client", "worker", "cli"]),
  state: z.enum(RUN_STATES),
  cause: z.enum(RUN_CAUSES).nullable(),
  cause_code: z.string().nullable(),
  resume_failed: json.nullable(),
  output: json.optional(),
  /** The last event's, for `?since=`. */
  seq: z.int(),
  opened_at: instant,
});
export type RunAnswer = z.output<typeof runAnswer>;

export const batchAnswer = z.strictObject({
  step,
  mode: z.enum(BATCH_MODES),
  coupling: z.enum(COUPLINGS),
  calls: z.array(callAnswer),
});

/** GET /runs/{run_id}: everything that an agent needs to go on. */
export const runStateAnswer = z.strictObject({
  ...runAnswer.shape,
  batches: z.array(batchAnswer),
  tickets: z.array(ticketAnswer),
  decisions: z.array(decisionAnswer),
});
export type RunStateAnswer = z.output<typeof runStateAnswer>;

/** Where the agent keeps its state; uploaded bytes are answered as bytes. */
export const boundStateAnswer = z.strictObject({
  sha256,
  format: z.string().nullable(),
  version: z.string().nullable(),
  ref: z.string().nullable(),
});
