import { ok, type Result, refuse } from "../result";
import { hasLoneSurrogate, type Sha256, sha256Hex } from "./hash";
import { pathTo } from "./json-path";
import { JsonReader, Stop } from "./json-reader";

/**
 * JSON without loss. A `bigint` is an integer literal too large for a double to hold exactly; every other number is a double.
 * Objects that come from our parser have no prototype, so `__proto__` is a key like any other.
 * Source: protocol §2.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** The RFC 8785 text of a value: what is hashed, stored, shown and executed. */
export type CanonicalJson = string & { readonly __brand: "CanonicalJson" };

/** What keeps a text or a value from being hashed, and where it stands. Source: protocol §2. */
export interface JsonRefusal {
  readonly code:
    | "duplicate_key"
    | "number_not_representable"
    | "invalid_unicode"
    | "too_deep"
    | "too_many_keys"
    | "invalid_body";
  /** Such as `args.items[3]["a key"]`; the empty text is the whole document. */
  readonly path: string;
  readonly detail: string;
}

export interface JsonLimits {
  /** Nesting of arrays and objects; the outermost is 1. */
  readonly maxDepth: number;
  /** Object keys in all, at every depth. */
  readonly maxKeys: number;
}

/** What one call's arguments may hold. Source: protocol §2. */
export const ARGS_LIMITS: JsonLimits = { maxDepth: 64, maxKeys: 10_000 };

/**
 * Read a JSON text (RFC 8259, strictly) without loss: an integer literal keeps its digits, `-0` is 0, any other number is a double.
 *
 * Refuses what has no single canonical form: `duplicate_key` (also one spelt with escapes), `number_not_representable`
 * (`1e400`, and `1e-400`, which a double would turn into 0), `invalid_unicode` (a lone surrogate); what is over the limits:
 * `too_deep`, `too_many_keys`; and what is no JSON: `invalid_body`. Source: protocol §2.
 */
export function readJson(text: string, limits: JsonLimits = ARGS_LIMITS): Result<JsonValue, JsonRefusal> {
  try {
    return ok(new JsonReader(text, limits).document());
  } catch (stop) {
    if (stop instanceof Stop) return refuse(stop.refusal);
    throw stop;
  }
}

/** As `readJson`, from UTF-8 bytes: refuses invalid UTF-8 (`invalid_unicode`) and a byte order mark (`invalid_body`). */
export function readJsonBytes(bytes: Uint8Array, limits: JsonLimits = ARGS_LIMITS): Result<JsonValue, JsonRefusal> {
  let text: string;
  try {
    // `ignoreBOM` keeps the mark in the text, where the grammar refuses it; without it the decoder drops it silently.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse({ code: "invalid_unicode", path: "", detail: "the bytes are not UTF-8" });
  }
  return readJson(text, limits);
}

/**
 * RFC 8785: keys in UTF-16 code unit order, numbers in their shortest ES form, no white space. A `bigint` keeps its digits.
 *
 * Throws a TypeError on what no JSON text could have held (NaN, a lone surrogate, undefined): our own code made such a value.
 */
export function canonicalJson(value: JsonValue): CanonicalJson {
  return write(value) as CanonicalJson;
}

/** The plain SHA-256 of the canonical text. Source: protocol §2. */
export function hashJson(value: JsonValue): Sha256 {
  return sha256Hex(canonicalJson(value));
}

function write(value: JsonValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return writeNumber(value);
  if (typeof value === "string") return writeString(value);
  if (isArray(value)) return `[${value.map(write).join(",")}]`;
  if (!isObject(value)) throw new TypeError(`a value of type ${typeof value} is no JSON`);
  // The default sort compares UTF-16 code units, which is the order that RFC 8785 asks for.
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${writeString(name)}:${write(member(value, name))}`).join(",")}}`;
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON number`);
  return Object.is(value, -0) ? "0" : String(value);
}

function writeString(value: string): string {
  if (hasLoneSurrogate(value)) throw new TypeError("a lone surrogate is no Unicode text");
  // For well-formed text JSON.stringify escapes exactly what RFC 8785 §3.2.2.2 names, in its spelling.
  return JSON.stringify(value);
}

/** `Array.isArray` alone does not narrow a readonly array out of the union. */
export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function member(value: JsonObject, name: string): JsonValue {
  const found = value[name];
  if (found === undefined) throw new TypeError(`undefined under ${JSON.stringify(name)} is no JSON`);
  return found;
}

/**
 * Judge one part of a body that was already read by limits of its own: a call's `args` count from 1 wherever they stand in the envelope.
 * Refuses with `too_deep` at the first container below the limit, or with `too_many_keys` at the object that crosses it.
 */
export function checkLimits(value: JsonValue, limits: JsonLimits, path: string): Result<JsonValue, JsonRefusal> {
  let keys = 0;
  function visit(at: JsonValue, where: string, depth: number): JsonRefusal | null {
    if (typeof at !== "object" || at === null) return null;
    if (depth > limits.maxDepth) return tooDeep(where, limits);
    if (isArray(at)) return firstRefusal(at.entries(), (index, item) => visit(item, pathTo(where, index), depth + 1));
    const members = Object.entries(at);
    keys += members.length;
    if (keys > limits.maxKeys) return tooManyKeys(where, limits);
    return firstRefusal(members, (name, item) => visit(item, pathTo(where, name), depth + 1));
  }
  const refusal = visit(value, path, 1);
  return refusal ? refuse(refusal) : ok(value);
}

function firstRefusal<Step>(
  members: Iterable<readonly [Step, JsonValue]>,
  judge: (step: Step, item: JsonValue) => JsonRefusal | null,
): JsonRefusal | null {
  for (const [step, item] of members) {
    const refusal = judge(step, item);
    if (refusal) return refusal;
  }
  return null;
}

function tooDeep(path: string, limits: JsonLimits): JsonRefusal {
  return { code: "too_deep", path, detail: `deeper than ${limits.maxDepth}` };
}

function tooManyKeys(path: string, limits: JsonLimits): JsonRefusal {
  return { code: "too_many_keys", path, detail: `more than ${limits.maxKeys} keys in all` };
}
