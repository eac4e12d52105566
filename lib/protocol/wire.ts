import type { z } from "zod";
import { ok, type Result, refuse } from "../result";
import type { JsonValue } from "./canonical-json";
import { pathTo } from "./json-path";
import { isRefusalCode, type Refusal, type RefusalCode, refusalAt } from "./refusals";

/**
 * Judge a request body that was read without loss. The first fault is told, with its JSON path: `unknown_field` for a field that does
 * not exist, `invalid_verdict`, `too_large`, `too_deep`, `too_many_keys` where the schema names that code, and `invalid_body` otherwise.
 */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: JsonValue,
): Result<z.output<Schema>, Refusal> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return refuse(issue ? refusalOf(issue) : refusalAt("invalid_body", ""));
}

function refusalOf(issue: z.core.$ZodIssue): Refusal {
  const path = issue.path.reduce<string>(
    (where, step) => pathTo(where, typeof step === "number" ? step : String(step)),
    "",
  );
  if (issue.code === "unrecognized_keys") return refusalAt("unknown_field", pathTo(path, issue.keys[0] ?? ""));
  if (issue.code === "custom") {
    const { inside = "" } = issue.params ?? {};
    return refusalAt(namedCode(issue.params), `${path}${String(inside)}`, issue.message);
  }
  return refusalAt("invalid_body", path, issue.message);
}

/** A schema that knows better than `invalid_body` says so in its params. */
function namedCode(params: Readonly<Record<string, unknown>> | undefined): RefusalCode {
  const code = params?.code;
  return typeof code === "string" && isRefusalCode(code) ? code : "invalid_body";
}
