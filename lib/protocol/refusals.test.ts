import { describe, expect, test } from "vitest";
import { isRefusalCode, REFUSALS, type RefusalCode, refusal, refusalAt, refusalRule } from "./refusals";

const CODES = Object.keys(REFUSALS) as RefusalCode[];

/** The contract's table by status; a code that moves or appears is a change of the contract. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: "idempotency_key_missing",
  401: "unauthenticated",
  403: "not_permitted self_approval wrong_executor",
  404: "ticket_not_found unknown_call unknown_job unknown_run",
  410: "expired",
  413: "too_large",
  422: `deadline_in_past decision_id_reused duplicate_key idempotency_key_reused invalid_body invalid_output invalid_unicode
    invalid_verdict number_not_representable too_deep too_many_keys unknown_field`,
  429: "slow_down",
  503: "busy",
};

describe("the table of refusals", () => {
  test("gives every code that is not named otherwise 409", () => {
    for (const code of CODES) {
      const named = Object.entries(BY_STATUS).find(([, codes]) => codes.split(/\s+/).includes(code))?.[0];
      expect([code, refusalRule(code).status]).toEqual([code, Number(named ?? 409)]);
    }
    for (const codes of Object.values(BY_STATUS)) {
      for (const code of codes.split(/\s+/)) expect(isRefusalCode(code), code).toBe(true);
    }
  });

  test("explains each code to somebody: a title, what to do next, and who may see it", () => {
    for (const code of CODES) {
      const { title, advice, sees } = refusalRule(code);
      expect(title.length, code).toBeGreaterThan(5);
      expect(advice.endsWith("."), code).toBe(true);
      expect(sees.length, code).toBeGreaterThan(0);
      expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
    }
  });

  test("says when time alone cures it", () => {
    expect(CODES.filter((code) => refusalRule(code).retryAfter)).toEqual([
      "slow_down",
      "busy",
      "idempotency_in_progress",
      "too_fast",
      "in_progress",
      "in_undo_window",
    ]);
  });

  test("knows no code but its own", () => {
    for (const text of ["", "toString", "__proto__", "EXPIRED", "no_such_code"])
      expect(isRefusalCode(text)).toBe(false);
  });
});

describe("a refusal", () => {
  test("holds its code and only what was said", () => {
    expect(refusal("busy")).toEqual({ code: "busy" });
    expect(refusal("in_progress", { lease_until: "t" }, "d")).toEqual({
      code: "in_progress",
      facts: { lease_until: "t" },
      detail: "d",
    });
    expect(refusalAt("unknown_field", "a.b")).toEqual({ code: "unknown_field", path: "a.b" });
    expect(refusalAt("invalid_body", "a", "d")).toEqual({ code: "invalid_body", path: "a", detail: "d" });
  });
});
