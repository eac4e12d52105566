import { once } from "node:events";
import http, { type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "@playwright/test";
import { z } from "zod";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { Office } from "./office";
import { type App, forgetFolder, startApp, throwAwayFolder } from "./server";

const asked = z.object({ model: z.string(), messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });
type Asked = z.output<typeof asked>;

/** Pieces of an answer, as an OpenAI-compatible provider streams them. A promise among them holds the stream until it is kept. */
export type Answer = readonly (JsonObject | Promise<unknown>)[];

/** A provider of this machine; which answer it gives is read from what it is asked, so a repeated request is answered alike. */
async function fakeProvider(answer: (request: Asked) => Answer) {
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

/** An app whose agents may write beneath a folder and ask a provider of ours, with the person who starts their runs and the one who allows. */
export class HostedOffice {
  private constructor(
    readonly app: App,
    readonly office: Office,
    readonly files: string,
    private readonly provider: Awaited<ReturnType<typeof fakeProvider>>,
    /** Starts runs; whoever does asks for their acts, so she may not allow them. */
    readonly thea: Page,
    readonly rosa: Page,
  ) {}

  static async open(browser: Browser, answer: (request: Asked) => Answer): Promise<HostedOffice> {
    const files = throwAwayFolder();
    const provider = await fakeProvider(answer);
    const app = await startApp({
      env: {
        HOLDPOINT_WRITE_ROOTS: files,
        HOLDPOINT_MODEL_BASE_URL: provider.baseUrl,
        HOLDPOINT_MODEL_API_KEY: "sk-of-a-test",
      },
    });
    const office = new Office(app);
    const thea = await office.person(browser, "Thea", "owner");
    const rosa = await office.person(browser, "Rosa", "approver");
    return new HostedOffice(app, office, files, provider, thea, rosa);
  }

  async close(): Promise<void> {
    for (const page of [this.thea, this.rosa]) await page.context().close();
    await this.app.stop();
    this.provider.close();
    for (const folder of [this.app.dataDir, this.files]) forgetFolder(folder);
  }
}
