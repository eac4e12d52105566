import { refuse } from "@/lib/result";
import { letGo } from "./failures";
import type { Model, ModelAnswer, ModelFailure, ModelRequest, ModelToolCall } from "./model";

/** What a scripted model gives at one place. */
export type ScriptedAnswer = ModelAnswer | ModelFailure;

/** A list of answers, one a place, or a function of what the model is asked. */
export type Script = readonly ScriptedAnswer[] | ((request: ModelRequest) => ScriptedAnswer);

/**
 * A model without a provider, for tests and demos. It keeps nothing: where it is in its list it reads from the request, as the number
 * of answers that stand there, so that a restart goes on at the right place. Text comes word by word.
 */
export function scriptedModel(script: Script): Model {
  return {
    async answer(request, { stop, onText }) {
      if (stop.aborted) return refuse(letGo());
      const answer = typeof script === "function" ? script(request) : script[answersIn(request)];
      if (answer === undefined) return refuse(scriptEnded(answersIn(request)));
      if ("code" in answer) return refuse(answer);
      for (const word of answer.text?.match(/\s*\S+|\s+$/g) ?? []) onText?.(word);
      return { ok: true, value: answer };
    },
  };
}

/** How many answers the model has given so far. */
export function answersIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

function scriptEnded(place: number): ModelFailure {
  return { code: "model_refused", detail: `the script has no answer ${place + 1}`, retryInMs: null };
}

/** An answer of words alone. */
export function says(text: string): ModelAnswer {
  return { text, toolCalls: [], finish: "stop", usage: null };
}

/** An answer that asks for calls. */
export function calls(...toolCalls: readonly ModelToolCall[]): ModelAnswer {
  return { text: null, toolCalls, finish: "tool_calls", usage: null };
}
