import http, { type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import type { Result } from "@/lib/result";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "../model";
import { openAiModel } from "../openai";

export const KEY = "sk-secret-0123456789";

export interface ChatServer {
  readonly baseUrl: string;
  readonly asked: readonly { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: unknown }[];
  close(): Promise<void>;
}

/** A provider of this machine that answers as it is told. */
export async function chatServer(answer: (response: ServerResponse) => unknown): Promise<ChatServer> {
  const asked: { url: string; headers: IncomingHttpHeaders; body: unknown }[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8") || "null");
      asked.push({ url: request.url ?? "", headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One server-sent event. */
export const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const delta = (part: unknown, finish: string | null = null) =>
  event({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: part, finish_reason: finish }] });

export const usage = event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } });
export const done = event("[DONE]");

/** A whole stream, in the pieces given. */
export function streams(...pieces: readonly (string | Buffer)[]) {
  return async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      response.write(piece);
      // A turn of the loop, so that each piece travels by itself.
      await after(2);
    }
    response.end();
  };
}

/** An answer that is no stream. */
export function answers(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  return (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

export const REQUEST: ModelRequest = {
  model: "small",
  messages: [{ role: "user", text: "Go on." }],
  tools: [],
  maxOutputTokens: null,
};

export interface Asked {
  readonly result: Result<ModelAnswer, ModelFailure>;
  readonly heard: readonly string[];
  readonly server: ChatServer;
}

/** Ask a provider that behaves so, once. */
export async function ask(
  behave: (response: ServerResponse) => unknown,
  {
    request = REQUEST,
    timeoutMs = 4_000,
    idleMs = 4_000,
    stop = new AbortController(),
  }: {
    readonly request?: ModelRequest;
    readonly timeoutMs?: number;
    readonly idleMs?: number;
    readonly stop?: AbortController;
  } = {},
): Promise<Asked> {
  const server = await chatServer(behave);
  const heard: string[] = [];
  try {
    const model = modelAt(server.baseUrl, timeoutMs, idleMs);
    const result = await model.answer(request, { stop: stop.signal, onText: (text) => heard.push(text) });
    return { result, heard, server };
  } finally {
    await server.close();
  }
}

export function modelAt(baseUrl: string, timeoutMs: number, idleMs: number): Model {
  const model = openAiModel({ baseUrl, apiKey: KEY, timeoutMs }, { idleMs });
  if (!model.ok) throw new Error(model.refusal.detail);
  return model.value;
}
