import { expect, test } from "vitest";
import { differenceMarks } from "./value-marks";

const inked = (now: string, before: string) =>
  differenceMarks(now, before, false).map(({ from, to }) => now.slice(from, to));

test("characters at the same place that differ are marked in runs", () => {
  expect(inked('"DE8937040044"', '"DH5939281092"')).toEqual(["E8", "7040", "44"]);
  expect(inked('"2024-05-19"', '"2026-01-22"')).toEqual(["4", "5", "19"]);
});

test("a number is marked whole", () => {
  expect(differenceMarks("1653.1", "156.9", true)).toEqual([{ from: 0, to: 6 }]);
});

test("texts of unequal length are marked between what they share", () => {
  expect(inked("/tmp/reports/2026-11.csv", "/tmp/reports/11.csv")).toEqual(["2026-"]);
});

test("texts that share little, and long ones, are not marked", () => {
  expect(inked('"Remaining Balance Transfer"', '"Electricity Bill Payment"')).toEqual([]);
  expect(inked("x".repeat(300), "y".repeat(300))).toEqual([]);
});
