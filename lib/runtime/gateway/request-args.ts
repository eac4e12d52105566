import { isObject, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { type HttpMethod, httpMethodOf } from "@/lib/protocol/gateway-actions";
import { ok, type Result, refuse } from "@/lib/result";
import type { Effect } from "./effect";

/** A request as its arguments spell it, judged. */
export interface RequestArgs {
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

const MOST_BODY_BYTES = 262_144;
const MOST_HEADER_BYTES = 8_192;

/**
 * Headers that no approved text may set: those that the connection itself needs, those that say who asks, and those by which a proxy
 * or the target would take the request for another one. The effect key is ours to give.
 */
const OURS = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "idempotency-key",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);
const OUR_PREFIXES = ["proxy-", "x-forwarded-"];

const FIELDS = ["url", "method", "headers", "body"];

/**
 * `{method?, headers?, body?, url?}`: the body a text, every header a text without control characters; the URL, where a model wrote it
 * among its arguments, the target itself.
 */
export function readRequestArgs(args: JsonValue, target: string): Result<RequestArgs, Effect> {
  if (!isObject(args)) return invalid("args is an object");
  if (Object.keys(args).some((key) => !FIELDS.includes(key))) return invalid(`args has only ${FIELDS.join(", ")}`);
  if (args.url !== undefined && args.url !== target) return invalid("args.url is another address than the output");
  const method = httpMethodOf(args);
  if (method === null) return invalid("args.method is GET, HEAD, POST, PUT, PATCH or DELETE");
  const headers = readHeaders(args.headers ?? {});
  if (!headers.ok) return headers;
  const body = args.body ?? null;
  if (body !== null && typeof body !== "string") return invalid("args.body is a text");
  if (body !== null && (method === "GET" || method === "HEAD")) return invalid(`${method} has no body`);
  const bytes = body === null ? null : Buffer.from(body, "utf8");
  if (bytes && bytes.length > MOST_BODY_BYTES) {
    return refuse({ kind: "failed", code: "too_large", detail: `a body has at most ${MOST_BODY_BYTES} bytes` });
  }
  return ok({ method, headers: headers.value, body: bytes });
}

function readHeaders(value: JsonValue): Result<Record<string, string>, Effect> {
  if (!isObject(value)) return invalid("args.headers is an object of texts");
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(value as JsonObject)) {
    // RFC 9110, 5.1 and 5.5; bytes beyond ASCII are read differently by different servers.
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) return invalid("a header's name is a token");
    if (typeof text !== "string" || !/^[\t -~]*$/.test(text)) return invalid(`header ${name} is a text of one line`);
    const lower = name.toLowerCase();
    if (OURS.has(lower) || OUR_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
      return refuse({ kind: "failed", code: "header_not_allowed", detail: `header ${lower} is not for a call to set` });
    }
    if (Object.hasOwn(headers, lower)) return invalid(`header ${lower} stands twice`);
    headers[lower] = text;
  }
  const bytes = Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (bytes > MOST_HEADER_BYTES) {
    return refuse({ kind: "failed", code: "too_large", detail: `headers have at most ${MOST_HEADER_BYTES} bytes` });
  }
  return ok(headers);
}

function invalid(detail: string): { readonly ok: false; readonly refusal: Effect } {
  return refuse({ kind: "invalid_args", detail } as const);
}
