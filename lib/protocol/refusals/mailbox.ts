import type { RefusalRule } from "./rule";

/** Refusals to a mailbox worker. Source: protocol §10. */
export const OF_THE_MAILBOX = {
  duplicate_job: {
    status: 409,
    sees: ["worker"],
    title: "A live job has this dedupe key",
    advice: "The live job stands.",
  },
  stale_claim: {
    status: 409,
    sees: ["worker"],
    title: "The job is no longer yours",
    advice: "Stop. Another claim holds it, or it was superseded.",
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
