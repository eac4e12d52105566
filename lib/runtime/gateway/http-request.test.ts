import { afterEach, describe, expect, it } from "vitest";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Effect } from "./effect";
import { readHostRules } from "./hosts";
import { closeTargets, hello, KEY, reaching, send, target } from "./testing/request";

afterEach(closeTargets);

describe("a request to a host on the list", () => {
  it("tells what the target answered, with the hash of its body", async () => {
    const server = await target((response) => {
      response.writeHead(404, { "content-type": "text/plain", etag: '"1"', "set-cookie": "secret=1" }).end("nö\0");
    });
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(`${at}/a%20b?c=d#e`, { headers: { "X-One": "1" } }, reaching(at))).toEqual({
      kind: "answered",
      output: {
        status: 404,
        headers: { "content-type": "text/plain", etag: '"1"' },
        body: "nö\0",
        encoding: "text",
        sha256: sha256Hex("nö\0"),
        truncated: false,
      },
    });
    expect(server.asked).toMatchObject([
      { method: "GET", url: "/a%20b?c=d", headers: { "x-one": "1", host: `127.0.0.1:${server.port}` }, body: "" },
    ]);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "%s hands the effect key to the target, and its body as it is",
    async (method) => {
      const server = await target(hello);
      const at = `http://127.0.0.1:${server.port}`;
      expect(await send(at, { method, body: '{"a":"ö"}' }, reaching(at))).toMatchObject({ kind: "answered" });
      expect(server.asked).toMatchObject([{ method, headers: { "idempotency-key": KEY }, body: '{"a":"ö"}' }]);
    },
  );

  it.each(["GET", "HEAD"])("%s only reads and carries no key", async (method) => {
    const server = await target(hello);
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, { method }, reaching(at))).toMatchObject({ kind: "answered", output: { status: 200 } });
    expect(server.asked[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  it("what is no UTF-8 comes as base64", async () => {
    const server = await target((response) => response.end(Buffer.from([0xff, 0x00])));
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, {}, reaching(at))).toMatchObject({ output: { body: "/wA=", encoding: "base64" } });
  });

  it("a huge answer is cut, also within a character, and says so", async () => {
    const server = await target((response) => {
      response.on("error", () => undefined);
      response.end(Buffer.concat([Buffer.from("x"), Buffer.from("ö".repeat(2_000_000))]));
    });
    const at = `http://127.0.0.1:${server.port}`;
    const effect = await send(at, {}, reaching(at));
    expect(effect).toMatchObject({ kind: "answered", output: { encoding: "text", truncated: true } });
    const { body } = (effect as Extract<Effect, { kind: "answered" }>).output;
    expect(Buffer.byteLength(String(body))).toBe(262_143);
  });
});

