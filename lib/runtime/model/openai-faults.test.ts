import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { answers, ask, chatServer, delta, done, event, KEY, modelAt, REQUEST, streams } from "./testing/chat-server";

const silent = (): void => undefined;

/** The failure of one question to a provider that behaves so; asked once, and never again by the client. */
async function failure(behave: (response: ServerResponse) => unknown, limits: Parameters<typeof ask>[1] = {}) {
  const { result, server } = await ask(behave, limits);
  expect(server.asked.length).toBe(1);
  if (result.ok) throw new Error("this is an answer");
  expect(JSON.stringify(result)).not.toContain(KEY);
  return result.refusal;
}

describe("a provider that answers with a status", () => {
  const leaky = JSON.stringify({ error: { message: `Incorrect key: ${KEY}`, code: "invalid_api_key", type: KEY } });

  it.each([
    [400, "model_refused", null],
    [401, "model_refused", null],
    [403, "model_refused", null],
    [404, "model_refused", null],
    [408, "model_timeout", 1_000],
    [429, "model_rate_limited", 5_000],
    [500, "model_unreachable", 1_000],
    [503, "model_unreachable", 1_000],
  ])("%i is %s, told with the provider's code word and without its sentence", async (status, code, retryInMs) => {
    expect(await failure(answers(status, leaky))).toEqual({
      code,
      detail: `the provider answered ${status} (invalid_api_key)`,
      retryInMs,
    });
  });

  it.each([
    ["3", 3_000],
    ["0", 0],
    ["1.5", 1_500],
    ["99999999", 3_600_000],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 3_600_000],
    ["soon", 5_000],
    ["-5", 0],
  ])("Retry-After: %s is when to ask again", async (text, retryInMs) => {
    const told = await failure(answers(429, "{}", { "retry-after": text }));
    expect(told).toMatchObject({ code: "model_rate_limited", retryInMs });
  });

  it("a date that is still to come is waited for", async () => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    const { retryInMs } = await failure(answers(503, "{}", { "retry-after": date }));
    expect(retryInMs).toBeGreaterThan(500_000);
    expect(retryInMs).toBeLessThanOrEqual(600_000);
  });

  it("a redirect is not followed: the key does not go along", async () => {
    const other = await chatServer(streams(delta({ content: "stolen" }), delta({}, "stop")));
    const told = await failure(answers(307, "", { location: `${other.baseUrl}/chat/completions` }));
    await other.close();
    expect(told).toEqual({
      code: "model_refused",
      detail: "the provider answered 307; a redirect is not followed",
      retryInMs: null,
    });
    expect(other.asked).toEqual([]);
  });

  it.each([KEY, "Incorrect key", "a".repeat(61)])("a code that is no code word is left out: %s", async (code) => {
    const body = JSON.stringify({ error: { message: "no", code } });
    expect(await failure(answers(401, body))).toMatchObject({ detail: "the provider answered 401" });
  });

  it("an error without a body, and one of HTML, are told by their status", async () => {
    expect(await failure(answers(502, ""))).toMatchObject({ detail: "the provider answered 502" });
    expect(await failure(answers(502, "<html>bad</html>"))).toMatchObject({ detail: "the provider answered 502" });
  });
});

describe("a provider that is slow", () => {
  it("and never answers: the time for the whole is over", async () => {
    expect(await failure(silent, { timeoutMs: 100 })).toMatchObject({
      code: "model_timeout",
      detail: "the answer took longer than HOLDPOINT_MODEL_TIMEOUT_MS",
    });
  });

  it("and says nothing more in the middle: it fell silent", async () => {
    const told = await failure(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(delta({ content: "and" }));
      },
      { idleMs: 100 },
    );
    expect(told).toMatchObject({ code: "model_timeout", detail: "the provider fell silent" });
  });

  it("and dribbles: it is never silent, but the whole has its time too", async () => {
    let dribbling: ReturnType<typeof setInterval> | undefined;
    const told = await failure(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        dribbling = setInterval(() => response.write(": still here\n\n"), 20);
      },
      { idleMs: 250, timeoutMs: 600 },
    );
    clearInterval(dribbling);
    expect(told).toMatchObject({ detail: "the answer took longer than HOLDPOINT_MODEL_TIMEOUT_MS" });
  });
});

