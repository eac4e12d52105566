/**
 * A sentence in parts: our own words, someone else's words (drawn as a quotation), and moments, which only the reader's
 * browser can spell in the reader's own time.
 */
export type Part =
  | { readonly kind: "text"; readonly text: string; readonly strong: boolean }
  | { readonly kind: "quoted"; readonly text: string; readonly strong: boolean }
  | { readonly kind: "time"; readonly at_ms: number; readonly strong: boolean }
  | { readonly kind: "ago"; readonly at_ms: number; readonly strong: boolean };

export type Sentence = readonly Part[];

/** Our sentence with parts, texts and sentences put in: `` say`allowed ${time(at)} by ${quoted(name)}` ``. */
export function say(words: TemplateStringsArray, ...inserts: readonly (Part | Sentence | string)[]): Sentence {
  return words.flatMap((word, index) => [...own(word), ...parts(inserts[index])]);
}

export function quoted(text: string): Part {
  return { kind: "quoted", text, strong: false };
}

export function time(atMs: number): Part {
  return { kind: "time", at_ms: atMs, strong: false };
}

/** As "6 min ago". */
export function ago(atMs: number): Part {
  return { kind: "ago", at_ms: atMs, strong: false };
}

/** The facts of a sentence stand out, its explanation does not. */
export function bold(sentence: Sentence): Sentence {
  return sentence.map((part) => ({ ...part, strong: true }));
}

export function count(howMany: number, one: string, many: string): string {
  return `${howMany} ${howMany === 1 ? one : many}`;
}

/** The sentence as plain text, for tests and titles. */
export function plainText(
  sentence: Sentence,
  spell: { time(atMs: number): string; ago(atMs: number): string },
): string {
  return sentence
    .map((part) => {
      if (part.kind === "time") return spell.time(part.at_ms);
      if (part.kind === "ago") return spell.ago(part.at_ms);
      return part.text;
    })
    .join("");
}

function own(text: string): Sentence {
  return text === "" ? [] : [{ kind: "text", text, strong: false }];
}

function parts(insert: Part | Sentence | string | undefined): Sentence {
  if (insert === undefined) return [];
  if (typeof insert === "string") return own(insert);
  return "kind" in insert ? [insert] : insert;
}
