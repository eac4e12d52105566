import { expect, test } from "vitest";
import { answerForm, checkAnswer } from "./answer-form";

const SCHEMA = {
  type: "object",
  properties: {
    payment_id: { type: "string", enum: ["gift_card_6276644", "certificate_8544743"] },
    max_amount: { type: "number", minimum: 0, maximum: 2000 },
    order: { type: "integer" },
    note: { type: "string", maxLength: 5 },
    extra: { type: "array" },
    urgent: { type: "boolean" },
  },
  required: ["payment_id"],
} as const;

const form = answerForm(SCHEMA, null);
const check = (draft: Record<string, string>) => checkAnswer(form, draft, SCHEMA);

test("the form's values become canonical JSON, exactly as typed", () => {
  const draft = {
    payment_id: '"certificate_8544743"',
    max_amount: "12.50",
    order: "2512292042121000001",
    note: "",
    extra: "[1]",
    urgent: "true",
  };
  expect(check(draft)).toEqual({
    ok: true,
    text: '{"extra":[1],"max_amount":12.5,"order":2512292042121000001,"payment_id":"certificate_8544743","urgent":true}',
  });
});

test.each([
  [{}, { payment_id: "payment_id is missing" }],
  [{ payment_id: '"x"', max_amount: "2500" }, { max_amount: "2500 is over 2000, the most this question takes" }],
  [{ payment_id: '"x"', max_amount: "-1" }, { max_amount: "-1 is under 0, the least this question takes" }],
  [{ payment_id: '"x"', max_amount: "ten" }, { max_amount: "ten is no number" }],
  [{ payment_id: '"x"', order: "1.5" }, { order: "1.5 is no integer" }],
  [{ payment_id: '"x"', note: "too long" }, { note: "longer than 5 characters" }],
  [{ payment_id: '"x"', extra: "[" }, { extra: "not JSON" }],
  [{ payment_id: '"unknown"' }, { "": "This does not satisfy the question’s schema." }],
])("%j is refused in words", (draft, faults) => {
  expect(check(draft)).toEqual({ ok: false, faults });
});

test("a question without a schema takes text, or one of its options", () => {
  expect(answerForm(null, null)).toEqual({ kind: "text" });
  expect(checkAnswer({ kind: "text" }, { "": "yes, go" }, null)).toEqual({ ok: true, text: '"yes, go"' });
  expect(answerForm(null, ["a", "b"])).toEqual({ kind: "choice", choices: ["a", "b"] });
  expect(checkAnswer({ kind: "text" }, {}, null)).toEqual({ ok: false, faults: { "": "Write an answer." } });
});

test("what a form cannot ask is asked as JSON", () => {
  expect(answerForm({ type: "array" }, null)).toEqual({ kind: "json" });
  expect(answerForm("odd", null)).toEqual({ kind: "json" });
  expect(checkAnswer({ kind: "json" }, { "": "[1,2]" }, { type: "array" })).toEqual({ ok: true, text: "[1,2]" });
  expect(checkAnswer({ kind: "json" }, { "": "{" }, true)).toEqual({ ok: false, faults: { "": "This is not JSON." } });
});

test("T70: what may take long to judge is left to the server, so that no page stands still by it", () => {
  const evil = { properties: { a: { pattern: "^(a+)+$" } } };
  const typed = `{"a":"${"a".repeat(60)}!"}`;
  expect(checkAnswer({ kind: "json" }, { "": typed }, evil)).toEqual({ ok: true, text: typed });
  const oneOfMany = { anyOf: [{ type: "number" }, { allOf: [{ not: { $ref: "#" } }] }] };
  expect(checkAnswer({ kind: "json" }, { "": '"x"' }, oneOfMany)).toMatchObject({ ok: true });
});
