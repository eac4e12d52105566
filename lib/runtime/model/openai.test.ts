import { describe, expect, it } from "vitest";
import { openAiModel } from "./openai";
import { ask, delta, done, event, KEY, REQUEST, streams, usage } from "./testing/chat-server";

const call = (index: number | undefined, id: string | undefined, name: string | undefined, text: string) => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }],
});

describe("an answer", () => {
  it("of words comes as it is written, with its usage and why it stopped", async () => {
    const { result, heard } = await ask(
      streams(
        delta({ role: "assistant", content: "" }),
        delta({ content: "Hel" }),
        delta({ content: "lo" }),
        delta({}, "stop"),
        usage,
        done,
      ),
    );
    expect(result).toEqual({
      ok: true,
      value: { text: "Hello", toolCalls: [], finish: "stop", usage: { inputTokens: 7, outputTokens: 3 } },
    });
    expect(heard).toEqual(["Hel", "lo"]);
  });

  it("of calls keeps their arguments as the text that was sent, also where that is no JSON", async () => {
    const odd = '{"a": 1.0, "a": 2512292042121000001';
    const { result } = await ask(
      streams(
        delta(call(0, "c1", "look", odd.slice(0, 9))),
        delta(call(0, undefined, undefined, odd.slice(9))),
        delta({}, "tool_calls"),
        done,
      ),
    );
    expect(result).toEqual({
      ok: true,
      value: {
        text: null,
        toolCalls: [{ callId: "c1", name: "look", argumentsText: odd }],
        finish: "tool_calls",
        usage: null,
      },
    });
  });

  it("puts calls together by their index, however their parts are mixed; ids that are alike and tools that nobody knows are handed on", async () => {
    const { result } = await ask(
      streams(
        delta(call(1, "same", "nobody_knows", "{")),
        delta(call(0, "same", "look", "")),
        delta({
          tool_calls: [...call(1, "", undefined, "}").tool_calls, ...call(0, undefined, undefined, "[").tool_calls],
        }),
        delta(call(0, undefined, undefined, "]")),
        delta({}, "tool_calls"),
        done,
      ),
    );
    expect(result).toMatchObject({
      value: {
        toolCalls: [
          { callId: "same", name: "look", argumentsText: "[]" },
          { callId: "same", name: "nobody_knows", argumentsText: "{}" },
        ],
      },
    });
  });

  it("without indices: a new id begins a new call", async () => {
    const { result } = await ask(
      streams(
        delta(call(undefined, "a", "look", "{")),
        delta(call(undefined, undefined, undefined, "}")),
        delta(call(undefined, "b", "look", "[]")),
        delta({}, "tool_calls"),
      ),
    );
    expect(result).toMatchObject({
      value: {
        toolCalls: [
          { callId: "a", argumentsText: "{}" },
          { callId: "b", argumentsText: "[]" },
        ],
      },
    });
  });

  it("without an id has none", async () => {
    const { result } = await ask(streams(delta(call(0, undefined, "look", "{}")), delta({}, "tool_calls"), done));
    expect(result).toMatchObject({ value: { toolCalls: [{ callId: null }] } });
  });

  it.each([
    ["carriage returns", (text: string) => text.replaceAll("\n", "\r\n")],
    ["comments and other fields between", (text: string) => `: keep-alive\n\nretry: 1\nid: 2\n${text}`],
    ["no blank behind the colon", (text: string) => text.replaceAll("data: ", "data:")],
  ])("as events with %s is the same", async (_what, spell) => {
    const stream = [delta({ content: "Grüße 👋" }), delta({}, "stop"), done].map(spell);
    const { result } = await ask(streams(...stream));
    expect(result).toMatchObject({ ok: true, value: { text: "Grüße 👋" } });
  });

  it("cut anywhere into pieces, also within a character, is the same", async () => {
    const bytes = Buffer.from([delta({ content: "Grüße 👋" }), delta({}, "stop"), done].join(""));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, at) => bytes.subarray(at * 5, at * 5 + 5));
    const { result } = await ask(streams(...pieces));
    expect(result).toMatchObject({ ok: true, value: { text: "Grüße 👋" } });
  });

  it("that declines in a field of its own is words", async () => {
    const { result } = await ask(streams(delta({ refusal: "I will not." }), delta({}, "stop")));
    expect(result).toMatchObject({ value: { text: "I will not." } });
  });

  it("of which a second choice came too is the first one", async () => {
    const other = event({ choices: [{ index: 1, delta: { content: "other" }, finish_reason: "stop" }] });
    const { result, heard } = await ask(streams(other, delta({ content: "first" }), delta({}, "stop")));
    expect(result).toMatchObject({ value: { text: "first" } });
    expect(heard).toEqual(["first"]);
  });

  it("whose connection breaks behind its last word is whole", async () => {
    const { result } = await ask((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(delta({ content: "All." }) + delta({}, "stop"), () => response.destroy());
    });
    expect(result).toMatchObject({ ok: true, value: { text: "All.", usage: null } });
  });
});

