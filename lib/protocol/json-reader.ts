import type { JsonLimits, JsonRefusal, JsonValue } from "./canonical-json";
import { hasLoneSurrogate } from "./hash";
import { pathTo } from "./json-path";

/** Carries a refusal out of the recursion; `readJson` turns it into a value, so it never leaves this pair of files. */
export class Stop extends Error {
  constructor(readonly refusal: JsonRefusal) {
    super(refusal.detail);
  }
}

/** A number by the grammar of RFC 8259 §6; the groups are fraction and exponent. Sticky: it matches at `lastIndex` only. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
/** A stretch of a string that stands for itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the grammar forbids exactly these raw characters.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const SPACE = /[ \t\n\r]*/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** One pass over one text; the position moves forward only. */
export class JsonReader {
  #at = 0;
  #keys = 0;

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {}

  document(): JsonValue {
    this.#match(SPACE);
    const value = this.#value("", 1);
    this.#match(SPACE);
    if (this.#at < this.text.length) this.#syntax("", "the end");
    return value;
  }

  #value(path: string, depth: number): JsonValue {
    const first = this.text[this.#at];
    switch (first) {
      case "{":
        return this.#object(path, depth);
      case "[":
        return this.#array(path, depth);
      case '"':
        return this.#string(path);
      case "t":
        return this.#word("true", true, path);
      case "f":
        return this.#word("false", false, path);
      case "n":
        return this.#word("null", null, path);
      default:
        return this.#number(path);
    }
  }

  #object(path: string, depth: number): JsonValue {
    this.#enter(path, depth);
    // No prototype: `__proto__` must be stored and hashed, not obeyed.
    const members: Record<string, JsonValue> = Object.create(null);
    if (this.#take("}")) return members;
    do {
      this.#match(SPACE);
      if (this.text[this.#at] !== '"') this.#syntax(path, "a key");
      const key = this.#string(path);
      const where = pathTo(path, key);
      if (key in members) this.#stop("duplicate_key", where, "the key stands twice in one object");
      this.#keys += 1;
      if (this.#keys > this.limits.maxKeys) {
        this.#stop("too_many_keys", path, `more than ${this.limits.maxKeys} keys in all`);
      }
      if (!this.#take(":")) this.#syntax(where, "':'");
      this.#match(SPACE);
      members[key] = this.#value(where, depth + 1);
    } while (this.#take(","));
    if (!this.#take("}")) this.#syntax(path, "',' or '}'");
    return members;
  }

  #array(path: string, depth: number): JsonValue {
    this.#enter(path, depth);
    const items: JsonValue[] = [];
    if (this.#take("]")) return items;
    do {
      this.#match(SPACE);
      items.push(this.#value(pathTo(path, items.length), depth + 1));
    } while (this.#take(","));
    if (!this.#take("]")) this.#syntax(path, "',' or ']'");
    return items;
  }

  #enter(path: string, depth: number): void {
    if (depth > this.limits.maxDepth) this.#stop("too_deep", path, `deeper than ${this.limits.maxDepth}`);
    this.#at += 1;
  }

  #string(path: string): string {
    this.#at += 1;
    let value = this.#match(PLAIN);
    while (!this.#takeHere('"')) {
      if (!this.#takeHere("\\")) this.#syntax(path, "the rest of a string (a control character must be escaped)");
      value += this.#escape(path) + this.#match(PLAIN);
    }
    // Judged when whole: a pair may be spelt half raw and half escaped.
    if (hasLoneSurrogate(value)) this.#stop("invalid_unicode", path, "a lone surrogate is no Unicode text");
    return value;
  }

  #escape(path: string): string {
    if (this.#takeHere("u")) {
      const hex = this.#match(HEX4);
      if (hex === "") this.#syntax(path, "four hex digits");
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const escaped = ESCAPES.get(this.text[this.#at] ?? "");
    if (escaped === undefined) this.#syntax(path, "an escape that JSON knows");
    this.#at += 1;
    return escaped;
  }

  #number(path: string): number | bigint {
    const start = this.#at;
    NUMBER.lastIndex = start;
    const found = NUMBER.exec(this.text);
    if (!found) this.#syntax(path, "a value");
    const [literal, fraction, exponent] = found;
    this.#at = start + literal.length;
    const double = Number(literal);
    if (fraction === undefined && exponent === undefined) {
      // `+ 0` turns -0 into 0; a rounded id is a wrong id, so an unsafe integer keeps all its digits.
      return Number.isSafeInteger(double) ? double + 0 : BigInt(literal);
    }
    if (!Number.isFinite(double)) this.#stop("number_not_representable", path, "too large for a double");
    const mantissa = literal.replace(/[eE].*$/, "");
    if (double === 0 && /[1-9]/.test(mantissa)) {
      this.#stop("number_not_representable", path, "too small for a double");
    }
    return double;
  }

  #word<Value extends boolean | null>(word: string, value: Value, path: string): Value {
    if (!this.text.startsWith(word, this.#at)) this.#syntax(path, "a value");
    this.#at += word.length;
    return value;
  }

  /** Consumes white space, then the mark if it stands there. */
  #take(mark: string): boolean {
    this.#match(SPACE);
    return this.#takeHere(mark);
  }

  #takeHere(mark: string): boolean {
    if (this.text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.text) ?? [""];
    this.#at += found.length;
    return found;
  }

  #syntax(path: string, expected: string): never {
    const found = this.text.codePointAt(this.#at);
    const what = found === undefined ? "the text ends" : `found U+${found.toString(16).toUpperCase().padStart(4, "0")}`;
    return this.#stop("invalid_body", path, `at character ${this.#at}: expected ${expected}, ${what}`);
  }

  #stop(code: JsonRefusal["code"], path: string, detail: string): never {
    throw new Stop({ code, path, detail });
  }
}
