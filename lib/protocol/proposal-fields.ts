import { type CanonicalJson, canonicalJson, isObject, type JsonValue, readJson } from "./canonical-json";
import { codePointLabel, type HiddenKind, markHidden, readMarked, type Segment } from "./hidden-characters";
import { type JsonRow, jsonRows, readDrawn } from "./json-lines";
import { pathTo } from "./json-path";

/** One field of a proposal as a table draws it: `action`, each argument, `output`. */
export interface ProposalField {
  readonly path: string;
  /** The path with what is hidden in it as tokens. */
  readonly drawnPath: readonly Segment[];
  readonly value: JsonValue;
  readonly text: CanonicalJson;
  readonly rows: readonly JsonRow[];
  readonly bytes: number;
  readonly lines: number;
  /** As it is drawn: a long run of blank lines is one token. */
  readonly drawnLines: number;
}

/** A stored canonical text is within its limits already; these only bound the recursion. */
const STORED_LIMITS = { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER };

/** Null when the text is no proposal: then nothing of it may be allowed. */
export function proposalFields(text: string): readonly ProposalField[] | null {
  const read = readJson(text, STORED_LIMITS);
  if (!read.ok || !isObject(read.value)) return null;
  const { action, args, output, ...others } = read.value;
  if (action === undefined || args === undefined || output === undefined || Object.keys(others).length > 0) return null;
  return [field("action", action), ...argumentFields(args), field("output", output)];
}

/** Each argument is a field of its own; arguments that are no object, or an empty one, are one field. */
function argumentFields(args: JsonValue): readonly ProposalField[] {
  if (!isObject(args)) return [field("args", args)];
  const names = Object.keys(args).sort();
  if (names.length === 0) return [field("args", args)];
  return names.map((name) => field(pathTo("args", name), args[name] ?? null));
}

function field(path: string, value: JsonValue): ProposalField {
  const text = canonicalJson(value);
  const rows = jsonRows(text, path);
  const lines = typeof value === "string" ? value.split("\n").length : 1;
  return {
    path,
    drawnPath: markHidden(path, { lines: "marked" }),
    value,
    text,
    rows,
    bytes: new TextEncoder().encode(typeof value === "string" ? value : text).length,
    lines,
    drawnLines: rows.reduce(
      (sum, row) =>
        sum +
        row.pieces
          .map((piece) => piece.drawn)
          .join("")
          .split("\n").length,
      0,
    ),
  };
}

/**
 * The proposal's canonical text, read back from nothing but what a table drew: each field's path and value as text.
 * Null when it cannot be one.
 */
export function readDrawnFields(
  drawn: readonly { readonly path: string; readonly value: string }[],
): CanonicalJson | null {
  const parts: { [name: string]: JsonValue } = {};
  const args = new Map<string, JsonValue>();
  for (const { path, value } of drawn) {
    const read = readJson(readDrawn(value), STORED_LIMITS);
    if (!read.ok) return null;
    const name = argumentName(path);
    if (name === null) parts[readMarked(path)] = read.value;
    else args.set(name, read.value);
  }
  const { action, args: whole, output } = parts;
  if (action === undefined || output === undefined) return null;
  // No prototype: `__proto__` is an argument like any other.
  const members: { [name: string]: JsonValue } = Object.create(null);
  for (const [name, value] of args) members[name] = value;
  return canonicalJson({ action, args: whole === undefined ? members : whole, output });
}

/** `args.amount` → `amount`, `args["a key"]` → `a key`; null for `action`, `output` and arguments drawn as one. */
function argumentName(drawnPath: string): string | null {
  const path = readMarked(drawnPath);
  if (path.startsWith("args.")) return path.slice(5);
  const quoted = /^args\[(".*")\]$/s.exec(path)?.[1];
  return quoted === undefined ? null : String(JSON.parse(quoted));
}

/** What an approver is told about hidden text before reading it: how much of which kind, and where. */
export interface Finding {
  readonly kind: HiddenKind;
  readonly count: number;
  readonly places: readonly string[];
  /** Text spelt in characters that are drawn nowhere else, decoded. */
  readonly spells: readonly string[];
  readonly labels: readonly string[];
}

export function findings(fields: readonly ProposalField[]): readonly Finding[] {
  const found = new Map<HiddenKind, { count: number; places: Set<string>; spells: string[]; labels: Set<string> }>();
  for (const { path, drawnPath, rows } of fields) {
    const segments = [
      ...drawnPath,
      ...rows.flatMap((row) => row.pieces.flatMap((piece) => ("segments" in piece ? piece.segments : []))),
    ];
    let spelt = "";
    for (const segment of segments) {
      if (segment.kind !== "token") continue;
      const entry = found.get(segment.hidden) ?? { count: 0, places: new Set(), spells: [], labels: new Set() };
      entry.count += 1;
      entry.places.add(path);
      entry.labels.add(
        segment.hidden === "blank_run" ? segment.label : codePointLabel(segment.source.codePointAt(0) ?? 0),
      );
      if (segment.hidden === "tag") spelt += tagLetter(segment.source);
      found.set(segment.hidden, entry);
    }
    if (spelt !== "") found.get("tag")?.spells.push(spelt);
  }
  return [...found].map(([kind, entry]) => ({
    kind,
    count: entry.count,
    places: [...entry.places],
    spells: entry.spells,
    labels: [...entry.labels],
  }));
}

function tagLetter(source: string): string {
  const code = source.codePointAt(0) ?? 0;
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCodePoint(code - 0xe0000) : "";
}

/** Long runs of blanks are drawn and counted, but an indented text is no attack: they are findings, not hidden text. */
export function hiddenCount(found: readonly Finding[]): number {
  return found.reduce((sum, finding) => (finding.kind === "blank_run" ? sum : sum + finding.count), 0);
}
