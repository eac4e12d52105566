import { isArray, isObject, type JsonValue } from "./canonical-json";
import type { EffectLine } from "./console-view";
import { drawMarked, markHidden } from "./hidden-characters";

const VALUES = 4;
const VALUE_LENGTH = 48;
const KEEP_LENGTH = 96;

/**
 * What a call would touch, short enough for a row: its plain arguments, and the target of its effect, which a row never cuts.
 * A summary for finding a ticket, never for deciding it: every value that was shortened ends in an ellipsis.
 */
export function effectLine(args: JsonValue, output: JsonValue): EffectLine {
  const target = output === null ? "" : spell(output, KEEP_LENGTH);
  const values = plainValues(args).filter((value) => value !== target && value !== "" && !target.endsWith(value));
  const lead = values.slice(0, VALUES).join(" · ");
  if (target === "") return { lead, keep: "" };
  return lead === "" ? { lead: "", keep: `→ ${target}` } : { lead, keep: ` → ${target}` };
}

/** Short texts and numbers of the first level, or of the value itself; what is long or nested is not for a row. */
function plainValues(args: JsonValue): readonly string[] {
  if (!isObject(args)) return [spell(args, VALUE_LENGTH)];
  return Object.keys(args)
    .sort()
    .map((name) => args[name] ?? null)
    .filter((value) => value !== null && typeof value !== "boolean")
    .map((value) => spell(value, VALUE_LENGTH));
}

function spell(value: JsonValue, length: number): string {
  if (isArray(value)) return spellList(value, length);
  if (isObject(value))
    return spellList(
      Object.keys(value)
        .sort()
        .map((name) => value[name] ?? null),
      length,
    );
  const text = drawMarked(markHidden(value === null ? "" : String(value), { lines: "marked" }));
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function spellList(values: readonly JsonValue[], length: number): string {
  const plain = values.filter(
    (value) => typeof value === "string" || typeof value === "number" || typeof value === "bigint",
  );
  const text = plain
    .slice(0, VALUES)
    .map((value) => spell(value, length))
    .join(", ");
  return plain.length > VALUES ? `${text}, …` : text;
}
