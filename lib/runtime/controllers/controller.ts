import type { AgentDefinition } from "@/lib/protocol/agent-definition";
import type { Signal, SignalRefusal, SignalSource } from "@/lib/protocol/signal";
import type { Result } from "@/lib/result";
import type { ModelAnswer, ModelFailure, ModelMessage, ModelTool } from "@/lib/runtime/model/model";
import type { RuntimeState } from "@/lib/runtime/runtime-state";

/** Why a controller has no decision: its model did not answer, or may not be asked any more. */
export type NoDecision = ModelFailure | { readonly code: "budget_exhausted" };

export interface Question {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}

/** What a controller decides on: committed facts, and a model that may be asked within the budget. */
export interface ControlState {
  readonly definition: AgentDefinition;
  readonly tools: readonly ModelTool[];
  readonly runtime: RuntimeState;
  readonly conversation: readonly ModelMessage[];
  /** The results of the last decision's calls, as the model is told of them. */
  readonly results: readonly string[];
  /** Ask the model. Each answer counts against the budget. */
  readonly ask: (question: Question) => Promise<Result<ModelAnswer, NoDecision>>;
}

/** One proposal as its controller read it, with the words it came in; `name` is the tool's, where those could not be read. */
export interface Proposed {
  readonly signal: Result<Signal, SignalRefusal>;
  readonly name: string;
  readonly text: string;
}

/** What is to happen next. It changes nothing: the runtime judges it, and acts or refuses. Source: protocol §7. */
export interface Decision {
  readonly source: SignalSource;
  readonly proposals: readonly Proposed[];
  /** The model's own words, which join the thread. */
  readonly texts: readonly string[];
  /** Where the controller stands once this decision is taken. */
  readonly next: Pick<RuntimeState, "plan" | "cursor" | "values" | "keeps">;
  /** Steps of a plan or a workflow that come after this one. */
  readonly remaining: number;
}

/** A source of signals. All three go through the one entry of the runtime. Source: [S1 C11]. */
export interface Controller {
  decide(state: ControlState): Promise<Result<Decision, NoDecision>>;
}
