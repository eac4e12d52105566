import type { RefusalRule } from "./rule";

/** Refusals of what a model, a plan or a workflow proposes to the runtime. Source: protocol §7. */
export const OF_A_SIGNAL = {
  parse_failed: {
    status: 409,
    sees: ["executor", "operators"],
    title: "Not a signal that can be read",
    advice: "The run has failed. A signal is one JSON object with its own type, without an envelope around it.",
  },
  wait_signal_without_pending_object: {
    status: 409,
    sees: ["executor", "operators"],
    title: "Nothing to wait for",
    advice: "The run has failed. Make what a person is to look at before asking about it.",
  },
  wait_signal_without_question: {
    status: 409,
    sees: ["executor", "operators"],
    title: "A wait without a question",
    advice: "The run has failed. Say what the person is asked.",
  },
  unknown_action: {
    status: 409,
    sees: ["executor", "operators"],
    title: "No such tool in the agent's catalogue",
    advice: "The model was told and the run goes on. Publish the tool, or correct the instructions.",
  },
  premature_finish: {
    status: 409,
    sees: ["executor", "operators"],
    title: "Finished before its steps were done",
    advice: "The run goes on with the next step.",
  },
} as const satisfies Readonly<Record<string, RefusalRule>>;
