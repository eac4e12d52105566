import { canonicalJson } from "@/lib/protocol/canonical-json";
import { ASK_TOOL } from "@/lib/protocol/signal";
import type { RecordedStep, Recording } from "../recording";
import type { Model, ModelAnswer } from "./model";
import { answersIn, calls, says, scriptedModel } from "./scripted";

/** A model that answers as it did when it was recorded: one recorded step an answer, and behind the last nothing more to do. */
export function recordedModel(recording: Recording): Model {
  return scriptedModel((request) => {
    const step = recording.steps[answersIn(request)];
    return step ? answerOf(step) : says("");
  });
}

function answerOf(step: RecordedStep): ModelAnswer {
  if (step.kind === "question") {
    const { question, schema } = step;
    return calls({ callId: null, name: ASK_TOOL, argumentsText: canonicalJson({ question, schema }) });
  }
  return calls(
    ...step.calls.map(({ callId, tool, args }) => ({ callId, name: tool, argumentsText: canonicalJson(args) })),
  );
}