describe("a provider that breaks off", () => {
  it("with its connection, in the middle", async () => {
    const told = await failure((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(delta({ content: "half" }), () => response.destroy());
    });
    expect(told).toMatchObject({ code: "model_cut", retryInMs: 1_000 });
  });

  it("politely, without having said why it stopped", async () => {
    expect(await failure(streams(delta({ content: "half" })))).toMatchObject({ code: "model_cut" });
    expect(await failure(streams(delta({ content: "half" }), done))).toMatchObject({ code: "model_cut" });
  });

  it("with an error among the events", async () => {
    const error = event({ error: { message: `no ${KEY}`, code: "server_overloaded" } });
    expect(await failure(streams(delta({ content: "half" }), error))).toMatchObject({
      code: "model_cut",
      detail: "the provider broke off its answer with an error (server_overloaded)",
    });
  });

  it("before it answers at all", async () => {
    expect(await failure((response) => response.destroy())).toMatchObject({ code: "model_unreachable" });
  });

  it("and one that is not there", async () => {
    const server = await chatServer(silent);
    await server.close();
    const result = await modelAt(server.baseUrl, 1_000, 1_000).answer(REQUEST, { stop: new AbortController().signal });
    expect(result).toMatchObject({ ok: false, refusal: { code: "model_unreachable", retryInMs: 1_000 } });
  });
});

describe("an answer in another shape", () => {
  it.each([
    ["no JSON", [event("{half")]],
    ["no object", [event([1])]],
    ["a number for its choices", [event({ choices: 3 })]],
    ["content that is no text", [delta({ content: { a: 1 } })]],
    [
      "arguments that are no text",
      [delta({ tool_calls: [{ index: 0, function: { name: "a", arguments: { a: 1 } } }] })],
    ],
    ["a place below zero", [delta({ tool_calls: [{ index: -1, function: { name: "a" } }] })]],
    ["no choices", [event({ choices: [] }), done]],
    ["nothing", [done]],
    ["a call without a name", [delta({ tool_calls: [{ index: 0, id: "a" }] }), delta({}, "tool_calls")]],
    ["usage that is no number", [event({ choices: [], usage: { prompt_tokens: "7", completion_tokens: 1 } })]],
  ])("%s", async (_what, stream) => {
    expect(await failure(streams(...stream))).toMatchObject({ code: "model_malformed", retryInMs: 1_000 });
  });

  it("a JSON document in place of a stream", async () => {
    const whole = JSON.stringify({ choices: [{ index: 0, message: { content: "hi" }, finish_reason: "stop" }] });
    expect(await failure(answers(200, whole))).toMatchObject({ code: "model_malformed" });
  });

  it("a huge one is not read to its end, and asking again cures nothing", async () => {
    const told = await failure(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const closed = new Promise((go) => response.once("close", go));
      const part = delta({ content: "x".repeat(100_000) });
      for (let sent = 0; !response.destroyed && sent < 200; sent += 1) {
        if (!response.write(part)) await Promise.race([closed, new Promise((go) => response.once("drain", go))]);
      }
      if (!response.destroyed) response.end(delta({}, "stop"));
    });
    expect(told).toMatchObject({ code: "model_malformed", retryInMs: null });
  });
});

describe("a worker that lets go", () => {
  it("before, and in the middle of an answer, is free at once and may be followed by another", async () => {
    const before = new AbortController();
    before.abort();
    const none = await ask(silent, { stop: before });
    expect(none.result).toMatchObject({ refusal: { code: "model_cut", retryInMs: 0 } });
    expect(none.server.asked).toEqual([]);

    const stop = new AbortController();
    const told = await failure(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(delta({ content: "and" }), () => setTimeout(() => stop.abort(), 20));
      },
      { stop },
    );
    expect(told).toEqual({ code: "model_cut", detail: "the worker stopped waiting for the answer", retryInMs: 0 });
  });

  it("a listener that fails is a fault of ours, and not the provider's", async () => {
    const server = await chatServer(streams(delta({ content: "a" }), delta({}, "stop")));
    const listening = modelAt(server.baseUrl, 1_000, 1_000).answer(REQUEST, {
      stop: new AbortController().signal,
      onText: () => {
        throw new RangeError("ours");
      },
    });
    await expect(listening).rejects.toThrow("ours");
    await server.close();
  });
});
