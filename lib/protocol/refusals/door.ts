import type { RefusalRule } from "./rule";

/** Refusals before anything about a run is judged: who calls, how often, what exists. */
export const AT_THE_DOOR = {
  idempotency_key_missing: {
    status: 400,
    sees: ["all"],
    title: "The Idempotency-Key header is missing or not usable",
    advice: "Send 1 to 255 visible ASCII characters; keep them when you send the same request again.",
  },
  unauthenticated: {
    status: 401,
    sees: ["anyone"],
    title: "No valid key",
    advice: "Send `Authorization: Bearer` with a key that works. Revoking one also ends its waits and streams.",
  },
  not_permitted: {
    status: 403,
    sees: ["all"],
    title: "This caller may not do that",
    advice: "Let a caller with the right do it: people decide, operators operate, an agent moves its own runs.",
  },
  wrong_executor: {
    status: 403,
    sees: ["all"],
    title: "Another executor performs this run's effects",
    advice: "Only the executor fixed when the run was opened may begin and complete its calls.",
  },
  self_approval: {
    status: 403,
    sees: ["decider"],
    title: "You asked for this yourself",
    advice: "Another person decides.",
  },
  unknown_run: { status: 404, sees: ["all"], title: "No such run", advice: "Check the run id." },
  unknown_call: {
    status: 404,
    sees: ["all"],
    title: "No such call",
    advice: "Use a call_ref that propose or ask answered.",
  },
  ticket_not_found: { status: 404, sees: ["all"], title: "No such ticket", advice: "Check the ticket id." },
  unknown_job: { status: 404, sees: ["all"], title: "No such job", advice: "Check the job id." },
  too_large: { status: 413, sees: ["all"], title: "Too large", advice: "Send a smaller body or a smaller batch." },
  slow_down: {
    status: 429,
    sees: ["all"],
    title: "Too many refusals",
    advice: "Wait; use ?wait= instead of asking again and again.",
    retryAfter: true,
  },
  busy: {
    status: 503,
    sees: ["all"],
    title: "The run is busy",
    advice: "Nothing was done. Send it again.",
    retryAfter: true,
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
