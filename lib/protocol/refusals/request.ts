import type { RefusalRule } from "./rule";

/** Refusals of what was sent; the caller repairs it, at the path given where there is one. */
export const OF_THE_REQUEST = {
  duplicate_key: {
    status: 422,
    sees: ["all"],
    title: "A key stands twice in one object",
    advice: "Repair the JSON at the path given.",
  },
  number_not_representable: {
    status: 422,
    sees: ["all"],
    title: "A number that no double can hold",
    advice: "Send it as text, or as an integer without point and exponent.",
  },
  invalid_unicode: {
    status: 422,
    sees: ["all"],
    title: "Not Unicode text",
    advice: "Repair the text at the path given.",
  },
  too_deep: { status: 422, sees: ["all"], title: "Nested too deeply", advice: "Flatten the value at the path given." },
  too_many_keys: { status: 422, sees: ["all"], title: "Too many keys", advice: "Send fewer keys." },
  invalid_output: {
    status: 422,
    sees: ["all"],
    title: "Not a target for this action",
    advice: "Give an absolute path for a file or a folder, a whole http or https URL for a request.",
  },
  unknown_field: {
    status: 422,
    sees: ["all"],
    title: "A field that does not exist",
    advice: "Take away the field at the path given.",
  },
  invalid_body: {
    status: 422,
    sees: ["all"],
    title: "Not a valid request",
    advice: "Repair the request at the path given.",
  },
  deadline_in_past: {
    status: 422,
    sees: ["all"],
    title: "The deadline has passed already",
    advice: "Give a later deadline, by the server's clock.",
  },
  invalid_verdict: {
    status: 422,
    sees: ["all"],
    title: "Not a verdict",
    advice: "Say allow, deny, answer or continue; anything else is never read as consent.",
  },
  decision_id_reused: {
    status: 422,
    sees: ["all"],
    title: "This decision id was used for something else",
    advice: "Take a new id for a new intention.",
  },
  idempotency_key_reused: {
    status: 422,
    sees: ["all"],
    title: "This Idempotency-Key was used for another body",
    advice: "Take a new key for a new intention.",
  },
  idempotency_in_progress: {
    status: 409,
    sees: ["all"],
    title: "The first request with this key is still running",
    advice: "Send it again later with the same key.",
    retryAfter: true,
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