describe("what is asked", () => {
  it("is the conversation in the provider's words, with the key in its header alone", async () => {
    const { server } = await ask(streams(delta({}, "stop")), {
      request: {
        model: "large",
        messages: [
          { role: "system", text: "Be brief." },
          { role: "user", text: "Look." },
          {
            role: "assistant",
            text: null,
            toolCalls: [
              { callId: "c1", name: "look", argumentsText: '{"a":1.0}' },
              { callId: null, name: "look", argumentsText: "{" },
            ],
          },
          { role: "tool", callId: "c1", text: "seen" },
          { role: "assistant", text: "Well.", toolCalls: [] },
        ],
        tools: [
          { name: "look", description: null, inputSchema: { type: "object", maximum: 2512292042121000001n } },
          { name: "wait", description: "Waits.", inputSchema: null },
        ],
        maxOutputTokens: 9,
      },
    });
    expect(server.asked).toHaveLength(1);
    const [asked] = server.asked;
    expect(asked).toMatchObject({ url: "/v1/chat/completions", headers: { authorization: `Bearer ${KEY}` } });
    expect(asked?.headers).not.toHaveProperty("openai-organization");
    expect(asked?.body).toEqual({
      model: "large",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "look", arguments: '{"a":1.0}' } },
            { id: "call_1", type: "function", function: { name: "look", arguments: "{" } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "seen" },
        { role: "assistant", content: "Well." },
      ],
      tools: [
        // What JSON's numbers cannot hold is rounded: a schema is advice to the model, its answer is judged by ours.
        { type: "function", function: { name: "look", parameters: { type: "object", maximum: 2512292042121000000 } } },
        { type: "function", function: { name: "wait", description: "Waits.", parameters: { type: "object" } } },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 9,
    });
  });

  it("names no tools and no limit where there are none", async () => {
    const { server } = await ask(streams(delta({}, "stop")), { request: REQUEST });
    expect(Object.keys(server.asked[0]?.body as object).sort()).toEqual([
      "messages",
      "model",
      "stream",
      "stream_options",
    ]);
  });
});

describe("a provider that is not configured", () => {
  it.each([
    [{ baseUrl: null, apiKey: KEY }, "HOLDPOINT_MODEL_BASE_URL"],
    [{ baseUrl: "http://127.0.0.1:1", apiKey: null }, "HOLDPOINT_MODEL_API_KEY"],
  ])("is a refusal that names the variable to set", (told, variable) => {
    const model = openAiModel({ ...told, timeoutMs: 1 });
    expect(model).toMatchObject({ ok: false, refusal: { code: "model_not_configured", retryInMs: null } });
    expect(JSON.stringify(model)).toContain(variable);
    expect(JSON.stringify(model)).not.toContain(KEY);
  });
});
