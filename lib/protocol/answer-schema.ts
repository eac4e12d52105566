import { type Schema, Validator } from "@cfworker/json-schema";
import { isArray, isObject, type JsonValue } from "./canonical-json";

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
