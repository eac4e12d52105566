import { expect, test } from "vitest";
import { instant, msOf, nowAt, plusMs } from "./instant";

test("PostgreSQL's spelling and RFC 3339 are one instant, with six digits", () => {
  expect(instant("2026-01-02 03:04:05.6+00")).toBe("2026-01-02T03:04:05.600000Z");
  expect(instant("2026-01-02 03:04:05+00")).toBe("2026-01-02T03:04:05.000000Z");
  expect(instant("2026-01-02T03:04:05.678901Z")).toBe("2026-01-02T03:04:05.678901Z");
});

test("a time of another zone is refused: text order would no longer be time order", () => {
  expect(() => instant("2026-01-02 03:04:05+01")).toThrow(TypeError);
  expect(() => instant("yesterday")).toThrow(TypeError);
});

test("milliseconds are the floor, and adding some keeps the microseconds", () => {
  const at = instant("2026-12-31T23:59:59.999999Z");
  expect(msOf(at)).toBe(Date.UTC(2026, 11, 31, 23, 59, 59, 999));
  expect(plusMs(at, 1)).toBe("2027-01-01T00:00:00.000999Z");
  expect(plusMs(at, 60_000) > at).toBe(true);
  expect(nowAt(at)).toEqual({ at, ms: msOf(at) });
});
