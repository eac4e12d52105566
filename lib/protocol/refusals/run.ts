import type { RefusalRule } from "./rule";

/** Refusals by the state of the run as a whole. */
export const OF_THE_RUN = {
  run_exists: {
    status: 409,
    sees: ["all"],
    title: "A run with this id exists",
    advice: "If it is yours, go on with it; otherwise take another id.",
  },
  run_ended: {
    status: 409,
    sees: ["all"],
    title: "The run has ended",
    advice: "Nothing more can be done in it. `ended` says why, by whom and when.",
  },
  run_awaiting: {
    status: 409,
    sees: ["executor"],
    title: "The run waits",
    advice: "Wait for a person; to finish, withdraw what is open.",
  },
  state_tampered: {
    status: 409,
    sees: ["executor"],
    title: "The saved state is not what was saved",
    advice: "Start the run anew; the operators are told.",
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
