import type { Db } from "@/db/client";
import { showLiveText } from "@/db/store/live-text";
import { storable } from "@/lib/protocol/signal";
import { type Result, refuse } from "@/lib/result";
import type { NoDecision, Question } from "./controllers/controller";
import { LiveWords } from "./live-words";
import type { Model, ModelAnswer, ModelFailure } from "./model/model";

/** A run's model under its budget: every answer counts, and is shown while it is said. */
export class Thinking {
  /** Answers given to this decision. */
  answers = 0;

  constructor(
    private readonly what: {
      readonly db: Db;
      readonly workspace: string;
      readonly run: string;
      /** The turn that is thought out. */
      readonly turn: number;
      readonly model: Result<Model, ModelFailure>;
      readonly modelName: string;
      /** Model calls that the budget still lets pass. */
      readonly left: number;
      readonly stop: AbortSignal;
    },
  ) {}

  async ask({ messages, tools }: Question): Promise<Result<ModelAnswer, NoDecision>> {
    const { db, workspace, run, turn, model, modelName, left, stop } = this.what;
    if (this.answers >= left) return refuse({ code: "budget_exhausted" });
    if (!model.ok) return model;
    const live = new LiveWords(
      (text) => showLiveText(db, workspace, run, turn, storable(text)),
      () => performance.now(),
    );
    const request = { model: modelName, messages, tools, maxOutputTokens: null };
    const answer = await model.value.answer(request, { stop, onText: (delta) => live.add(delta) });
    await live.settled();
    if (answer.ok) this.answers += 1;
    return answer;
  }
}
