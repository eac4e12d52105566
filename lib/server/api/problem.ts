import type { Refused } from "@/db/store/refuse";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { type Refusal, type RefusalCode, refusalRule } from "@/lib/protocol/refusals";

export const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

const PROBLEM_HEADERS = { ...JSON_HEADERS, "content-type": "application/problem+json; charset=utf-8" } as const;

/** A refusal as RFC 9457 `application/problem+json`: the code's own facts stand beside the members that all have. */
export function problemOf(refusal: Refusal | Refused, now: number = Date.now()): Response {
  const { status, title, advice } = refusalRule(refusal.code);
  const retryAfter = retryAfterSeconds(refusal, now);
  const body = present({
    ...refusal.facts,
    type: `urn:holdpoint:refusal:${refusal.code}`,
    status,
    code: refusal.code,
    title,
    detail: refusal.detail,
    advice,
    path: refusal.path,
    run_id: "runId" in refusal ? (refusal.runId ?? undefined) : undefined,
    trace_seq: "traceSeq" in refusal ? (refusal.traceSeq ?? undefined) : undefined,
  });
  return new Response(canonicalJson(body), {
    status,
    headers: retryAfter === null ? PROBLEM_HEADERS : { ...PROBLEM_HEADERS, "retry-after": String(retryAfter) },
  });
}

/** A fault of ours: the caller gets an id to name, and nothing of what happened. */
export function faultProblem(incident: string): Response {
  const body = {
    type: "urn:holdpoint:fault",
    status: 500,
    code: "internal_error",
    title: "Something went wrong here",
    advice: "Nothing is known to have been done. Read the state before you send it again.",
    incident,
  };
  return new Response(canonicalJson(body), { status: 500, headers: PROBLEM_HEADERS });
}

export const METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"] as const;

/** A path that a door has, asked by another method. No refusal either. */
export function wrongMethod(allowed: string): Response {
  const body = {
    type: "about:blank",
    status: 405,
    title: "Not by this method",
    advice: `Send ${allowed}. The calls are listed at /api/v1/openapi.json.`,
  };
  return new Response(canonicalJson(body), { status: 405, headers: { ...PROBLEM_HEADERS, allow: allowed } });
}

/** A path that no door has. No refusal: nobody was asked for anything. */
export function noSuchCall(): Response {
  const body = {
    type: "about:blank",
    status: 404,
    title: "No such call",
    advice: "The calls are listed at /api/v1/openapi.json.",
  };
  return new Response(canonicalJson(body), { status: 404, headers: PROBLEM_HEADERS });
}

/** When time cures a code: the fact that says until when. */
const UNTIL: Partial<Readonly<Record<RefusalCode, string>>> = {
  in_progress: "lease_until",
  in_undo_window: "effective_at",
};

function retryAfterSeconds({ code, facts }: Refusal, now: number): number | null {
  if (!refusalRule(code).retryAfter) return null;
  const told = facts?.retry_after_s;
  if (typeof told === "number") return told;
  const until = facts?.[UNTIL[code] ?? ""];
  return typeof until === "string" ? Math.max(1, Math.ceil((Date.parse(until) - now) / 1000)) : 1;
}

/** Without what is not there: an absent field and `undefined` are the same to us, and JSON has only the first. */
export function present(fields: { readonly [name: string]: JsonObject[string] | undefined }): JsonObject {
  const kept: { [name: string]: JsonObject[string] } = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept;
}
