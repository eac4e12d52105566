import { describe, expect, it } from "vitest";
import { Attempts } from "./attempts";

const limits = { perName: 3, together: 5, windowMs: 1_000 };

describe("attempts", () => {
  it("the limit is exact, and waiting as long as was said is enough", () => {
    const attempts = new Attempts(limits);
    expect([0, 10, 20].map((at) => attempts.take("a", at))).toEqual([null, null, null]);
    const wait = attempts.take("a", 30);
    expect(wait).toBe(970);
    expect(attempts.take("a", 30 + 969)).not.toBeNull();
    expect(attempts.take("a", 30 + 970)).toBeNull();
  });

  it("one name's attempts do not count for another, until all together are too many", () => {
    const attempts = new Attempts(limits);
    for (const name of ["a", "a", "a", "b", "c"]) expect(attempts.take(name, 0)).toBeNull();
    expect(attempts.take("d", 1)).toBe(999);
    expect(attempts.take("d", 1_000)).toBeNull();
  });

  it("a success forgets the mistakes before it", () => {
    const attempts = new Attempts(limits);
    for (let count = 0; count < 3; count += 1) attempts.take("a", 0);
    attempts.clear("a");
    expect(attempts.take("a", 1)).toBeNull();
  });
});
