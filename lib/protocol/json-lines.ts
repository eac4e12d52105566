import { type CanonicalJson, canonicalJson, isArray, isObject, type JsonValue, readJson } from "./canonical-json";
import { type MarkOptions, markHidden, readMarked, type Segment } from "./hidden-characters";
import { pathTo } from "./json-path";

/** A stretch of a string as it is drawn: what is hidden as a token, quotes and backslashes escaped. */
export type DrawnSegment = Segment & { readonly drawn: string };

/** One run of ink on a row. Outside strings white space is layout and means nothing. */
export type Piece =
  | { readonly kind: "mark" | "number" | "word"; readonly drawn: string }
  | { readonly kind: "key" | "string"; readonly drawn: string; readonly segments: readonly DrawnSegment[] };

/** One row of a drawn JSON value: a scalar or empty container with its key, or the line that opens or closes a container. */
export interface JsonRow {
  /** Of the value, such as `args.items[3]`; a closing row has the path of what it closes. */
  readonly path: string;
  /** Indentation, 0 for the outermost. */
  readonly depth: number;
  readonly kind: "scalar" | "open" | "close";
  readonly pieces: readonly Piece[];
}

/** A stored canonical text is within its limits already; these only bound the recursion. */
const STORED_LIMITS = { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER };

/**
 * A canonical text as rows to draw. Nothing is left out: `readDrawn(drawnText(rows))` is the same canonical text,
 * so that what a person saw can be hashed and compared with what was stored.
 *
 * @param base where the value stands, such as `args`
 * @param options whether a line feed in a string breaks the line or is drawn as a token
 */
export function jsonRows(
  text: CanonicalJson,
  base = "",
  options: MarkOptions = { lines: "shown" },
): readonly JsonRow[] {
  const read = readJson(text, STORED_LIMITS);
  if (!read.ok) throw new TypeError(`not a canonical text: ${read.refusal.code} at ${read.refusal.path}`);
  const rows: JsonRow[] = [];
  draw({ rows, options }, read.value, { path: base, depth: 0, before: [], after: [] });
  return rows;
}

interface Sheet {
  readonly rows: JsonRow[];
  readonly options: MarkOptions;
}

/** Where a value is drawn, and the ink that surrounds it: its key before, a comma after. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly before: readonly Piece[];
  readonly after: readonly Piece[];
}

function draw(sheet: Sheet, value: JsonValue, place: Place): void {
  const members = membersOf(value, place.path);
  if (members === null || members.length === 0) {
    row(sheet, "scalar", place, [...place.before, ...scalar(value, sheet.options), ...place.after]);
    return;
  }
  const [open, close] = isArray(value) ? ["[", "]"] : ["{", "}"];
  row(sheet, "open", place, [...place.before, mark(open)]);
  for (const [index, { name, path, item }] of members.entries()) {
    const before = name === null ? [] : [...quoted("key", name, sheet.options), mark(": ")];
    const after = index < members.length - 1 ? [mark(",")] : [];
    draw(sheet, item, { path, depth: place.depth + 1, before, after });
  }
  row(sheet, "close", place, [mark(close), ...place.after]);
}

function row(sheet: Sheet, kind: JsonRow["kind"], { path, depth }: Place, pieces: readonly Piece[]): void {
  sheet.rows.push({ path, depth, kind, pieces });
}

interface Member {
  readonly name: string | null;
  readonly path: string;
  readonly item: JsonValue;
}

/** In canonical order: an object lists keys that look like numbers first, whatever the text said. `null` for a scalar. */
function membersOf(value: JsonValue, path: string): readonly Member[] | null {
  if (isArray(value)) return value.map((item, index) => ({ name: null, path: pathTo(path, index), item }));
  if (!isObject(value)) return null;
  const byName = new Map(Object.entries(value));
  return [...byName.keys()].sort().map((name) => ({ name, path: pathTo(path, name), item: byName.get(name) ?? null }));
}

function scalar(value: JsonValue, options: MarkOptions): readonly Piece[] {
  if (typeof value === "string") return quoted("string", value, options);
  const drawn = canonicalJson(value);
  if (typeof value === "number" || typeof value === "bigint") return [{ kind: "number", drawn }];
  return [{ kind: typeof value === "object" && value !== null ? "mark" : "word", drawn }];
}

function quoted(kind: "key" | "string", text: string, options: MarkOptions): readonly Piece[] {
  const segments = markHidden(text, options).map((segment) => ({
    ...segment,
    drawn: segment.kind === "token" ? segment.label : segment.source.replace(/["\\]/g, "\\$&"),
  }));
  const drawn = segments.map((segment) => segment.drawn).join("");
  return [mark('"'), { kind, drawn, segments }, mark('"')];
}

function mark(drawn: string): Piece {
  return { kind: "mark", drawn };
}

/** Everything that the rows draw, as one text: rows on lines of their own. */
export function drawnText(rows: readonly JsonRow[]): string {
  return rows.map(({ pieces }) => pieces.map((piece) => piece.drawn).join("")).join("\n");
}

const DRAWN_TOKENS = /"((?:[^"\\]|\\["\\])*)"|[^"]/g;

/** The canonical text, read back from nothing but what was drawn. */
export function readDrawn(drawn: string): CanonicalJson {
  const text = drawn.replace(DRAWN_TOKENS, (token, inside: string | undefined) => {
    if (inside === undefined) return /\s/.test(token) ? "" : token;
    return canonicalJson(readMarked(inside.replace(/\\(["\\])/g, "$1")));
  });
  return text as CanonicalJson;
}
