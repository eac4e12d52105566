import type { RefusalRule } from "./rule";

/** Refusals by a call's place among others. Source: protocol §5 "Batch" and "Steps". */
export const OF_THE_BATCH = {
  batch_conflict: {
    status: 409,
    sees: ["executor"],
    title: "This step is recorded with other content",
    advice: "The recorded step stands. Withdraw what is open, then propose the next step.",
  },
  batch_open: {
    status: 409,
    sees: ["executor"],
    title: "An earlier call is not finished",
    advice: "Finish, withdraw or wait for the earlier calls.",
  },
  batch_order: {
    status: 409,
    sees: ["executor"],
    title: "Not this call's turn",
    advice: "In a sequential batch the calls before it come first.",
  },
  call_unfinished: {
    status: 409,
    sees: ["executor"],
    title: "A begun call has no outcome yet",
    advice: "Complete it, or have it settled.",
  },
  ambiguous_call: {
    status: 409,
    sees: ["executor", "operators"],
    title: "Several calls have this call_id",
    advice: "Use one of the call_refs listed.",
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
