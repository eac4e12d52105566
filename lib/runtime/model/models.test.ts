import { describe, expect, it } from "vitest";
import type { Recording } from "../recording";
import type { Model, ModelMessage, ModelRequest } from "./model";
import { type ModelEnvironment, modelFor } from "./models";
import { calls, says } from "./scripted";

const RECORDING: Recording = {
  thread: "t",
  model: null,
  steps: [
    {
      kind: "calls",
      message: "Look.",
      calls: [
        {
          callId: "c1",
          tool: "look",
          args: { id: 2512292042121000001n, b: 1 },
          output: null,
          result: "seen",
          error: null,
          risk: "low",
          why: null,
        },
        { callId: null, tool: "wait", args: {}, output: null, result: null, error: null, risk: "low", why: null },
      ],
    },
    { kind: "question", message: null, question: "Go on?", schema: { enum: ["yes"] } },
  ],
};

const ENVIRONMENT: ModelEnvironment = {
  settings: { baseUrl: null, apiKey: null, timeoutMs: 1_000 },
  scripts: {
    day: [calls({ callId: "c1", name: "look", argumentsText: "{" }), says("All is well, thanks.\n")],
    failing: [{ code: "model_timeout", detail: "slow", retryInMs: 5 }, says("then")],
    echo: (request: ModelRequest) => says(`${request.messages.length} messages`),
  },
  recording: RECORDING,
};

function model(provider: string): Model {
  const found = modelFor(provider, ENVIRONMENT);
  if (!found.ok) throw new Error(found.refusal.detail);
  return found.value;
}

const user: ModelMessage = { role: "user", text: "Go." };
const assistant: ModelMessage = { role: "assistant", text: "said", toolCalls: [] };
const tool: ModelMessage = { role: "tool", callId: "c1", text: "seen" };

function ask(provider: string, messages: readonly ModelMessage[], onText?: (text: string) => void) {
  const request = { model: "m", messages, tools: [], maxOutputTokens: null };
  const stop = new AbortController().signal;
  return model(provider).answer(request, onText ? { stop, onText } : { stop });
}

describe("a scripted model", () => {
  it("goes on where the conversation stands, whoever asks: a restart repeats nothing and leaves nothing out", async () => {
    const asked = await ask("scripted:day", [user, assistant, tool]);
    expect(asked).toMatchObject({ ok: true, value: { text: "All is well, thanks.\n", finish: "stop" } });
    expect(await ask("scripted:day", [user, assistant, tool])).toEqual(asked);
    expect(await ask("scripted:day", [user])).toMatchObject({
      ok: true,
      value: { text: null, toolCalls: [{ callId: "c1", name: "look", argumentsText: "{" }], finish: "tool_calls" },
    });
  });

  it("says its text word by word, and all of it", async () => {
    const heard: string[] = [];
    await ask("scripted:day", [user, assistant], (text) => heard.push(text));
    expect(heard).toEqual(["All", " is", " well,", " thanks.", "\n"]);
  });

  it("may answer by what it is asked", async () => {
    expect(await ask("scripted:echo", [user, tool])).toMatchObject({ value: { text: "2 messages" } });
  });

  it("fails where its script says so, and behind its end", async () => {
    expect(await ask("scripted:failing", [user])).toEqual({
      ok: false,
      refusal: { code: "model_timeout", detail: "slow", retryInMs: 5 },
    });
    expect(await ask("scripted:day", [assistant, assistant])).toEqual({
      ok: false,
      refusal: { code: "model_refused", detail: "the script has no answer 3", retryInMs: null },
    });
  });

  it("says nothing more once its worker lets go", async () => {
    const request = { model: "m", messages: [], tools: [], maxOutputTokens: null };
    const answer = await model("scripted:day").answer(request, { stop: AbortSignal.abort() });
    expect(answer).toMatchObject({ ok: false, refusal: { code: "model_cut", retryInMs: 0 } });
  });
});

describe("a recorded model", () => {
  it("asks for what was recorded, in one step what stood in one, with every digit", async () => {
    expect(await ask("recording", [user])).toMatchObject({
      ok: true,
      value: {
        toolCalls: [
          { callId: "c1", name: "look", argumentsText: '{"b":1,"id":2512292042121000001}' },
          { callId: null, name: "wait", argumentsText: "{}" },
        ],
      },
    });
  });

  it("asks a person what it asked then, and has nothing more to say behind its end", async () => {
    expect(await ask("recording", [assistant])).toMatchObject({
      value: {
        toolCalls: [{ name: "request_user_input", argumentsText: '{"question":"Go on?","schema":{"enum":["yes"]}}' }],
      },
    });
    expect(await ask("recording", [assistant, assistant])).toMatchObject({
      ok: true,
      value: { text: "", toolCalls: [], finish: "stop" },
    });
  });
});

describe("a provider's word", () => {
  it("openai is what is configured, or says what to set", () => {
    expect(modelFor("openai", ENVIRONMENT)).toMatchObject({ ok: false, refusal: { code: "model_not_configured" } });
    const settings = { baseUrl: "http://127.0.0.1:1", apiKey: "k", timeoutMs: 1 };
    expect(modelFor("openai", { ...ENVIRONMENT, settings })).toMatchObject({ ok: true });
  });

  it.each([null, "", "OpenAI", "scripted", "scripted:", "scripted:none", "scripted:toString"])(
    "%s names none, and the refusal says so",
    (provider) => {
      expect(modelFor(provider, ENVIRONMENT)).toMatchObject({
        ok: false,
        refusal: { code: "model_not_configured", retryInMs: null },
      });
    },
  );

  it("recording needs the run's recording", () => {
    expect(modelFor("recording", { ...ENVIRONMENT, recording: null })).toMatchObject({
      ok: false,
      refusal: { code: "model_not_configured", detail: "this run has no recording" },
    });
  });
});
