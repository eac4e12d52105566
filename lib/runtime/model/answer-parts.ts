import { z } from "zod";
import { ok, type Result, refuse } from "@/lib/result";
import { cut, malformed } from "./failures";
import type { ModelAnswer, ModelFailure } from "./model";

/** What we read of a `chat.completion.chunk`; what else a provider sends is let by. */
const tokens = z.number().int().nonnegative();
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().int().default(0),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().int().nonnegative().nullish(),
                  id: z.string().nullish(),
                  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish(),
});
type Choice = NonNullable<z.infer<typeof chunkSchema>["choices"]>[number];
type CallPart = NonNullable<NonNullable<Choice["delta"]>["tool_calls"]>[number];

interface OpenCall {
  id: string;
  name: string;
  argumentsText: string;
}

/** The parts of a streamed answer, put together: calls by their index, their arguments as the text that was sent. */
export class AnswerParts {
  private text: string | null = null;
  private readonly calls = new Map<number, OpenCall>();
  private lastIndex = -1;
  private finish: string | null = null;
  private usage: ModelAnswer["usage"] = null;
  private hasChoice = false;

  /** @returns the text that it adds. @throws ZodError where it has another shape. */
  add(chunk: unknown): string {
    const { choices, usage } = chunkSchema.parse(chunk);
    if (usage) this.usage = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    const choice = choices?.find(({ index }) => index === 0);
    if (!choice) return "";
    this.hasChoice = true;
    if (choice.finish_reason) this.finish = choice.finish_reason;
    for (const part of choice.delta?.tool_calls ?? []) this.addToCall(part);
    // A model that declines says so in a field of its own; for whoever reads the run it is what the model said.
    const added = (choice.delta?.content ?? "") + (choice.delta?.refusal ?? "");
    if (added !== "") this.text = (this.text ?? "") + added;
    return added;
  }

  /** The provider has said why it stopped: nothing of the answer is missing any more. */
  isWhole(): boolean {
    return this.finish !== null;
  }

  answer(): Result<ModelAnswer, ModelFailure> {
    if (!this.hasChoice) return refuse(malformed("the answer has no choices"));
    if (this.finish === null) return refuse(cut("the answer ended before the provider said why it stopped"));
    const toolCalls = [...this.calls.entries()].sort(([one], [other]) => one - other).map(([, call]) => call);
    if (toolCalls.some(({ name }) => name === "")) return refuse(malformed("a tool call has no name"));
    return ok({
      text: this.text,
      toolCalls: toolCalls.map(({ id, name, argumentsText }) => ({ callId: id || null, name, argumentsText })),
      finish: this.finish,
      usage: this.usage,
    });
  }

  /** Some providers leave the index out: there a new id begins a new call. */
  private addToCall({ index, id, function: told }: CallPart): void {
    const last = this.calls.get(this.lastIndex);
    const isNext = !last || (id && last.id !== id);
    const at = index ?? (isNext ? this.lastIndex + 1 : this.lastIndex);
    const call = this.calls.get(at) ?? { id: "", name: "", argumentsText: "" };
    if (id) call.id = id;
    if (told?.name) call.name = told.name;
    call.argumentsText += told?.arguments ?? "";
    this.calls.set(at, call);
    this.lastIndex = at;
  }
}