describe("where a request may go", () => {
  it("nowhere, while the list is empty", async () => {
    const server = await target(hello);
    const effect = await send(`http://127.0.0.1:${server.port}/`, {}, reaching(""));
    expect(effect).toMatchObject({ kind: "failed", code: "host_not_allowed" });
    expect(server.asked).toEqual([]);
  });

  it.each([
    ["another host", "https://evil.example/"],
    ["another port", "https://api.example.com:444/"],
    ["http in place of https", "http://api.example.com/"],
    ["a host that ends alike", "https://xapi.example.com/"],
    ["the wildcard's own name", "https://wild.example/"],
    ["a name that ends like the wildcard", "https://evilwild.example/"],
    ["a dot at the end", "https://api.example.com./"],
    ["a user before the host", "https://api.example.com@evil.example/"],
    ["a user of an allowed host", "https://user:word@api.example.com/"],
  ])("not to %s", async (_what, url) => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return [];
    };
    const effect = await send(url, {}, reaching("api.example.com *.wild.example", { resolve }));
    expect(effect).toMatchObject({ kind: "failed", code: "host_not_allowed" });
    expect(asked).toEqual([]);
  });

  it.each(["https://API.example.com/", "https://api.example.com:443/", "https://a.b.wild.example/"])(
    "%s is on the list",
    async (url) => {
      const effect = await send(url, {}, reaching("api.example.com *.wild.example", { resolve: async () => [] }));
      expect(effect).toMatchObject({ kind: "failed", code: "host_not_found" });
    },
  );

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "fd00::1",
    "fe80::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::1",
  ])("not to a listed name that leads to %s, alone or beside a public address", async (address) => {
    const private1 = { address, family: address.includes(":") ? 6 : 4 };
    for (const addresses of [[private1], [{ address: "93.184.215.14", family: 4 }, private1]]) {
      const effect = await send(
        "https://api.example.com/",
        {},
        reaching("api.example.com", { resolve: async () => addresses }),
      );
      expect(effect).toMatchObject({ kind: "failed", code: "address_not_allowed" });
    }
  });

  it("not by http to a port that https may use", async () => {
    const effect = await send("http://127.0.0.1:8443/", {}, reaching("127.0.0.1:8443"));
    expect(effect).toMatchObject({ kind: "failed", code: "host_not_allowed" });
  });

  it.each(["*.com", "*.127.0.0.1", "*", "ftp://a.example", "a.example/path", "a.example:99999"])(
    "%s is no entry of the list",
    (entry) => {
      expect(readHostRules(`b.example ${entry}`)).toEqual({ ok: false, refusal: entry });
    },
  );

  it("not to a private address that is spelt in the URL in another way", async () => {
    const effect = await send("http://2130706433:1/", {}, reaching("http://10.0.0.1:1 http://example.com:1"));
    expect(effect).toMatchObject({ kind: "failed", code: "host_not_allowed" });
  });

  it("localhost leads to this machine alone, whatever its name is resolved to", async () => {
    const resolve = async () => [{ address: "10.0.0.1", family: 4 }];
    const effect = await send("http://localhost:1/", {}, reaching("http://localhost:1", { resolve }));
    expect(effect).toMatchObject({ kind: "failed", code: "address_not_allowed" });
  });

  it("the address that was judged is the one that is called: the name is asked once", async () => {
    const real = await target((response) => response.end("by name"));
    await target((response) => response.end("by address"), { host: "127.0.0.2", port: real.port });
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: "127.0.0.2", family: 4 }];
    };
    const at = `http://localhost:${real.port}`;
    expect(await send(at, {}, reaching(at, { resolve }))).toMatchObject({ output: { body: "by address" } });
    expect(asked).toBe(1);
    expect(real.asked).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])(
    "a redirect (%i) is told and not followed, also within the host",
    async (status) => {
      const server = await target((response, { url }) => {
        if (url === "/") response.writeHead(status, { location: "/secret" }).end();
        else response.end("secret");
      });
      const at = `http://127.0.0.1:${server.port}`;
      expect(await send(`${at}/`, {}, reaching(at))).toMatchObject({
        kind: "failed",
        code: "redirected",
        facts: { status, headers: { location: "/secret" } },
      });
      expect(server.asked).toHaveLength(1);
    },
  );
});

describe("a request's arguments", () => {
  const nowhere = reaching("http://127.0.0.1:1");

  it.each([
    "Host",
    "authorization",
    "Cookie",
    "Idempotency-Key",
    "Transfer-Encoding",
    "Content-Length",
    "Connection",
    "Upgrade",
    "Proxy-Authorization",
    "X-Forwarded-For",
    "X-HTTP-Method-Override",
  ])("header %s is refused by name", async (name) => {
    const effect = await send("http://127.0.0.1:1", { headers: { [name]: "x" } }, nowhere);
    expect(effect).toMatchObject({ kind: "failed", code: "header_not_allowed" });
  });

  it.each([
    [{ headers: { "x-a": "1\r\nhost: evil" } }],
    [{ headers: { "x-a": "ö" } }],
    [{ headers: { "x a": "1" } }],
    [{ headers: { "x-a": 1 } }],
    [{ headers: { "x-a": "1", "X-A": "2" } }],
    [{ headers: [] }],
    [{ method: "get" }],
    [{ method: "CONNECT" }],
    [{ body: "x" }],
    [{ method: "POST", body: { a: 1 } }],
    [{ url: "http://127.0.0.1:2" }],
    [{ redirect: "follow" }],
    ["GET"],
  ])("%j is invalid", async (args) => {
    expect(await send("http://127.0.0.1:1", args as JsonValue, nowhere)).toMatchObject({ kind: "invalid_args" });
  });

  it("may name the target again, as a model does", async () => {
    const server = await target(hello);
    const at = `http://127.0.0.1:${server.port}`;
    expect(await send(at, { url: at }, reaching(at))).toMatchObject({ kind: "answered" });
  });

  it("a body and headers that are too large are not sent", async () => {
    const body = "x".repeat(262_145);
    expect(await send("http://127.0.0.1:1", { method: "POST", body }, nowhere)).toMatchObject({ code: "too_large" });
    const headers = { "x-a": "x".repeat(8_193) };
    expect(await send("http://127.0.0.1:1", { headers }, nowhere)).toMatchObject({ code: "too_large" });
  });
});
