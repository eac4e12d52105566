import { type Schema, Validator } from "@cfworker/json-schema";
import { isArray, isObject, type JsonValue } from "./canonical-json";

/** How a process judges an answer: one that others share ends a judgement that takes too long. */
export type SatisfiesSchema = (schema: JsonValue, answer: JsonValue) => boolean;

/** Keywords with which a short schema makes a judgement of any length: expressions that go back, and what is said once and meant often. */
const MAY_TAKE_LONG = new Set(["pattern", "patternProperties", "$ref", "$dynamicRef", "$recursiveRef"]);

/** Whether a schema is judged within a moment, whatever the answer. An agent wrote it; a page must not stand still by it. */
export function isQuicklyJudged(schema: JsonValue): boolean {
  if (isArray(schema)) return schema.every(isQuicklyJudged);
  if (!isObject(schema)) return true;
  return Object.entries(schema).every(([name, part]) => !MAY_TAKE_LONG.has(name) && isQuicklyJudged(part));
}

/**
 * Whether an answer satisfies a ticket's JSON Schema (draft 2020-12). Without a schema (`null`) everything does.
 *
 * A schema that the validator cannot use admits nothing: an unreadable demand must not become none.
 */
export function satisfiesSchema(schema: JsonValue, answer: JsonValue): boolean {
  if (schema === null || schema === true) return true;
  if (!isObject(schema)) return false;
  try {
    // A fresh copy: the validator marks the schema it walks, and ours may be frozen or shared.
    return new Validator(plain(schema) as Schema, "2020-12").validate(plain(answer)).valid;
  } catch {
    return false;
  }
}

/** The validator knows doubles only; for type and range a large integer's double is near enough, and the answer itself keeps its digits. */
function plain(value: JsonValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (isArray(value)) return value.map(plain);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
  return value;
}
