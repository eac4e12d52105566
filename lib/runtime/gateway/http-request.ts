import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { stored } from "@/lib/protocol/book/stored";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import { deadline } from "../deadline";
import { type Destination, destinationOf } from "./destination";
import type { Act, Effect, FailureCode, Reach } from "./effect";
import { bare } from "./hosts";
import { type RequestArgs, readRequestArgs } from "./request-args";

const MOST_ANSWER_BYTES = 262_144;
const LIMIT_MS = 30_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const TOLD_HEADERS = ["content-type", "etag", "last-modified", "location", "retry-after"] as const;
const LONGEST_HEADER = 1_000;

/**
 * Send one request to a host on the list. Result: `{status, headers, body, encoding: 'text' | 'base64', sha256, truncated}`; the hash
 * is of the bytes that were kept. What writes carries the effect key as `Idempotency-Key`, so that it may be sent again under it when
 * nobody knows how it ended. Source: protocol §6 "Effects".
 */
export async function httpRequest(act: Act, reach: Reach, stop: AbortSignal): Promise<Effect> {
  const target = stored(act.target);
  if (typeof target !== "string" || !URL.canParse(target))
    return { kind: "invalid_args", detail: "the output is a URL" };
  const args = readRequestArgs(stored(act.args), target);
  if (!args.ok) return args.refusal;
  const limit = deadline(reach.limitMs ?? LIMIT_MS, stop);
  const gone = (): FailureCode => (limit.isOver() ? "timed_out" : "stopped");
  try {
    const destination = await Promise.race([destinationOf(new URL(target), reach), whenAborted(limit.signal)]);
    if (destination === null) return { kind: "failed", code: gone(), detail: "nothing was sent" };
    if (!destination.ok) return destination.refusal;
    return await exchange(destination.value, args.value, act.effectKey, limit.signal, gone);
  } finally {
    limit.leave();
  }
}

function exchange(
  destination: Destination,
  args: RequestArgs,
  effectKey: string,
  ended: AbortSignal,
  gone: () => FailureCode,
): Promise<Effect> {
  const writes = args.method !== "GET" && args.method !== "HEAD";
  return new Promise((resolve) => {
    const request = open(destination, args, writes ? effectKey : null, ended);
    // From here the target may have read it, whatever comes next.
    let mayBeSent = false;
    let isAnswered = false;
    request.once("socket", (socket) => socket.once(secureOf(destination.url), () => (mayBeSent = true)));
    const lost = (code: FailureCode) =>
      resolve(
        writes && mayBeSent
          ? { kind: "unknown", code, detail: "the request was sent and no whole answer came", again: "same_key" }
          : { kind: "failed", code, detail: mayBeSent ? "no whole answer came" : "nothing was sent" },
      );
    const broken = () => lost(ended.aborted ? gone() : mayBeSent ? "cut" : "unreachable");
    request.once("error", broken);
    // An answer that changes the protocol ends the connection without an error, and without a response.
    request.once("close", () => (isAnswered ? undefined : broken()));
    ended.addEventListener("abort", broken, { once: true });
    request.once("response", (response) => {
      isAnswered = true;
      response.once("error", broken);
      void readBody(response, args.method === "HEAD").then((read) => {
        if (read === null) return broken();
        request.destroy();
        resolve(effectOf(response, read));
      });
    });
    request.end(args.body ?? undefined);
  });
}

/** No pool: every request has a connection of its own, to the address that was judged. */
function open({ url, address }: Destination, args: RequestArgs, key: string | null, ended: AbortSignal): ClientRequest {
  const options: RequestOptions = {
    method: args.method,
    host: bare(url.hostname),
    port: url.port,
    path: url.pathname + url.search,
    agent: false,
    signal: ended,
    maxHeaderSize: 16_384,
    lookup: (_host, asked, answer) =>
      asked.all ? answer(null, [address]) : answer(null, address.address, address.family),
    headers: {
      "user-agent": "holdpoint",
      ...args.headers,
      host: url.host,
      connection: "close",
      ...(args.body === null ? {} : { "content-length": String(args.body.length) }),
      ...(key === null ? {} : { "idempotency-key": key }),
    },
  };
  return url.protocol === "https:" ? https.request(options) : http.request(options);
}

function secureOf(url: URL): "secureConnect" | "connect" {
  return url.protocol === "https:" ? "secureConnect" : "connect";
}

interface Body {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

/** At most so many bytes; null when the connection broke before the body's end. */
function readBody(response: IncomingMessage, isHead: boolean): Promise<Body | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MOST_ANSWER_BYTES) {
        resolve({ bytes: Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES), truncated: true });
      }
    });
    response.once("end", () => resolve(response.complete || isHead ? whole(chunks) : null));
    response.once("close", () => resolve(response.complete ? whole(chunks) : null));
  });
}

function whole(chunks: readonly Buffer[]): Body {
  return { bytes: Buffer.concat(chunks), truncated: false };
}

function effectOf(response: IncomingMessage, { bytes, truncated }: Body): Effect {
  const status = response.statusCode ?? 0;
  const headers = Object.fromEntries(
    TOLD_HEADERS.flatMap((name) => {
      const text = response.headers[name];
      return text === undefined ? [] : [[name, text.slice(0, LONGEST_HEADER)]];
    }),
  );
  if (REDIRECTS.has(status)) {
    const detail = "the target answered with a redirect, which is not followed: propose the other address";
    return { kind: "failed", code: "redirected", detail, facts: { status, headers } };
  }
  return { kind: "answered", output: { status, headers, ...spell(bytes), sha256: sha256Hex(bytes), truncated } };
}

/** As text where the bytes are UTF-8. A text that was cut may end within a character: that character is left out. */
function spell(bytes: Buffer): JsonObject {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { body: decoder.decode(bytes, { stream: true }), encoding: "text" };
  } catch {
    return { body: bytes.toString("base64"), encoding: "base64" };
  }
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}
