import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { ZodError } from "zod";
import type { ModelFailure } from "./model";

/** What the provider sent is more than one answer may hold. */
export class AnswerTooLarge extends Error {}

/** How long to wait where the provider does not say. Our own policy: the client's retries are off. */
const RETRY_MS = 1_000;
const RATE_LIMITED_MS = 5_000;
const LONGEST_WAIT_MS = 3_600_000;

/**
 * A fault of the client or of the connection as a failure. Nothing of the answer's text stands in it but the provider's own code word,
 * so that no secret can: providers repeat keys in their messages.
 *
 * @throws the error itself where it is a fault of ours.
 */
export function failureOf(error: unknown, nowMs: number): ModelFailure {
  if (error instanceof AnswerTooLarge) return malformed("the answer is larger than an answer may be", null);
  if (error instanceof SyntaxError) return malformed("a part of the answer is no JSON");
  if (error instanceof ZodError) {
    const where = error.issues[0]?.path.join(".") ?? "";
    return malformed(`a part of the answer has another shape than a chat completion's${where ? ` (${where})` : ""}`);
  }
  if (error instanceof APIConnectionTimeoutError) return timedOut("the provider did not connect in time");
  if (error instanceof APIConnectionError) {
    return { code: "model_unreachable", detail: "the provider is not reached", retryInMs: RETRY_MS };
  }
  if (error instanceof APIError) return ofStatus(error, nowMs);
  // The client lets a body that breaks off through as it is: undici's "terminated", and node's own socket errors.
  if (error instanceof TypeError && error.message === "terminated")
    return cut("the connection broke within the answer");
  throw error;
}

function ofStatus(error: APIError, nowMs: number): ModelFailure {
  const status: unknown = error.status;
  const word = codeWord(error.code) ?? codeWord(error.type);
  const said = word === null ? "" : ` (${word})`;
  if (typeof status !== "number") return cut(`the provider broke off its answer with an error${said}`);
  const detail = `the provider answered ${status}${said}`;
  const waitMs = retryAfterMs(error.headers, nowMs);
  if (status === 429) return { code: "model_rate_limited", detail, retryInMs: waitMs ?? RATE_LIMITED_MS };
  if (status === 408) return { code: "model_timeout", detail, retryInMs: waitMs ?? RETRY_MS };
  if (status >= 500) return { code: "model_unreachable", detail, retryInMs: waitMs ?? RETRY_MS };
  const why = status >= 300 && status < 400 ? "; a redirect is not followed" : "";
  return { code: "model_refused", detail: detail + why, retryInMs: null };
}

/** Such as `invalid_api_key` or `context_length_exceeded`: a word of a list, never a sentence. */
function codeWord(code: unknown): string | null {
  return typeof code === "string" && /^[a-z]+(?:_[a-z]+){0,6}$/.test(code) && code.length <= 60 ? code : null;
}

/** `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3), at most an hour; null when it says nothing. */
function retryAfterMs(headers: Headers | undefined, nowMs: number): number | null {
  const text = headers?.get("retry-after")?.trim();
  if (!text) return null;
  const waitMs = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(Math.ceil(waitMs), 0), LONGEST_WAIT_MS);
}

export function malformed(detail: string, retryInMs: number | null = RETRY_MS): ModelFailure {
  return { code: "model_malformed", detail, retryInMs };
}

export function timedOut(detail: string): ModelFailure {
  return { code: "model_timeout", detail, retryInMs: RETRY_MS };
}

export function cut(detail: string): ModelFailure {
  return { code: "model_cut", detail, retryInMs: RETRY_MS };
}

/** The worker let go: whoever takes the run up next may ask at once. */
export function letGo(): ModelFailure {
  return { code: "model_cut", detail: "the worker stopped waiting for the answer", retryInMs: 0 };
}
