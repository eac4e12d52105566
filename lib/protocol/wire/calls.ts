import { z } from "zod";
import { BATCH_MODES, CALL_OUTCOMES, CALL_STATUSES, CALL_VERDICTS, COUPLINGS, OUTCOME_CAUSES } from "../call";
import {
  actionName,
  callId,
  deadline,
  durationMs,
  effectClass,
  instant,
  json,
  leaseMs,
  MAX_CALLS,
  messages,
  ONE_DEADLINE,
  ONE_STATE,
  onDeny,
  onExpiry,
  oneDeadline,
  oneState,
  proposedStep,
  resumeMode,
  risk,
  savedState,
  sha256,
  step,
  textOf,
  words,
  workerId,
} from "./parts";
import { ticketAnswer } from "./tickets";

const says = <Schema extends z.ZodType>(schema: Schema, description: string) => schema.optional().meta({ description });

/** What an agent claims about a call. The policy stands above it: a claim can only add caution. */
const claims = {
  idempotency: says(
    effectClass,
    "What a second attempt would do. Where it is `none`, a person settles an attempt that nobody reported.",
  ),
  mcp_server: says(textOf(1, 256), "The server that the tool comes from; shown to the approver."),
  why: says(words, "The agent's own words; shown to the approver as its claim."),
  risk: says(risk, "High risk is armed before it is confirmed."),
  on_expiry: says(onExpiry, "What becomes of the call when its deadline passes; never an allow. Unsaid: it is held."),
  on_deny: says(onDeny, "Whether the run goes on after a deny."),
  allow_valid_ms: says(durationMs, "How long after the decision the call may begin."),
  resume_mode: says(
    resumeMode,
    "What an allow does: run the call as it is, or take the approver's answer as its result or its arguments.",
  ),
  rebind: says(z.enum(["same_args"]), "Take over an unused allow of the same run, tool and arguments."),
};

export const proposedCall = z
  .strictObject({
    call_id: callId.optional(),
    action: actionName,
    args: json,
    output: says(
      json,
      "Where the effect goes: a path, an address, a record's id. Approved with the action and its arguments.",
    ),
    target: says(
      z.enum(["permission", "client_execution"]),
      "What the call waits for: a person's consent, or the agent that runs it itself.",
    ),
    ...claims,
    prompt: says(words, "Asked beside the proposal."),
    schema: says(json, "JSON Schema of the answer, where the resume mode takes one."),
    options: says(json, "Answers to choose from."),
    ...deadline,
  })
  .refine(oneDeadline, ONE_DEADLINE);

const calls = z
  .array(proposedCall)
  .min(1)
  .superRefine((batch, context) => {
    if (batch.length <= MAX_CALLS) return;
    context.addIssue({ code: "custom", message: `more than ${MAX_CALLS} calls`, params: { code: "too_large" } });
  });

/** POST /runs/{run_id}/calls: what one step of the model wants to do, in the order in which it said so. */
export const proposeBody = z
  .strictObject({
    step: proposedStep,
    mode: z.enum(BATCH_MODES).optional(),
    coupling: z.enum(COUPLINGS).optional(),
    ...savedState,
    messages,
    calls,
  })
  .refine(oneState, ONE_STATE);
export type ProposeBody = z.output<typeof proposeBody>;

/** POST …/ask: a question that a person answers. */
export const askBody = z
  .strictObject({
    call_id: callId,
    question: words,
    schema: json.optional(),
    options: json.optional(),
    ...deadline,
    on_expiry: onExpiry.optional(),
    ...savedState,
    messages,
  })
  .refine(oneDeadline, ONE_DEADLINE)
  .refine(oneState, ONE_STATE);
export type AskBody = z.output<typeof askBody>;

/** POST …/waits: an event that the run's own agent will bring. */
export const waitBody = z
  .strictObject({ call_id: callId, event: textOf(1, 256), schema: json.optional(), ...deadline })
  .refine(oneDeadline, ONE_DEADLINE);
