import { describe, expect, test } from "vitest";
import { isSha256, sha256Hex } from "./hash";

describe("a hash", () => {
  test("of the fixture's text is the one that the source gives", () => {
    expect(sha256Hex("approved technical brief")).toBe(
      "6c2595d3124e2ba62657df81eb1b4fd933468c8d3dea6f4e6d3d77a00483c41c",
    );
  });

  test("of a text is that of its UTF-8 bytes", () => {
    expect(sha256Hex("批准 😀")).toBe(sha256Hex(new TextEncoder().encode("批准 😀")));
  });

  test("of half a character does not exist: it would be the hash of another text", () => {
    expect(() => sha256Hex("a\ud800")).toThrow(TypeError);
    expect(() => sha256Hex("\udc00a")).toThrow(TypeError);
  });

  test("is known by its one spelling", () => {
    expect(isSha256("a".repeat(64))).toBe(true);
    for (const text of ["A".repeat(64), "a".repeat(63), "a".repeat(65), `${"a".repeat(64)}\n`, ""]) {
      expect(isSha256(text)).toBe(false);
    }
  });
});
