import type { JsonValue } from "@/lib/protocol/canonical-json";
import type { Result } from "@/lib/result";

/** A tool as a model is told of it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its arguments; null when the catalogue gives none. */
  readonly inputSchema: JsonValue;
}

/** One call that a model asks for. Its arguments stay the text that the model wrote: they are read losslessly at our own door. */
export interface ModelToolCall {
  readonly callId: string | null;
  readonly name: string;
  readonly argumentsText: string;
}

export type ModelMessage =
  | { readonly role: "system" | "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string | null; readonly toolCalls: readonly ModelToolCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly text: string };

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly maxOutputTokens: number | null;
}

export interface ModelAnswer {
  readonly text: string | null;
  readonly toolCalls: readonly ModelToolCall[];
  /** Why the model stopped, in the provider's word. */
  readonly finish: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
}

/** Why there is no answer. `retryInMs` is null where trying again cures nothing. */
export interface ModelFailure {
  readonly code:
    | "model_not_configured"
    | "model_unreachable"
    | "model_timeout"
    | "model_cut"
    | "model_rate_limited"
    | "model_refused"
    | "model_malformed";
  readonly detail: string;
  readonly retryInMs: number | null;
}

/** What the runtime asks for the next step. A model only proposes: nothing that it returns changes a run. Source: protocol §7. */
export interface Model {
  answer(
    request: ModelRequest,
    options: { readonly stop: AbortSignal; readonly onText?: (delta: string) => void },
  ): Promise<Result<ModelAnswer, ModelFailure>>;
}
