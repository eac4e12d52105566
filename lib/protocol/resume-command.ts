import { ok, type Result, refuse } from "../result";
import type { ResultKind } from "./await-target";
import { isObject, type JsonObject, type JsonValue } from "./canonical-json";
import { pathTo } from "./json-path";
import { type Refusal, refusalAt } from "./refusals";
import type { DelegationOrigin } from "./run";
import type { ResumeTicket } from "./ticket";

/** A typed answer to a wait. Source: protocol §4. */
export type ResumeResult =
  | { readonly kind: "permission"; readonly decision: "allow"; readonly note?: string; readonly payload?: JsonValue }
  | { readonly kind: "permission"; readonly decision: "deny"; readonly reason?: string }
  /** Any JSON; where the ticket has a schema, one that satisfies it. */
  | { readonly kind: "input"; readonly input: JsonValue }
  | { readonly kind: "tool_result"; readonly call_id: string; readonly output: JsonValue }
  | { readonly kind: "continue" };

/** An answer bound to one wait. `now_ms` is the database clock's, read after the run's lock; one from outside is ignored. */
export interface ResumeCommand {
  readonly correlation_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly snapshot_id: string;
  readonly catalog_fingerprint: string;
  readonly delegation_origin: DelegationOrigin | null;
  readonly result: ResumeResult;
  readonly now_ms: number;
}

/**
 * Every identity is the committed ticket's. Only the answer and the clock (epoch ms) come from outside.
 * Source: protocol §4, [S0].
 */
export function resumeCommandFromTicket(ticket: ResumeTicket, result: ResumeResult, nowMs: number): ResumeCommand {
  return {
    correlation_id: ticket.correlation_id,
    run_id: ticket.run_id,
    thread_id: ticket.thread_id,
    snapshot_id: ticket.snapshot_id,
    catalog_fingerprint: ticket.catalog_fingerprint,
    delegation_origin: ticket.delegation_origin,
    result,
    now_ms: Math.floor(nowMs),
  };
}

export const ResumeCommand = { fromTicket: resumeCommandFromTicket } as const;

type ResultRefusal = Refusal<"invalid_verdict" | "unknown_field" | "invalid_body">;
type Decoded = Result<ResumeResult, ResultRefusal>;

/** Each kind of answer and how its fields are read; a kind that nobody reads does not compile. */
const DECODERS: Readonly<Record<ResultKind, (fields: JsonObject, path: string) => Decoded>> = {
  permission: decodePermission,
  input: decodeInput,
  tool_result: decodeToolResult,
  continue: (fields, path) => extraField(fields, ["kind"], path) ?? ok({ kind: "continue" }),
};

/**
 * Read an answer from JSON. A missing or odd verdict is `invalid_verdict` and never read as consent: no coercion, no default,
 * no other spelling. A field that the answer does not have is `unknown_field`.
 */
export function decodeResumeResult(value: JsonValue, path = "result"): Decoded {
  if (!isObject(value)) return refuse(refusalAt("invalid_verdict", path, "an answer is an object with its kind"));
  const kind = own(value, "kind");
  if (!isResultKind(kind)) return refuse(refusalAt("invalid_verdict", pathTo(path, "kind"), "no kind of answer"));
  return DECODERS[kind](value, path);
}

function decodePermission(fields: JsonObject, path: string): Decoded {
  const decision = own(fields, "decision");
  if (decision === "allow") {
    const note = own(fields, "note");
    const payload = own(fields, "payload");
    if (!isTextOrAbsent(note)) return refuse(refusalAt("invalid_body", pathTo(path, "note"), "a note is text"));
    return (
      extraField(fields, ["kind", "decision", "note", "payload"], path) ??
      ok({
        kind: "permission",
        decision,
        ...(note === undefined ? {} : { note }),
        ...(payload === undefined ? {} : { payload }),
      })
    );
  }
  if (decision !== "deny") return refuse(refusalAt("invalid_verdict", pathTo(path, "decision"), "say allow or deny"));
  const reason = own(fields, "reason");
  if (!isTextOrAbsent(reason)) return refuse(refusalAt("invalid_body", pathTo(path, "reason"), "a reason is text"));
  return (
    extraField(fields, ["kind", "decision", "reason"], path) ??
    ok({ kind: "permission", decision, ...(reason === undefined ? {} : { reason }) })
  );
}

function decodeInput(fields: JsonObject, path: string): Decoded {
  const input = own(fields, "input");
  if (input === undefined) return refuse(refusalAt("invalid_verdict", pathTo(path, "input"), "the input is missing"));
  return extraField(fields, ["kind", "input"], path) ?? ok({ kind: "input", input });
}

function decodeToolResult(fields: JsonObject, path: string): Decoded {
  const callId = own(fields, "call_id");
  const output = own(fields, "output");
  if (typeof callId !== "string") return refuse(refusalAt("invalid_body", pathTo(path, "call_id"), "name the call"));
  if (output === undefined) return refuse(refusalAt("invalid_body", pathTo(path, "output"), "the output is missing"));
  return (
    extraField(fields, ["kind", "call_id", "output"], path) ?? ok({ kind: "tool_result", call_id: callId, output })
  );
}

function extraField(fields: JsonObject, known: readonly string[], path: string) {
  const extra = Object.keys(fields).find((name) => !known.includes(name));
  return extra === undefined ? null : refuse(refusalAt("unknown_field", pathTo(path, extra)));
}

/** Own fields only: nothing is ever read from a prototype. */
function own(fields: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isTextOrAbsent(value: JsonValue | undefined): value is string | undefined {
  // A column of text cannot hold U+0000.
  return value === undefined || (typeof value === "string" && !value.includes("\0"));
}

function isResultKind(value: JsonValue | undefined): value is ResultKind {
  return typeof value === "string" && Object.hasOwn(DECODERS, value);
}
