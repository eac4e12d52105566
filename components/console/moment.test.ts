import { expect, test } from "vitest";
import { age, clock, countdown, dayOf, fullMoment, machineTime, moment, nearness, span } from "./moment";

test.each([
  [48_000, "0:48"],
  [739_000, "12:19"],
  [3_600_000, "1 h 00 m"],
  [5_100_000, "1 h 25 m"],
  [90_000_000, "1 d 1 h"],
  [-5_000, "0:00"],
])("a countdown of %i ms reads %s", (ms, text) => {
  expect(countdown(ms)).toBe(text);
});

test.each([
  [400, "less than 1 s", "now"],
  [59_000, "59 s", "59 s"],
  [360_000, "6 min", "6 m"],
  [7_200_000, "2 h", "2 h"],
  [172_800_000, "2 d", "2 d"],
])("a span of %i ms reads %s, and %s as an age", (ms, long, short) => {
  expect(span(ms)).toBe(long);
  expect(age(ms)).toBe(short);
});

test("a deadline is soon under fifteen minutes and now under one", () => {
  expect(nearness(15 * 60_000)).toBe("far");
  expect(nearness(15 * 60_000 - 1)).toBe("soon");
  expect(nearness(60_000 - 1)).toBe("now");
  expect(nearness(-1)).toBe("now");
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 9e15])(
  "%s is no time, and is said to be none wherever it stands",
  (ms) => {
    for (const words of [clock(ms), fullMoment(ms), moment(ms, 0), dayOf(ms, 0)])
      expect(words).toBe("no readable time");
    expect(machineTime(ms)).toBeUndefined();
  },
);
