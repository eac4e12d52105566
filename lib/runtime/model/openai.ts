import OpenAI, { APIUserAbortError } from "openai";
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { ok, type Result, refuse } from "@/lib/result";
import { type Deadline, deadline } from "../deadline";
import { AnswerParts } from "./answer-parts";
import { AnswerTooLarge, failureOf, letGo, timedOut } from "./failures";
import type { Model, ModelAnswer, ModelFailure, ModelMessage, ModelRequest, ModelTool } from "./model";
import type { ModelSettings } from "./settings";

/** How long the provider may be silent, before its first word too. */
const IDLE_MS = 60_000;
const MOST_ANSWER_BYTES = 4_194_304;

/** A provider that speaks OpenAI's chat completions, streamed. What is not told is a refusal that names the variable to set. */
export function openAiModel(settings: ModelSettings, { idleMs = IDLE_MS } = {}): Result<Model, ModelFailure> {
  const { baseUrl, apiKey, timeoutMs } = settings;
  if (baseUrl === null) return notConfigured("HOLDPOINT_MODEL_BASE_URL", "for example https://api.openai.com/v1");
  if (apiKey === null) return notConfigured("HOLDPOINT_MODEL_API_KEY", "any text for a provider that wants no key");
  return ok({
    async answer(request, { stop, onText }) {
      const whole = deadline(timeoutMs, stop);
      const idle = deadline(idleMs, whole.signal);
      try {
        return await ask(clientOf(baseUrl, apiKey, timeoutMs, idle), request, { stop, whole, idle, onText });
      } finally {
        idle.leave();
        whole.leave();
      }
    },
  });
}

function notConfigured(variable: string, example: string) {
  return refuse({
    code: "model_not_configured",
    detail: `no model is configured: set ${variable} (${example})`,
    retryInMs: null,
  } as const);
}

interface Waiting {
  readonly stop: AbortSignal;
  readonly whole: Deadline;
  readonly idle: Deadline;
  readonly onText: ((delta: string) => void) | undefined;
}

async function ask(
  client: OpenAI,
  request: ModelRequest,
  { stop, whole, idle, onText }: Waiting,
): Promise<Result<ModelAnswer, ModelFailure>> {
  const parts = new AnswerParts();
  const heard = (error: unknown): Result<ModelAnswer, ModelFailure> | null => {
    if (stop.aborted) return refuse(letGo());
    if (whole.isOver()) return refuse(timedOut("the answer took longer than HOLDPOINT_MODEL_TIMEOUT_MS"));
    if (idle.isOver()) return refuse(timedOut("the provider fell silent"));
    return error === null || error instanceof APIUserAbortError ? null : refuse(failureOf(error, Date.now()));
  };
  try {
    const stream = await client.chat.completions.create(bodyOf(request), { signal: idle.signal });
    for await (const chunk of stream) {
      const added = parts.add(chunk);
      if (added !== "") onText?.(added);
    }
  } catch (error) {
    const failure = heard(error);
    if (failure === null) throw error;
    // Cut behind its last word, an answer is still whole.
    if (!failure.ok && failure.refusal.code === "model_cut" && parts.isWhole() && !stop.aborted) return parts.answer();
    return failure;
  }
  // The client ends a stream quietly when it is aborted.
  return heard(null) ?? parts.answer();
}

/** A client for one answer. It retries nothing, logs nothing, and takes nothing from the environment. */
function clientOf(baseURL: string, apiKey: string, timeout: number, idle: Deadline): OpenAI {
  return new OpenAI({
    baseURL,
    apiKey,
    timeout,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: (url, init) => boundedFetch(url, init, idle),
  });
}

/** No redirect is followed, since the key would go along; every byte that comes counts, and shows that the provider is alive. */
async function boundedFetch(url: string | URL | Request, init: RequestInit | undefined, idle: Deadline) {
  const response = await fetch(url, { ...init, redirect: "manual" });
  if (response.body === null) return response;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      idle.restart();
      bytes += chunk.byteLength;
      if (bytes > MOST_ANSWER_BYTES) controller.error(new AnswerTooLarge("the answer is too large"));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

function bodyOf({ model, messages, tools, maxOutputTokens }: ModelRequest): ChatCompletionCreateParamsStreaming {
  return {
    model,
    messages: messages.map(messageOf),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
    ...(maxOutputTokens === null ? {} : { max_completion_tokens: maxOutputTokens }),
  };
}

function messageOf(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
    case "assistant": {
      const calls = message.toolCalls.map(({ callId, name, argumentsText }, index) => ({
        // The protocol wants an id; a call that had none is named by its place.
        id: callId ?? `call_${index}`,
        type: "function" as const,
        function: { name, arguments: argumentsText },
      }));
      if (calls.length === 0) return { role: "assistant", content: message.text ?? "" };
      return { role: "assistant", content: message.text, tool_calls: calls };
    }
  }
}

function toolOf({ name, description, inputSchema }: ModelTool): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: {
      name,
      ...(description === null ? {} : { description }),
      // Through text, since a schema read without loss may hold integers that the client's JSON does not write.
      parameters: inputSchema === null ? { type: "object" } : JSON.parse(canonicalJson(inputSchema)),
    },
  };
}
