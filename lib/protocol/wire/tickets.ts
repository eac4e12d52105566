import { z } from "zod";
import { AWAIT_KINDS } from "../await-target";
import type { JsonValue } from "../canonical-json";
import { CLOSED_BY_KINDS, TICKET_STATUSES } from "../ticket";
import { durationMs, epochMs, instant, json, risk, sha256, textOf, words } from "./parts";

export const VERDICT_WORDS = ["allow", "deny", "answer", "continue"] as const;
export type VerdictWord = (typeof VERDICT_WORDS)[number];

/** Exactly one of the four words: no other case, no number, no `true`. Anything else is never read as consent. */
const verdict = z
  .custom<VerdictWord>((word) => VERDICT_WORDS.some((known) => known === word), {
    error: "say allow, deny, answer or continue",
    params: { code: "invalid_verdict" },
  })
  .meta({ enum: [...VERDICT_WORDS] });

const decisionFields = {
  /** The click's own id: sent again it gets the first answer. */
  decision_id: textOf(1, 128),
  proposal_hash: sha256,
  view_digest: sha256,
};

/** POST /tickets/{ticket_id}/decision. */
export const decisionBody = z.strictObject({
  ...decisionFields,
  decision: verdict,
  answer: json.optional(),
  note: words.optional(),
  reason: words.optional(),
  payload: json.optional(),
});
export type DecisionBody = z.output<typeof decisionBody>;

/** The result is decoded by `decodeResumeResult`, which knows each kind's fields and refuses an odd verdict. */
const result = z.custom<JsonValue>((value) => value !== undefined, {
  error: "the answer is missing",
  params: { code: "invalid_verdict" },
});

/** POST /runs/{run_id}/resume: a whole ResumeCommand. `now_ms` is read and ignored: only the server's clock counts. */
export const resumeBody = z.strictObject({
  correlation_id: textOf(1, 512),
  run_id: textOf(1, 128),
  thread_id: textOf(1, 256),
  snapshot_id: textOf(1, 128).optional(),
  catalog_fingerprint: textOf(1, 128).optional(),
  delegation_origin: json.optional(),
  now_ms: epochMs.optional(),
  result,
  decision_id: decisionFields.decision_id.optional(),
  proposal_hash: sha256.optional(),
  view_digest: sha256.optional(),
});
export type ResumeBody = z.output<typeof resumeBody>;

export const replaceBody = z.strictObject({ reason: words, deadline_in_ms: durationMs.optional() });
export type ReplaceBody = z.output<typeof replaceBody>;

export const cancelTicketBody = z.strictObject({ reason: words });
export type CancelTicketBody = z.output<typeof cancelTicketBody>;

export const closedBy = z.strictObject({
  kind: z.enum(CLOSED_BY_KINDS),
  actor: z.string().optional(),
  verdict: z.string().optional(),
  at: instant,
  successor_ticket_id: z.string().optional(),
});

export const ticketViewAnswer = z.strictObject({
  v: z.literal(1),
  kind: z.literal("ticket_view"),
  workspace_id: z.string(),
  ticket_id: z.string(),
  revision: z.int(),
  correlation_id: z.string(),
  agent: z.string(),
  run_id: z.string(),
  call_ref: z.string().nullable(),
  proposal: z.strictObject({ action: z.string(), args: json, output: json }),
  proposal_hash: sha256,
  sealed: z.array(z.string()),
  rule: z.strictObject({ id: z.string(), version: z.int() }).nullable(),
  deadline_ms: epochMs.nullable(),
  risk,
  catalog_fingerprint: z.string(),
});

/** A committed ticket. `correlation_id` and `request_id` are equal; the second is the command line's word. */
export const ticketAnswer = z.strictObject({
  ticket_id: z.string(),
  correlation_id: z.string(),
  request_id: z.string(),
  run_id: z.string(),
  thread_id: z.string(),
  snapshot_id: z.string(),
  catalog_fingerprint: z.string(),
  delegation_origin: json.optional(),
  target: z.object({ kind: z.enum(AWAIT_KINDS), reason: z.string() }).loose(),
  status: z.enum(TICKET_STATUSES),
  opened_at: instant,
  deadline_ms: epochMs.nullable(),
  expired_at: instant.nullable(),
  prompt: z.string().nullable(),
  schema: json,
  options: json,
  proposal_hash: sha256.nullable(),
  closed_by: closedBy.nullable(),
  successor_ticket_id: z.string().nullable(),
});
export type TicketAnswer = z.output<typeof ticketAnswer>;

export const ticketWithViewAnswer = z.strictObject({
  ...ticketAnswer.shape,
  view: ticketViewAnswer,
  view_digest: sha256,
});

export const ticketPageAnswer = z.strictObject({ items: z.array(ticketAnswer), next_cursor: z.string().nullable() });

/** One decision as a run's readers see it: `by` is a display name. */
export const decisionAnswer = z.strictObject({
  call_ref: z.string().nullable(),
  request_id: z.string(),
  kind: z.string(),
  decision: z.string().optional(),
  answer: json.optional(),
  payload: json.optional(),
  note: z.string().optional(),
  reason: z.string().optional(),
  at: instant,
  by: z.string(),
});
export type DecisionAnswer = z.output<typeof decisionAnswer>;

/** Either the vote settled the ticket, or a quorum is still open. */
export const decidedAnswer = z.union([
  z.strictObject({ decision: decisionAnswer, trace_seq: z.int(), superseded_by: z.string().optional() }),
  z.strictObject({ recorded: z.literal(true), votes: z.int(), needed: z.int() }),
]);
export type DecidedAnswer = z.output<typeof decidedAnswer>;

/** A decision where a person answers; the ticket as it stands where the run's own agent does. */
export const resumeAnswer = z.union([decidedAnswer, ticketAnswer]);
