import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "./fixtures/random-json";
import {
  countHidden,
  decodeTagText,
  drawMarked,
  drawnAsText,
  escapeUnseen,
  HIDDEN_KINDS,
  markHidden,
  readMarked,
  type TokenSegment,
} from "./hidden-characters";

const tokens = (text: string, lines: "shown" | "marked" = "shown"): TokenSegment[] =>
  markHidden(text, { lines }).filter((segment) => segment.kind === "token");

const kinds = (text: string) => tokens(text).map((token) => token.hidden);
const tagged = (text: string) =>
  [...text].map((point) => String.fromCodePoint(0xe0000 + (point.codePointAt(0) ?? 0))).join("");

function everyPoint(pattern: RegExp): string[] {
  const found: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const point = String.fromCodePoint(code);
    if (pattern.test(point)) found.push(point);
  }
  return found;
}

describe("hidden characters", () => {
  const invisible = everyPoint(/[\p{DI}\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u);

  test("are tokens, each of the assigned and unassigned code points that draw nothing", () => {
    expect(invisible.filter((point) => /\P{Cn}/u.test(point)).length).toBeGreaterThanOrEqual(504);
    for (const point of invisible) {
      const text = `a${point}b`;
      const found = tokens(text, "marked");
      expect(
        found.map((token) => token.source),
        text,
      ).toEqual([point]);
      const label = `⟨U+${(point.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
      expect(found[0]?.label).toBe(label);
      expect(drawMarked(markHidden(text, { lines: "marked" }))).toBe(`a${label}b`);
    }
  });

  test("but line feed and tab draw themselves where lines are shown", () => {
    expect(tokens("a\n\tb")).toEqual([]);
    expect(tokens("a\n\tb", "marked").map((token) => token.name)).toEqual(["line feed", "tab"]);
  });

  test("have a name and a kind", () => {
    expect(tokens("\u202e")).toEqual([
      { kind: "token", hidden: "bidi", label: "⟨U+202E⟩", name: "right-to-left override", source: "\u202e" },
    ]);
    expect(kinds("\u001b\u061c\u200b\ufe0f\u2028\u3164\u00a0\ue000\u{e0041}⟨")).toEqual([
      "control",
      "bidi",
      "zero_width",
      "variation_selector",
      "line_separator",
      "invisible",
      "odd_space",
      "unassigned",
      "tag",
      "look_alike",
    ]);
    expect(tokens("\u{e0041}")[0]?.name).toBe('tag character "A"');
    expect(tokens("\u{e0001}")[0]?.name).toBe("tag character");
    expect(tokens("\ud800")[0]).toMatchObject({ hidden: "unassigned", label: "⟨U+D800⟩" });
  });

  test("are counted by kind", () => {
    const counted = countHidden(markHidden("a\u202eb\u202cc\u200b    d"));
    expect(counted).toEqual({ bidi: 2, zero_width: 1, blank_run: 1 });
    for (const kind of Object.keys(counted)) expect(HIDDEN_KINDS).toContain(kind);
  });

  test("reorder nothing: each direction control of the Trojan Source patterns is a token of its own", () => {
    for (const control of "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c") {
      expect(kinds(`if (admin) {${control} begin`)).toEqual(["bidi"]);
    }
  });

  test("leave ordinary text in any script alone", () => {
    for (const text of [
      "rm -rf /srv",
      "批准，然后：执行！",
      "Привет, мир",
      "Γειά σου Κόσμε",
      "naïve café",
      "שלום",
      "مرحبا",
      "m²",
      "1.5 × 2",
    ]) {
      expect(tokens(text), text).toEqual([]);
    }
  });
});

describe("tag text", () => {
  test("is decoded, run by run", () => {
    expect(decodeTagText(`deploy${tagged("rm -rf /")} now${tagged("!")}`)).toEqual(["rm -rf /", "!"]);
    expect(decodeTagText("deploy")).toEqual([]);
  });

  test("is always flagged, whatever it says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", minLength: 1 }), (payload) => {
        expect(decodeTagText(`deploy${tagged(payload)}`)).toEqual([payload]);
        expect(countHidden(markHidden(`deploy${tagged(payload)}`)).tag).toBe(payload.length);
      }),
    );
  });
});

describe("look-alikes", () => {
  test.each([
    ["pаypal", "а", 'Cyrillic letter that looks like "a"'],
    ["Αdmin", "Α", 'Greek letter that looks like "A"'],
    ["ɡoogle", "ɡ", 'Latin letter that looks like "g"'],
    ["reаd_file", "а", 'Cyrillic letter that looks like "a"'],
    ["ａdmin", "ａ", 'compatibility form that looks like "a"'],
    ["𝚊dmin", "𝚊", 'compatibility form that looks like "a"'],
    ["/etc／passwd", "／", 'compatibility form that looks like "/"'],
    ["example․com", "․", 'mark that looks like "."'],
  ])("in %s are tokens", (text, source, name) => {
    expect(tokens(text)).toMatchObject([{ hidden: "look_alike", source, name }]);
  });

  test("that make up a whole word are tokens too, each of them", () => {
    expect(tokens("сосо").length).toBe(4);
    expect(tokens("ор 1").length).toBe(2);
  });
});

describe("blanks", () => {
  test("in a row of four or more are counted in one token", () => {
    expect(tokens("a   b")).toEqual([]);
    expect(tokens(`ls${" ".repeat(40_000)}; rm -rf /`)).toMatchObject([{ label: "⟨40000 spaces⟩" }]);
    expect(tokens("a\t\t\t\tb")).toMatchObject([{ label: "⟨4 tabs⟩" }]);
    expect(tokens("a\n\n\n\n\nb")).toMatchObject([{ label: "⟨5 line breaks⟩" }]);
  });

  test("of mixed kinds are one token for each stretch, so that the labels say all", () => {
    expect(tokens("a\n \n\t\n\nb").map((token) => token.label)).toEqual([
      "⟨1 line break⟩",
      "⟨1 space⟩",
      "⟨1 line break⟩",
      "⟨1 tab⟩",
      "⟨2 line breaks⟩",
    ]);
    expect(tokens("a \t b", "marked").map((token) => token.label)).toEqual(["⟨U+0009⟩"]);
    expect(tokens("a\n\n    b").map((token) => token.label)).toEqual(["⟨4 spaces⟩"]);
  });
});

describe("a marked text", () => {
  test.each(["shown", "marked"] as const)(
    "gives back its text exactly, from its sources and from its drawing (%s)",
    (lines) => {
      fc.assert(
        fc.property(anyText, (text) => {
          const segments = markHidden(text, { lines });
          expect(segments.map((segment) => segment.source).join("")).toBe(text);
          expect(readMarked(drawMarked(segments))).toBe(text);
        }),
        { numRuns: 5_000 },
      );
    },
  );

  test("cannot be imitated: a text that spells a token is drawn otherwise", () => {
    expect(drawMarked(markHidden("⟨U+202E⟩"))).toBe("⟨U+27E8⟩U+202E⟩");
    expect(readMarked("⟨U+27E8⟩U+202E⟩")).toBe("⟨U+202E⟩");
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        const same = drawMarked(markHidden(left)) === drawMarked(markHidden(right));
        expect(same).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes a mebibyte in its stride", () => {
    const text = "word \u202e и слово ".repeat(60_000);
    expect(markHidden(text).length).toBeGreaterThan(100_000);
  });
});

test("where only plain text can stand, hidden characters stand there as tokens, also line breaks", () => {
  expect(drawnAsText("pay\u202eevil\nnow")).toBe("pay⟨U+202E⟩evil⟨U+000A⟩now");
});

test("JSON for a field is the same value, with nothing in it that would not be seen", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.constant("a\u202eb\u{e0041}\u200b")), (text) => {
      const escaped = escapeUnseen(JSON.stringify(text));
      expect(JSON.parse(escaped)).toBe(text);
      expect(escaped).not.toMatch(/[\p{DI}\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
  );
});
