import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CanonicalJson, canonicalJson, type JsonValue } from "./canonical-json";
import { anyJson, anyText } from "./fixtures/random-json";
import { sha256Hex } from "./hash";
import { drawnText, jsonRows, readDrawn } from "./json-lines";
import { proposalHash, proposalText } from "./proposal";

const draw = (value: JsonValue) =>
  jsonRows(canonicalJson(value), "args").map(
    ({ path, depth, kind, pieces }) =>
      [`${"  ".repeat(depth)}${pieces.map((piece) => piece.drawn).join("")}`, path, kind] as const,
  );

describe("a drawn JSON value", () => {
  test("has one row a scalar, and rows that open and close what holds it", () => {
    expect(
      draw({ to: "ops", list: [1, { "a b": null }], none: {}, empty: [], big: 2512292042121000001n, yes: true }),
    ).toEqual([
      ["{", "args", "open"],
      ['  "big": 2512292042121000001,', "args.big", "scalar"],
      ['  "empty": [],', "args.empty", "scalar"],
      ['  "list": [', "args.list", "open"],
      ["    1,", "args.list[0]", "scalar"],
      ["    {", "args.list[1]", "open"],
      ['      "a b": null', 'args.list[1]["a b"]', "scalar"],
      ["    }", "args.list[1]", "close"],
      ["  ],", "args.list", "close"],
      ['  "none": {},', "args.none", "scalar"],
      ['  "to": "ops",', "args.to", "scalar"],
      ['  "yes": true', "args.yes", "scalar"],
      ["}", "args", "close"],
    ]);
    expect(draw("x")).toEqual([['"x"', "args", "scalar"]]);
  });

  test("keeps the canonical order of keys that look like numbers", () => {
    expect(draw({ "10": 1, "9": 2 }).map(([drawn]) => drawn.trim())).toEqual(["{", '"10": 1,', '"9": 2', "}"]);
  });

  test("shows what is hidden in keys and in strings, and where a quote belongs to the text", () => {
    expect(draw({ "a\u202e": 'say "hi" \\ \u0000' })[1]?.[0]).toBe('  "a⟨U+202E⟩": "say \\"hi\\" \\\\ ⟨U+0000⟩"');
  });

  test("can draw a text of several lines on one", () => {
    const text = canonicalJson("a\nb");
    expect(drawnText(jsonRows(text))).toBe('"a\nb"');
    expect(drawnText(jsonRows(text, "", { lines: "marked" }))).toBe('"a⟨U+000A⟩b"');
  });

  test.each(["shown", "marked"] as const)("reads back to exactly the text that was hashed (lines %s)", (lines) => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value);
        expect(readDrawn(drawnText(jsonRows(text, "", { lines })))).toBe(text);
      }),
      { numRuns: 2_500 },
    );
  });

  test("of a proposal hashes to its proposal_hash: what is shown is what runs", () => {
    fc.assert(
      fc.property(anyText, anyJson, anyJson, (action, args, output) => {
        const parts = [canonicalJson(args), canonicalJson(output)] as const;
        const drawn = drawnText(jsonRows(proposalText(action, ...parts)));
        expect(sha256Hex(readDrawn(drawn))).toBe(proposalHash(action, ...parts));
      }),
      { numRuns: 5_000 },
    );
  });

  test("is only made of a canonical text", () => {
    expect(() => jsonRows("{" as CanonicalJson)).toThrow(TypeError);
  });
});
