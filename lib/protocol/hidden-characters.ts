import { type LookAlike, lookAlikeAnywhere, lookAlikeLetter } from "./look-alikes";

/**
 * What an approver would not see, or would take for something else. One kind a code point; `blank_run` is a stretch of blanks.
 * Source: console rule "Nothing hidden".
 */
export const HIDDEN_KINDS = [
  "control",
  "bidi",
  "zero_width",
  "tag",
  "variation_selector",
  "line_separator",
  "invisible",
  "odd_space",
  "unassigned",
  "look_alike",
  "blank_run",
] as const;
export type HiddenKind = (typeof HIDDEN_KINDS)[number];

export interface TextSegment {
  readonly kind: "text";
  readonly source: string;
}

export interface TokenSegment {
  readonly kind: "token";
  readonly hidden: HiddenKind;
  /** What is drawn in its place, such as `⟨U+202E⟩` or `⟨12 spaces⟩`. */
  readonly label: string;
  /** Such as `right-to-left override`. */
  readonly name: string;
  /** The characters themselves: what a copy must give back. */
  readonly source: string;
}

export type Segment = TextSegment | TokenSegment;

export interface MarkOptions {
  /** In a view of several lines a line feed and a tab are shown as themselves; in one of a single line they are tokens. */
  readonly lines: "shown" | "marked";
}

/** Stretches that are judged together: blanks, words, and any other single code point. */
const STRETCHES = /[ \t\n]+|[\p{L}\p{M}\p{N}_]+|[\s\S]/gu;
const BLANKS = /^[ \t\n]+$/;
const LONG_BLANK = 4;

/**
 * Split a text into what may be drawn as it is and what must be drawn as a token.
 * The sources, put together, give the text back exactly.
 */
export function markHidden(text: string, options: MarkOptions = { lines: "shown" }): readonly Segment[] {
  const segments: Segment[] = [];
  for (const [stretch] of text.matchAll(STRETCHES)) {
    if (BLANKS.test(stretch)) markBlanks(segments, stretch, options);
    else markWord(segments, stretch);
  }
  return segments;
}

/** How many of each kind; a blank run counts once. */
export function countHidden(segments: readonly Segment[]): Readonly<Partial<Record<HiddenKind, number>>> {
  const counts: Partial<Record<HiddenKind, number>> = {};
  for (const segment of segments) {
    if (segment.kind === "token") counts[segment.hidden] = (counts[segment.hidden] ?? 0) + 1;
  }
  return counts;
}

function push(segments: Segment[], segment: Segment): void {
  const last = segments.at(-1);
  if (segment.kind === "text" && last?.kind === "text") {
    segments[segments.length - 1] = { kind: "text", source: last.source + segment.source };
  } else {
    segments.push(segment);
  }
}

/** A payload can hide behind blanks: beyond the right edge, or below the last line that is in view. */
function markBlanks(segments: Segment[], run: string, options: MarkOptions): void {
  const lineFeeds = run.split("\n").length - 1;
  const whole = lineFeeds >= LONG_BLANK || (options.lines === "marked" && run.length >= LONG_BLANK);
  for (const [part] of run.matchAll(/\n+|\t+| +/g)) {
    if (whole || (part.length >= LONG_BLANK && !part.startsWith("\n"))) push(segments, blankRun(part));
    else if (options.lines === "marked") for (const blank of part) push(segments, markBlank(blank));
    else push(segments, { kind: "text", source: part });
  }
}

/** On a single line a space is itself; a tab or a line feed would be drawn as one. */
function markBlank(blank: string): Segment {
  return blank === " " ? { kind: "text", source: blank } : markPoint(blank, false);
}

const BLANK_NOUNS: ReadonlyMap<string, string> = new Map([
  [" ", "space"],
  ["\t", "tab"],
  ["\n", "line break"],
]);

/** A stretch of one kind of blank, so that its label alone says what stood there. */
function blankRun(source: string): TokenSegment {
  const noun = BLANK_NOUNS.get(source.charAt(0)) ?? "blank";
  const counted = `${source.length} ${noun}${source.length === 1 ? "" : "s"}`;
  return { kind: "token", hidden: "blank_run", label: `⟨${counted}⟩`, name: `${counted} in a row`, source };
}

function markWord(segments: Segment[], word: string): void {
  const disguised = isDisguised(word);
  for (const point of word) push(segments, markPoint(point, disguised));
}

/** A word that mixes look-alikes with ASCII letters, or whose every letter looks like one of another script. */
function isDisguised(word: string): boolean {
  const letters = [...word].filter((point) => /\p{L}/u.test(point));
  const alike = letters.filter((point) => lookAlikeLetter(point) !== null).length;
  return alike > 0 && (alike === letters.length || /[A-Za-z]/.test(word));
}

function markPoint(point: string, disguised: boolean): Segment {
  const code = point.codePointAt(0) ?? 0;
  if (point === "⟨") return token("look_alike", code, "the mark that a token begins with", point);
  const hidden = hiddenKind(point, code);
  if (hidden) return token(hidden, code, nameOf(hidden, code), point);
  const alike = lookAlikeAnywhere(point) ?? (disguised ? lookAlikeLetter(point) : null);
  return alike ? token("look_alike", code, nameOfLookAlike(alike), point) : { kind: "text", source: point };
}