export type WaitBody = z.output<typeof waitBody>;

/** POST …/begin: the act as its executor is going to do it, and the build that will. */
export const beginBody = z.strictObject({
  request_id: textOf(1, 512),
  action: actionName,
  args: json,
  output: json.meta({ description: "The target as it was proposed; `null` where none was." }),
  worker: workerId.optional(),
  lease_ms: leaseMs.optional(),
  snapshot_id: textOf(1, 128).optional(),
  catalog_fingerprint: textOf(1, 128).optional(),
});
export type BeginBody = z.output<typeof beginBody>;

const attempt = z.int().min(1);

export const renewBody = z.strictObject({ attempt, lease_ms: leaseMs.optional() });
export type RenewBody = z.output<typeof renewBody>;

/** POST …/complete: a report of fact, with exactly one of output and error. */
export const completeBody = z
  .strictObject({ attempt, output: json.optional(), error: json.optional() })
  .refine((body) => (body.output === undefined) !== (body.error === undefined), {
    error: "exactly one of output and error",
  });
export type CompleteBody = z.output<typeof completeBody>;

export const withdrawBody = z.strictObject({ reason: words });
export type WithdrawBody = z.output<typeof withdrawBody>;

/** POST …/settle: what a person found out about an effect whose outcome nobody reported. */
export const settleBody = z.strictObject({
  verdict: z
    .custom<"happened" | "did_not_happen">((word) => word === "happened" || word === "did_not_happen", {
      error: "happened or did_not_happen",
      params: { code: "invalid_verdict" },
    })
    .meta({ enum: ["happened", "did_not_happen"] }),
  output: json.optional(),
  evidence: words,
});
export type SettleBody = z.output<typeof settleBody>;

/** One call as everyone with a right to its run may read it. */
export const callAnswer = z.strictObject({
  call_ref: z.string(),
  call_id: z.string().nullable(),
  action: z.string(),
  state: z.enum(CALL_STATUSES),
  outcome: z.enum(CALL_OUTCOMES).optional(),
  cause: z.enum(OUTCOME_CAUSES).optional(),
  request_id: z.string().optional(),
  proposal_hash: sha256,
  attempt: z.int().min(0),
  output: json.optional(),
  error: json.optional(),
  late: z.boolean().optional(),
});
export type CallAnswer = z.output<typeof callAnswer>;

/** What propose answered for one call, or what stands on record for it now. */
export const proposedAnswer = z.strictObject({
  call_ref: z.string(),
  call_id: z.string().nullable(),
  proposal_hash: sha256,
  verdict: z.enum(CALL_VERDICTS),
  reason: z.string().optional(),
  rule: z.strictObject({ id: z.string(), version: z.int() }).optional(),
  request_id: z.string().optional(),
  /** The newest one of the call, open or not. */
  ticket: ticketAnswer.optional(),
});
export const proposeAnswer = z.strictObject({ run_id: z.string(), step, calls: z.array(proposedAnswer) });
export type ProposeAnswer = z.output<typeof proposeAnswer>;

/** What ask and wait answer: the call, its ticket, and the answer once there is one. */
export const askAnswer = z.strictObject({
  run_id: z.string(),
  step,
  ...proposedAnswer.shape,
  state: z.enum(CALL_STATUSES),
  outcome: z.enum(CALL_OUTCOMES).optional(),
  answer: json.optional(),
});

/** Either the one grant to execute, or the result of the time it was executed: then there is no `attempt`. */
export const beginAnswer = z.union([
  z.strictObject({
    attempt,
    idempotency_key: sha256,
    lease_until: instant,
    note: z.string().optional(),
  }),
  z.strictObject({ result: z.literal("already_completed"), output: json.optional(), error: json.optional() }),
]);
export type BeginAnswer = z.output<typeof beginAnswer>;

export const renewAnswer = z.strictObject({ lease_until: instant });
