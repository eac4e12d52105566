import type { ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { closeTargets, hello, reaching, send, target } from "./testing/request";

afterEach(closeTargets);

describe("a target that misbehaves", () => {
  const silent = (): void => undefined;

  it("never answers a read: a failure", async () => {
    const server = await target(silent);
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, {}, reaching(at, { limitMs: 100 }))).toMatchObject({ kind: "failed", code: "timed_out" });
  });

  it("never answers a write: nobody knows, and the same key may be sent again", async () => {
    const server = await target(silent);
    const at = `http://127.0.0.1:${server.port}`;
    // The limit must outlast a busy machine's way to the target: what never left is another answer.
    const effect = await send(at, { method: "POST" }, reaching(at, { limitMs: 3_000 }));
    expect(effect).toMatchObject({ kind: "unknown", code: "timed_out", again: "same_key" });
    expect(server.asked).toHaveLength(1);
  });

  it("dribbles a body for ever: the whole request has one limit", async () => {
    const dribbling = setInterval(() => running?.write("x"), 10);
    let running: ServerResponse | null = null;
    const server = await target((response) => {
      running = response;
    });
    const at = `http://127.0.0.1:${server.port}`;
    const effect = await send(at, { method: "PUT" }, reaching(at, { limitMs: 3_000 }));
    clearInterval(dribbling);
    expect(effect).toMatchObject({ kind: "unknown", code: "timed_out" });
  });

  it.each([
    ["GET", "failed"],
    ["POST", "unknown"],
  ])("cuts the connection: %s is %s", async (method, kind) => {
    const cutEarly = await target((response) => response.destroy());
    const cutLate = await target((response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("half", () => response.destroy());
    });
    for (const { port } of [cutEarly, cutLate]) {
      const at = `http://127.0.0.1:${port}`;
      expect(await send(at, { method }, reaching(at))).toMatchObject({ kind, code: "cut" });
    }
  });

  it("is not there: nothing was sent, which is a plain failure also of a write", async () => {
    const server = await target(hello);
    await server.close();
    const at = `http://127.0.0.1:${server.port}`;
    const effect = await send(at, { method: "POST" }, reaching(at));
    expect(effect).toEqual({ kind: "failed", code: "unreachable", detail: "nothing was sent" });
  });

  it("speaks no HTTP", async () => {
    const server = net.createServer((socket) => {
      socket.on("error", () => undefined).resume();
      socket.end("220 hello\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await send(at, {}, reaching(at))).toMatchObject({ kind: "failed", code: "cut" });
    await new Promise((resolve) => server.close(resolve));
  });

  it("resolves slowly: the limit holds there too, and nothing was sent", async () => {
    const reach = reaching("api.example.com", { limitMs: 50, resolve: () => new Promise(() => undefined) });
    const effect = await send("https://api.example.com/", { method: "POST" }, reach);
    expect(effect).toEqual({ kind: "failed", code: "timed_out", detail: "nothing was sent" });
  });

  it("a worker that must stop lets go of the request, and does not call it a failure", async () => {
    const stop = new AbortController();
    const server = await target(() => stop.abort());
    const at = `http://127.0.0.1:${server.port}`;
    const effect = await send(at, { method: "POST" }, reaching(at), stop.signal);
    expect(effect).toMatchObject({ kind: "unknown", code: "stopped", again: "same_key" });
  });
});
