import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallRef } from "./call";
import { readSaidCalls, saidCallsText } from "./said-calls";

const aCall = fc.record({
  name: fc.string(),
  argumentsText: fc.string(),
  callRef: fc.option(fc.string().map((ref) => ref as CallRef)),
});

test("what a model's turn called is read back as it was written, whatever stands in it", () => {
  fc.assert(
    fc.property(fc.array(aCall), (calls) => {
      expect(readSaidCalls(saidCallsText(calls))).toEqual(calls);
    }),
  );
});

test.each([
  ['[{"name":"a","arguments":"{}"', "is cut"],
  ['{"name":"a"}', "is no list"],
  ['[{"name":"a","arguments":{}}]', "has arguments that are no text"],
  ['[{"arguments":"{}","call_ref":null},"b"]', "has a call that is none"],
])("a text that %s is not taken for calls: it %s", (text) => {
  expect(readSaidCalls(text)).toBeNull();
});