function token(hidden: HiddenKind, code: number, name: string, source: string): TokenSegment {
  return { kind: "token", hidden, label: `⟨${codePointLabel(code)}⟩`, name, source };
}

export function codePointLabel(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const ZERO_WIDTH = /\u034f|[\u00ad\u200b-\u200d\u2060\ufeff]/u;
const TAG = /[\u{e0001}\u{e0020}-\u{e007f}]/u;
const VARIATION_SELECTOR = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const INVISIBLE = /[\p{DI}\p{Cf}\u2800]/u;
const UNASSIGNED = /[\p{Cn}\p{Co}\p{Cs}]/u;

/** The narrow classes come first, so that each code point has the name that says most. */
function hiddenKind(point: string, code: number): HiddenKind | null {
  if (code >= 0x20 && code < 0x7f) return null;
  if (/\p{Cc}/u.test(point)) return "control";
  if (BIDI.test(point)) return "bidi";
  if (ZERO_WIDTH.test(point)) return "zero_width";
  if (TAG.test(point)) return "tag";
  if (VARIATION_SELECTOR.test(point)) return "variation_selector";
  if (/[\p{Zl}\p{Zp}]/u.test(point)) return "line_separator";
  if (INVISIBLE.test(point)) return "invisible";
  if (/\p{Zs}/u.test(point)) return "odd_space";
  return UNASSIGNED.test(point) ? "unassigned" : null;
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, "null"],
  [0x07, "bell"],
  [0x08, "backspace"],
  [0x09, "tab"],
  [0x0a, "line feed"],
  [0x0d, "carriage return"],
  [0x1b, "escape"],
  [0x7f, "delete"],
  [0x9b, "control sequence introducer"],
  [0xa0, "no-break space"],
  [0xad, "soft hyphen"],
  [0x61c, "Arabic letter mark"],
  [0x200b, "zero width space"],
  [0x200c, "zero width non-joiner"],
  [0x200d, "zero width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x2028, "line separator"],
  [0x2029, "paragraph separator"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "pop directional formatting"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first strong isolate"],
  [0x2069, "pop directional isolate"],
  [0x2800, "Braille blank"],
  [0x3000, "ideographic space"],
  [0x3164, "Hangul filler"],
  [0xfeff, "byte order mark"],
]);

const KIND_NAMES: Readonly<Record<HiddenKind, string>> = {
  control: "control character",
  bidi: "direction control",
  zero_width: "zero width character",
  tag: "tag character",
  variation_selector: "variation selector",
  line_separator: "line separator",
  invisible: "invisible character",
  odd_space: "space of another width",
  unassigned: "character without a form",
  look_alike: "look-alike",
  blank_run: "blanks",
};

function nameOf(hidden: HiddenKind, code: number): string {
  const tagged = hidden === "tag" ? tagCharacter(code) : "";
  return NAMES.get(code) ?? (tagged === "" ? KIND_NAMES[hidden] : `tag character ${JSON.stringify(tagged)}`);
}

function nameOfLookAlike({ like, origin }: LookAlike): string {
  return `${origin} that looks like ${JSON.stringify(like)}`;
}

/** The ASCII character that a tag character stands for; the empty text for a tag that is none. */
function tagCharacter(code: number): string {
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCodePoint(code - 0xe0000) : "";
}

/** The text as it is drawn: tokens by their labels. */
export function drawMarked(segments: readonly Segment[]): string {
  return segments.map((segment) => (segment.kind === "token" ? segment.label : segment.source)).join("");
}

/** Somebody else's words where only plain text can stand: a tooltip, a page's title, a name that is read aloud. */
export function drawnAsText(text: string): string {
  return drawMarked(markHidden(text, { lines: "marked" }));
}

const UNSEEN = /[\p{DI}\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/gu;

/** JSON text for a field, which can draw no tokens: what would not be seen stands there as the escape that JSON has for it. */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, (point) =>
    [...Array(point.length).keys()]
      .map((unit) => `\\u${point.charCodeAt(unit).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Several lines for a terminal or a log, which obeys what it does not show: every such character but line feed and tab as its token. */
export function drawUnseen(text: string): string {
  return text.replace(UNSEEN, (point) =>
    point === "\n" || point === "\t" ? point : `⟨${codePointLabel(point.codePointAt(0) ?? 0)}⟩`,
  );
}

const LABEL = /⟨(?:U\+([0-9A-F]{4,6})|([0-9]+) (space|tab|line break)s?)⟩/g;

/**
 * What was marked, read back from its drawn text alone. This has one answer, because the mark that a token begins with is itself
 * drawn as a token: no text can pretend to be one.
 */
export function readMarked(drawn: string): string {
  return drawn.replace(LABEL, (_label, code: string | undefined, count: string, noun: string) => {
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    const blank = [...BLANK_NOUNS].find(([, name]) => name === noun)?.[0] ?? "";
    return blank.repeat(Number(count));
  });
}

/**
 * The texts that are spelt in tag characters: what a model reads and a person does not.
 * One text for each unbroken run, in order.
 */
export function decodeTagText(text: string): readonly string[] {
  const runs = text.match(/[\u{e0020}-\u{e007e}]+/gu) ?? [];
  return runs.map((run) => [...run].map((point) => tagCharacter(point.codePointAt(0) ?? 0)).join(""));
}
