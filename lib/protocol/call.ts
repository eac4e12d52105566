/** `s{step}.{batch_index}`, with `e{n}` behind it for the n-th edit: a call's identity is its place. Source: protocol §1. */
export type CallRef = string & { readonly __brand: "CallRef" };

export function callRef(step: number, batchIndex: number, edit = 0): CallRef {
  return `s${step}.${batchIndex}${edit > 0 ? `e${edit}` : ""}` as CallRef;
}

export const CALL_REF_PATTERN = /^s[1-9][0-9]*\.[0-9]+(e[1-9][0-9]*)?$/;

export const CALL_STATUSES = [
  "requested",
  "queued",
  "awaiting",
  "approved",
  "executing",
  "indeterminate",
  "completed",
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

export const CALL_OUTCOMES = ["succeeded", "failed", "blocked", "cancelled"] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Why a call has its outcome. Source: protocol §5 "Call", §6 "Settle", §8. */
export const OUTCOME_CAUSES = [
  "executed",
  "answered",
  "payload",
  "person",
  "expiry",
  "rule",
  "blocked_by_rule",
  "repeat_of_denied",
  "ticket_cancelled",
  "withdrawn",
  "replaced_by",
  "rebound",
  "sibling_denied",
  "not_picked_up",
  "run_ended",
  "reported_failure",
  "settled",
  "effect_did_not_happen",
] as const;
export type OutcomeCause = (typeof OUTCOME_CAUSES)[number];

/**
 * The edges of §5. `completed` has none, so it absorbs.
 * `approved` covers both a call never begun and one whose attempt lapsed unreported.
 */
export const CALL_TRANSITIONS: Readonly<Record<CallStatus, readonly CallStatus[]>> = {
  requested: ["approved", "completed", "awaiting", "queued"],
  queued: ["approved", "awaiting", "completed"],
  awaiting: ["approved", "completed"],
  approved: ["awaiting", "executing", "completed", "indeterminate"],
  executing: ["completed", "approved", "indeterminate"],
  indeterminate: ["completed"],
  completed: [],
};

export function mayCallMove(from: CallStatus, to: CallStatus): boolean {
  return CALL_TRANSITIONS[from].includes(to);
}

/** What a second attempt may do. Source: protocol §6 "Effects". */
export const IDEMPOTENCY_CLASSES = ["create_new", "idempotency_key", "read_only", "none"] as const;
export type IdempotencyClass = (typeof IDEMPOTENCY_CLASSES)[number];

export function isSafeToRepeat(effectClass: IdempotencyClass): boolean {
  return effectClass !== "none";
}

export const BATCH_MODES = ["parallel", "sequential", "parallel_streaming"] as const;
export type BatchMode = (typeof BATCH_MODES)[number];

export const COUPLINGS = ["independent", "all_or_nothing"] as const;
export type Coupling = (typeof COUPLINGS)[number];

export const ON_EXPIRY = ["hold", "deny", "cancel", "end_run"] as const;
export type OnExpiry = (typeof ON_EXPIRY)[number];

export const ON_DENY = ["continue", "stop_run"] as const;
export type OnDeny = (typeof ON_DENY)[number];

export const RESUME_MODES = ["replay_tool_call", "use_decision_as_tool_result", "pass_decision_to_tool"] as const;
export type ResumeMode = (typeof RESUME_MODES)[number];

export const RISKS = ["low", "medium", "high"] as const;
export type Risk = (typeof RISKS)[number];

/** What propose answered for one call. */
export const CALL_VERDICTS = ["allowed", "blocked", "awaiting", "queued"] as const;
export type CallVerdict = (typeof CALL_VERDICTS)[number];
