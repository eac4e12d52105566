import { expect, test } from "vitest";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import { satisfiesInTime } from "./answer-in-time";

/** Each level asks the one below twice. */
const doubling = {
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries([
    ...Array.from({ length: 40 }, (_, at) => {
      const below = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, { anyOf: [below, below] }];
    }),
    ["d40", false],
  ]),
};

// Without the limit each of these takes hours.
test.each<[string, JsonValue, JsonValue]>([
  ["an expression that goes back", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
  ["one for names", { patternProperties: { "^(a|a)*$": true } }, { [`${"a".repeat(60)}!`]: 1 }],
  ["one within a list", { items: { pattern: "^(\\w+\\s?)*$" } }, ["", `${"word ".repeat(30)}!`]],
  ["branches of branches", doubling, 1],
])("T70: a schema that is never done admits nothing: %s", (_what, schema, answer) => {
  expect(satisfiesInTime(schema, answer)).toBe(false);
  // The next one is judged as if nothing had been.
  expect(satisfiesInTime({ pattern: "^a+$" }, "aaa")).toBe(true);
});

test("any other answer is judged as it is without a limit", () => {
  expect(satisfiesInTime({ type: "string", pattern: "^[A-Z]{2}\\d+$" }, "AB12")).toBe(true);
  expect(satisfiesInTime({ type: "string", pattern: "^[A-Z]{2}\\d+$" }, "ab12")).toBe(false);
  expect(satisfiesInTime({ pattern: "(" }, "x")).toBe(false);
  expect(satisfiesInTime(null, "x")).toBe(true);
});
