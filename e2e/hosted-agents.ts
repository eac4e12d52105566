import { once } from "node:events";
import http, { type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";

const asked = z.object({ model: z.string(), messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });
type Asked = z.output<typeof asked>;

/** Pieces of an answer, as an OpenAI-compatible provider streams them. A promise among them holds the stream until it is kept. */
export type Answer = readonly (JsonObject | Promise<unknown>)[];

/** A provider of this machine; which answer it gives is read from what it is asked, so a repeated request is answered alike. */
export async function fakeProvider(answer: (request: Asked) => Answer) {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = asked.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      void stream(response, answer(body));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function stream(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: JsonObject, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  let calls = false;
  for (const piece of answer) {
    if (piece instanceof Promise) await piece;
    else {
      calls ||= "tool_calls" in piece;
      send(piece);
    }
  }
  send({}, calls ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}

export function aCallOf(name: string, args: JsonObject, index = 0): JsonObject {
  const spoken = { name, arguments: canonicalJson(args) };
  return { tool_calls: [{ index, id: `c${index}`, type: "function", function: spoken }] };
}
