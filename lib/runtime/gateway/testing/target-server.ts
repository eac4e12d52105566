import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a target was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface TargetServer {
  readonly port: number;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** A real HTTP server of this machine that keeps what it was asked and answers as it is told. */
export async function targetServer(
  answer: (response: ServerResponse, asked: Asked) => void,
  { host = "127.0.0.1", port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<TargetServer> {
  const asked: Asked[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      asked.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
