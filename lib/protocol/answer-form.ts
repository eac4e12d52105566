import { isQuicklyJudged, satisfiesSchema } from "./answer-schema";
import { canonicalJson, isArray, isObject, type JsonValue, readJson } from "./canonical-json";

/** A question's form, made from its JSON Schema. What a form cannot ask is asked as JSON text, never left out. */
export type AnswerForm =
  | { readonly kind: "text" }
  | { readonly kind: "choice"; readonly choices: readonly JsonValue[] }
  | { readonly kind: "fields"; readonly fields: readonly AnswerField[] }
  | { readonly kind: "json" };

export interface AnswerField {
  readonly name: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "json";
  readonly required: boolean;
  readonly choices: readonly JsonValue[];
  readonly least: number | null;
  readonly most: number | null;
  readonly longest: number | null;
  readonly described: string | null;
}

export function answerForm(schema: JsonValue, options: JsonValue): AnswerForm {
  if (schema === null || schema === true)
    return isArray(options) && options.length > 0 ? { kind: "choice", choices: options } : { kind: "text" };
  if (!isObject(schema)) return { kind: "json" };
  if (isArray(schema.enum ?? null)) return { kind: "choice", choices: choicesOf(schema) };
  if (schema.type === "string") return { kind: "text" };
  const properties = schema.properties ?? null;
  if (schema.type !== "object" || properties === null || !isObject(properties)) return { kind: "json" };
  const required = isArray(schema.required ?? null) ? (schema.required as readonly JsonValue[]) : [];
  return {
    kind: "fields",
    fields: Object.keys(properties).map((name) => fieldOf(name, properties[name] ?? null, required.includes(name))),
  };
}

function fieldOf(name: string, schema: JsonValue, required: boolean): AnswerField {
  const rules = isObject(schema) ? schema : {};
  const choices = choicesOf(rules);
  return {
    name,
    type: choices.length > 0 ? "choice" : typeOf(rules.type ?? null),
    required,
    choices,
    least: numberOf(rules.minimum),
    most: numberOf(rules.maximum),
    longest: numberOf(rules.maxLength),
    described: typeof rules.description === "string" ? rules.description : null,
  };
}

function choicesOf(rules: { readonly [name: string]: JsonValue }): readonly JsonValue[] {
  const choices = rules.enum ?? null;
  return isArray(choices) ? choices : [];
}

function typeOf(type: JsonValue): AnswerField["type"] {
  switch (type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return type;
    default:
      return "json";
  }
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

export interface AnswerDraft {
  /** By field name; of a form without fields under the empty name. */
  readonly [name: string]: string;
}

export type AnswerCheck =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly faults: Readonly<Record<string, string>> };

/**
 * The form's values as canonical JSON, exactly as typed; or what is wrong with which of them. What may take long to judge is left to
 * the server, which ends it.
 */
export function checkAnswer(form: AnswerForm, draft: AnswerDraft, schema: JsonValue): AnswerCheck {
  const read = form.kind === "fields" ? readFields(form.fields, draft) : readSingle(form, draft[""] ?? "");
  if (!read.ok) return read;
  if (isQuicklyJudged(schema) && !satisfiesSchema(schema, read.value))
    return { ok: false, faults: { "": "This does not satisfy the question’s schema." } };
  return { ok: true, text: canonicalJson(read.value) };
}

type Read =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly faults: Readonly<Record<string, string>> };

function readSingle(form: AnswerForm, typed: string): Read {
  if (typed === "") return { ok: false, faults: { "": "Write an answer." } };
  if (form.kind === "text") return { ok: true, value: typed };
  const read = readJson(typed);
  return read.ok ? { ok: true, value: read.value } : { ok: false, faults: { "": "This is not JSON." } };
}

function readFields(fields: readonly AnswerField[], draft: AnswerDraft): Read {
  const faults: Record<string, string> = {};
  const value: { [name: string]: JsonValue } = Object.create(null);
  for (const field of fields) {
    const typed = draft[field.name] ?? "";
    if (typed === "") {
      if (field.required) faults[field.name] = `${field.name} is missing`;
      continue;
    }
    const read = readField(field, typed);
    if (read.ok) value[field.name] = read.value;
    else faults[field.name] = read.fault;
  }
  return Object.keys(faults).length > 0 ? { ok: false, faults } : { ok: true, value };
}

function readField(
  field: AnswerField,
  typed: string,
): { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly fault: string } {
  if (field.type === "string") {
    if (field.longest !== null && typed.length > field.longest)
      return { ok: false, fault: `longer than ${field.longest} characters` };
    return { ok: true, value: typed };
  }
  const read = readJson(typed.trim());
  if (!read.ok) return { ok: false, fault: field.type === "json" ? "not JSON" : `${typed} is no ${field.type}` };
  if (field.type === "number" || field.type === "integer") return readNumber(field, typed, read.value);
  return { ok: true, value: read.value };
}

function readNumber(
  field: AnswerField,
  typed: string,
  value: JsonValue,
): { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly fault: string } {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (!isNumber || (field.type === "integer" && typeof value === "number" && !Number.isInteger(value))) {
    return { ok: false, fault: `${typed} is no ${field.type}` };
  }
  if (field.most !== null && Number(value) > field.most)
    return { ok: false, fault: `${typed} is over ${field.most}, the most this question takes` };
  if (field.least !== null && Number(value) < field.least)
    return { ok: false, fault: `${typed} is under ${field.least}, the least this question takes` };
  return { ok: true, value };
}
