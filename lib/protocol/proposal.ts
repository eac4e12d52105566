import { ok, type Result, refuse } from "../result";
import type { IdempotencyClass } from "./call";
import { type CanonicalJson, canonicalJson, type JsonValue } from "./canonical-json";
import { type Sha256, sha256Hex } from "./hash";

/**
 * What a call would do: which tool, with which arguments, and where its effect lands (`output`: a path, a URL, a record; `null` for none).
 * Source: protocol §1.
 */
export interface Proposal {
  readonly action: string;
  readonly args: JsonValue;
  readonly output: JsonValue;
}

/** The actions that are no tool: a question to a person and a pause of the run. Source: protocol §1 "Proposal". */
export const ASK_ACTION = "ask";
export const PAUSE_ACTION = "pause";

/** A question as a proposal. Without a schema any text answers it. */
export function questionProposal(question: string, schema: JsonValue = null, options: JsonValue = null): Proposal {
  return { action: ASK_ACTION, args: { question, schema, options }, output: null };
}

export function pauseProposal(reason: string): Proposal {
  return { action: PAUSE_ACTION, args: { reason }, output: null };
}

/**
 * The canonical text of `{action, args, output}`, put together from the canonical texts that the store keeps,
 * so that what is hashed again is what was stored, byte for byte. The three keys already stand in canonical order.
 */
export function proposalText(action: string, argsText: CanonicalJson, outputText: CanonicalJson): CanonicalJson {
  return `{"action":${canonicalJson(action)},"args":${argsText},"output":${outputText}}` as CanonicalJson;
}

/** The `proposal_hash`; at a decision it is frozen as the `approval_hash`. A plain hash. Source: protocol §2. */
export function proposalHash(action: string, argsText: CanonicalJson, outputText: CanonicalJson): Sha256 {
  return sha256Hex(proposalText(action, argsText, outputText));
}

/** What the gateway makes with an action's output: a new file, an address it calls, or the folder that a program works in. */
export interface EffectShape {
  readonly effectClass: IdempotencyClass;
  readonly target: "file" | "url" | "folder";
}

export interface OutputRefusal {
  readonly code: "invalid_output";
  readonly path: "output";
  readonly detail: string;
}

/**
 * Judge a target when the call is proposed. It is hashed as given, so only an absolute path names the same file for everyone, and
 * only a whole `http:` or `https:` URL the same address. A program's folder may be left out. Source: protocol §6 "Effects".
 */
export function checkOutput(output: JsonValue, { target }: EffectShape): Result<JsonValue, OutputRefusal> {
  switch (target) {
    case "file":
      return isPath(output) ? ok(output) : invalidOutput("a file target is an absolute path");
    case "url":
      return isHttpUrl(output) ? ok(output) : invalidOutput("a request's target is a whole http or https URL");
    case "folder":
      return output === null || isPath(output)
        ? ok(output)
        : invalidOutput("a program's folder is an absolute path, or null");
  }
}

function invalidOutput(detail: string) {
  return refuse({ code: "invalid_output", path: "output", detail } as const);
}

function isPath(output: JsonValue): boolean {
  return typeof output === "string" && isAbsolutePath(output);
}

/** Hidden characters and blanks are what a URL parser drops or moves: the text that was approved must be the address that is called. */
function isHttpUrl(output: JsonValue): boolean {
  if (typeof output !== "string" || !/^https?:\/\/[!-~]+$/i.test(output) || output.includes("\\")) return false;
  return URL.canParse(output);
}

/** POSIX or a Windows drive; a NUL ends a path early in some system calls, so none may hold one. */
export function isAbsolutePath(text: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(text) && !text.includes("\0");
}
