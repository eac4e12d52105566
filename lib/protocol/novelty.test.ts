import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json";
import { noveltiesOf } from "./novelty";

const send = (recipient: string, amount: number) =>
  canonicalJson({ action: "send_money", args: { amount, recipient }, output: `account:${recipient}` });

test("a recipient never named before and the largest amount so far are told", () => {
  expect(noveltiesOf(send("DE89", 1653.1), [send("DH59", 156.9), send("DH59", 905)])).toEqual([
    { path: "args.amount", kind: "largest_so_far" },
    { path: "args.recipient", kind: "first_ever" },
    { path: "output", kind: "first_ever" },
  ]);
});

test("a smaller amount to a known recipient is nothing new", () => {
  expect(noveltiesOf(send("DH59", 10), [send("DH59", 156.9)])).toEqual([]);
});

test("a first call has nothing to be new against", () => {
  expect(noveltiesOf(send("DH59", 10), [])).toEqual([]);
});
