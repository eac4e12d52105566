import type { RefusalRule } from "./rule";

/** Refusals of a verdict or an answer. Source: protocol §4 and §6 "Decide". */
export const WHEN_DECIDING = {
  expired: {
    status: 410,
    sees: ["decider", "executor"],
    title: "The deadline has passed",
    advice: "While it is held open an operator replaces or cancels it. The late verdict is kept.",
  },
  not_awaiting: {
    status: 409,
    sees: ["decider", "executor", "operators"],
    title: "Nothing waits here any more",
    advice: "Read closed_by: how, by whom and when it was closed.",
  },
  stale_view: {
    status: 409,
    sees: ["decider"],
    title: "What you saw has changed",
    advice: "Read the changed view, then decide again.",
  },
  too_fast: {
    status: 409,
    sees: ["decider"],
    title: "Decided before it could be read",
    advice: "Look at it, then decide again.",
    retryAfter: true,
  },
  proposal_hash_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "This is not the proposal on record",
    advice: "To decide: reload. To run: this is not the call that was approved; an operator can replace it.",
  },
  correlation_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "An answer to another wait",
    advice: "Build the command from the ticket.",
  },
  run_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "An answer for another run",
    advice: "Build the command from the ticket.",
  },
  thread_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "An answer for another thread",
    advice: "Build the command from the ticket.",
  },
  result_kind_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "Not the kind of answer it waits for",
    advice: "Build the command from the ticket: its target says what answers it.",
  },
  tool_call_mismatch: {
    status: 409,
    sees: ["decider", "executor"],
    title: "A result of another call",
    advice: "Build the command from the ticket: name its call.",
  },
  snapshot_mismatch: {
    status: 409,
    sees: ["executor"],
    title: "Another build of the agent",
    advice: "Run the approved build, or have the ticket replaced.",
  },
  fingerprint_mismatch: {
    status: 409,
    sees: ["executor"],
    title: "Another tool catalogue",
    advice: "Run with the approved catalogue, or have the ticket replaced.",
  },
  already_voted: { status: 409, sees: ["decider"], title: "You have voted already", advice: "The first vote counts." },
  too_late: { status: 409, sees: ["decider"], title: "Too late to undo", advice: "Replace or cancel instead." },
} as const satisfies Readonly<Record<string, RefusalRule>>;
