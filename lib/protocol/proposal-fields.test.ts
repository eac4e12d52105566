import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "./canonical-json";
import { drawnText } from "./json-lines";
import { findings, hiddenCount, proposalFields, readDrawnFields } from "./proposal-fields";

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({
    unit: fc.constantFrom("\u202e", "\u200b", "\u0000", "\u001b", "\n", " ", '"', "\\", "⟨", "⟩", "U", "+", "а", "a"),
  }),
);
const anyJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt({ min: 2n ** 60n, max: 2n ** 90n }),
    anyText,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 4, noNullPrototype: false }),
  ),
})).value;

test("what a proposal's table draws reads back to the same canonical text", () => {
  fc.assert(
    fc.property(anyText, anyJson, anyJson, (action, args, output) => {
      const text = canonicalJson({ action, args, output });
      const fields = proposalFields(text);
      expect(fields).not.toBeNull();
      const drawn = (fields ?? []).map((field) => ({
        path: field.drawnPath.map((part) => (part.kind === "token" ? part.label : part.source)).join(""),
        value: drawnText(field.rows),
      }));
      expect(readDrawnFields(drawn)).toBe(text);
    }),
    { numRuns: 5_000 },
  );
});

test("a text that is no proposal has no fields", () => {
  for (const text of ["", "[]", "{}", '{"action":"a","args":{}}', '{"action":"a","args":{},"output":null,"more":1}']) {
    expect(proposalFields(text)).toBeNull();
  }
});

test("an argument called __proto__ is a field like any other", () => {
  const text = '{"action":"a","args":{"__proto__":{"x":1},"b":2},"output":null}';
  const fields = proposalFields(text) ?? [];
  expect(fields.map((field) => field.path)).toEqual(["action", "args.__proto__", "args.b", "output"]);
  const drawn = fields.map((field) => ({ path: field.path, value: drawnText(field.rows) }));
  expect(readDrawnFields(drawn)).toBe(text);
});

test("hidden text is counted by kind and place, and what tag characters spell is told", () => {
  const tags = [..."rm -rf ~"].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xe0000)).join("");
  const text = canonicalJson({ action: "run", args: { command: `ls \u202e${tags}`, indent: "a     b" }, output: null });
  const found = findings(proposalFields(text) ?? []);
  expect(found.find((finding) => finding.kind === "tag")).toMatchObject({
    count: 8,
    places: ["args.command"],
    spells: ["rm -rf ~"],
  });
  expect(found.find((finding) => finding.kind === "bidi")).toMatchObject({ count: 1, labels: ["U+202E"] });
  expect(hiddenCount(found)).toBe(9);
});
