import type { LookupAddress } from "node:dns";
import net, { type AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { figure } from "@/db/testing/figure";
import { shapeOf } from "@/lib/protocol/gateway-actions";
import { checkOutput } from "@/lib/protocol/proposal";
import { closeTargets, hello, reaching, send, target } from "./testing/request";

/** Listens on every loopback address of this machine, and counts whoever comes. */
const sinks: net.Server[] = [];
let port = 0;
let came = 0;
beforeAll(async () => {
  for (const host of ["127.0.0.1", "::1"]) {
    const sink = net.createServer((socket) => {
      came += 1;
      socket.on("error", () => undefined).destroy();
    });
    const isThere = await new Promise<boolean>((resolve) => {
      sink.once("error", () => resolve(false)).listen(port, host, () => resolve(true));
    });
    if (!isThere) continue;
    sinks.push(sink);
    port ||= (sink.address() as AddressInfo).port;
  }
});
afterAll(() => Promise.all(sinks.map((sink) => new Promise((resolve) => sink.close(resolve)))));
afterEach(closeTargets);

/** What a careful operator lists: names alone. */
const listed = () => `http://api.example.com:${port} api.example.com *.example.com http://localhost.example:${port}`;

/** A name leads to these, one after the other. */
const leadsTo = (...addresses: string[]) => ({
  resolve: async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
});

/** Hosts that some parser takes for this machine or for what is near it. */
const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "00000177.1",
  "2130706433",
  "017700000001",
  "127.0.0.1.",
  "127.000.000.001",
  "127.255.255.254",
  "0",
  "0.0.0.0",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[fd00::1]",
  "[fe80::1]",
  "169.254.169.254",
  "10.0.0.1",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "localtest.me",
  "127.0.0.1.nip.io",
  "api.example.com.",
  "api.example.com.evil.example",
  "user@127.0.0.1",
  "api.example.com@127.0.0.1",
  "api.example.com:80@127.0.0.1",
  "api.example.com%2f@127.0.0.1",
  "127.0.0.1#@api.example.com",
  "127.0.0.1?@api.example.com",
  "127.0.0.1\\@api.example.com",
  "api.example.com\\@127.0.0.1",
  "127.0.0.1%00.example.com",
  "127。0。0。1",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
  "127.0.0.1\t.example.com",
  "127.0.0.1\n.example.com",
  "ap\u00adi.example.com",
];

const SCHEMES = ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "data:text/plain,x", "//127.0.0.1/"];

describe("T49: a target that leads to this machine by another name", () => {
  it.each([...HOSTS.map((host) => `http://${host}:PORT/`), ...SCHEMES])("%j: nobody comes", async (spelt) => {
    const url = spelt.replace("PORT", String(port));
    const before = came;
    const effect = await send(url, { method: "POST", body: "x" }, reaching(listed(), leadsTo("127.0.0.1")));
    expect(effect?.kind === "failed" || effect?.kind === "invalid_args", JSON.stringify(effect)).toBe(true);
    expect(came).toBe(before);
  });

  it.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["0.0.0.0"]],
    [["::"]],
    [["::ffff:127.0.0.1"]],
    [["::ffff:7f00:1"]],
    [["::127.0.0.1"]],
    [["64:ff9b::7f00:1"]],
    [["64:ff9b:1::7f00:1"]],
    [["2002:7f00:1::1"]],
    [["2001::7f00:1"]],
    [["fec0::1"]],
    [["100::1"]],
    [["169.254.169.254"]],
    [["fd00::1"]],
    [["fe80::1%lo"]],
    [["127.0.0.1", "93.184.215.14"]],
    [["93.184.215.14", "127.0.0.1"]],
    [["not an address"]],
  ])("a listed name that leads to %j", async (addresses) => {
    const before = came;
    const reach = reaching(listed(), leadsTo(...addresses));
    const effect = await send(`http://api.example.com:${port}/`, { method: "POST", body: "x" }, reach);
    expect(effect).toMatchObject({ kind: "failed", code: "address_not_allowed" });
    expect(came).toBe(before);
  });

  it("what it would have counted: a request to the sink itself is counted, and a listed host is reached", async () => {
    const before = came;
    await send(`http://127.0.0.1:${port}/`, {}, reaching(`http://127.0.0.1:${port}`));
    expect(came).toBe(before + 1);
    const server = await target(hello);
    const at = `http://localhost:${server.port}`;
    expect(await send(at, {}, reaching(at))).toMatchObject({ kind: "answered" });
  });
});

describe("T49: what no parser agrees on", () => {
  const shape = shapeOf("http_request", {});

  it.each(["127.0.0.1\\@api.example.com", "127.0.0.1\t.example.com", "127。0。0。1", "ap\u00adi.example.com", "a b"])(
    "%j is not even proposed: what the approver reads is what is called",
    (host) => {
      expect(checkOutput(`http://${host}/`, shape)).toMatchObject({ ok: false });
    },
  );
});

it("T50: a name that answers differently the second time: 200 of 200 go to the address that was judged", async () => {
  const judged = await target(hello, { host: "127.0.0.2", port });
  const before = came;
  const at = `http://localhost:${port}`;
  for (let round = 0; round < 200; round += 1) {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
    };
    expect(await send(at, {}, reaching(at, { resolve }))).toMatchObject({ kind: "answered" });
    expect(asked).toBe(1);
  }
  expect(judged.asked).toHaveLength(200);
  expect(came).toBe(before);
  figure("a name that changes its mind", "200 of 200 requests go to the address that was judged");
});

describe("an answer that leads elsewhere", () => {
  it("by changing the protocol is no answer, and nobody waits for it", async () => {
    const server = await target((response) => {
      response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    });
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, {}, reaching(at))).toMatchObject({ kind: "failed", code: "cut" });
  });

  it.each([100, 103])("with any number of %i before it is read all the same", async (status) => {
    const server = await target((response) => {
      response.socket?.write(`HTTP/1.1 ${status} x\r\n\r\n`.repeat(50));
      response.end("whole");
    });
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, {}, reaching(at))).toMatchObject({ kind: "answered", output: { body: "whole" } });
  });
});
