import type { RefusalRule } from "./rule";

/** Refusals to begin, renew, complete or settle a call. Source: protocol §6. */
export const WHEN_EXECUTING = {
  approval_required: {
    status: 409,
    sees: ["executor"],
    title: "Nobody has approved this yet",
    advice: "Wait for a person by ?wait=, not by begin.",
  },
  approval_rejected: {
    status: 409,
    sees: ["executor"],
    title: "It was not approved",
    advice: "Do not run it. Tell the model, with cause and reason.",
  },
  call_cancelled: {
    status: 409,
    sees: ["executor"],
    title: "The call was cancelled",
    advice: "Do not run it. Tell the model, with the cause.",
  },
  approval_lapsed: {
    status: 409,
    sees: ["executor", "operators"],
    title: "The approval is no longer valid",
    advice: "An operator replaces the ticket.",
  },
  approver_revoked: {
    status: 409,
    sees: ["executor", "operators"],
    title: "The approver has lost the right since",
    advice: "An operator replaces the ticket.",
  },
  approval_request_mismatch: {
    status: 409,
    sees: ["executor"],
    title: "Another request was approved",
    advice: "Use current_request_id.",
  },
  output_mismatch: {
    status: 409,
    sees: ["executor"],
    title: "Another target was approved",
    advice: "Use the approved target.",
  },
  output_outside_roots: {
    status: 409,
    sees: ["executor"],
    title: "The target is under no write root, or its folder is not there",
    advice: "Take a target in a folder that exists under one of the write roots (HOLDPOINT_WRITE_ROOTS).",
  },
  output_conflict: {
    status: 409,
    sees: ["executor"],
    title: "The target exists with other content",
    advice: "Look at the file; it was not touched.",
  },
  in_progress: {
    status: 409,
    sees: ["executor"],
    title: "An attempt is running",
    advice: "Wait until lease_until.",
    retryAfter: true,
  },
  in_undo_window: {
    status: 409,
    sees: ["executor"],
    title: "The decision can still be undone",
    advice: "Begin after effective_at.",
    retryAfter: true,
  },
  indeterminate: {
    status: 409,
    sees: ["executor", "operators"],
    title: "Nobody knows whether it happened",
    advice: "If you know what the attempt did, report it by complete. Otherwise an operator looks and settles it.",
  },
  settlement_contradicted: {
    status: 409,
    sees: ["executor", "operators"],
    title: "The report contradicts the settlement",
    advice: "An operator compares the two; both are kept.",
  },
  not_indeterminate: {
    status: 409,
    sees: ["operators"],
    title: "There is nothing to settle",
    advice: "Read the call: its outcome is known, or can still be reported.",
  },
  stale_attempt: {
    status: 409,
    sees: ["executor"],
    title: "Not the latest attempt",
    advice: "Stop. What you reported is kept.",
  },
  result_conflict: {
    status: 409,
    sees: ["executor"],
    title: "The call has another result already",
    advice: "The first result stands; yours is kept beside it.",
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
