import { parseFailed, readSignal, signalOfToolCall, storable } from "@/lib/protocol/signal";
import { ok, refuse } from "@/lib/result";
import type { ModelAnswer } from "@/lib/runtime/model/model";
import { ASKING } from "./asking";
import type { Controller, Decision, Proposed } from "./controller";

/** The model looks at every result and proposes what comes next. */
export const react: Controller = {
  async decide({ definition, conversation, tools, runtime, ask }) {
    const answer = await ask({
      messages: [{ role: "system", text: definition.instructions }, ...conversation],
      tools: [...tools, ASKING],
    });
    if (!answer.ok) return answer;
    return ok(decisionOf(answer.value, runtime));
  },
};

function decisionOf(answer: ModelAnswer, { plan, cursor, values, keeps }: Decision["next"]): Decision {
  const text = answer.text === null ? "" : storable(answer.text);
  const spoken = text.trim() === "" ? [] : [text];
  const proposals = answer.toolCalls.length > 0 ? answer.toolCalls.map(proposedCall) : [proposedText(text)];
  return { source: "model", proposals, texts: spoken, next: { plan, cursor, values, keeps }, remaining: 0 };
}

function proposedCall(call: ModelAnswer["toolCalls"][number]): Proposed {
  return { signal: signalOfToolCall(call), name: storable(call.name), text: storable(call.argumentsText) };
}

/** Words that are no signal are what the agent has to say in the end; whatever they ask for, they never make it wait. */
function proposedText(text: string): Proposed {
  const read = readSignal(text);
  switch (read.kind) {
    case "signal":
      return { signal: ok(read.signal), name: "", text };
    case "unreadable":
      return { signal: refuse(read.refusal), name: "", text };
    case "words":
      if (text.trim() === "") return { signal: refuse(parseFailed("the model said nothing")), name: "", text };
      return { signal: ok({ type: "FINISH", output: text }), name: "", text };
  }
}
