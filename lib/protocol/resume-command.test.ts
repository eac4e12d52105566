import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json";
import { anyJson } from "./fixtures/random-json";
import { permissionTicket } from "./fixtures/standing";
import { decodeResumeResult, ResumeCommand, type ResumeResult } from "./resume-command";

const ANSWERS: readonly ResumeResult[] = [
  { kind: "permission", decision: "allow" },
  { kind: "permission", decision: "allow", note: "carefully", payload: { a: [1n] } },
  { kind: "permission", decision: "allow", payload: null },
  { kind: "permission", decision: "deny" },
  { kind: "permission", decision: "deny", reason: "too broad" },
  { kind: "input", input: "text" },
  { kind: "input", input: null },
  { kind: "tool_result", call_id: "toolu_1", output: [] },
  { kind: "continue" },
];

function outcome(value: Parameters<typeof decodeResumeResult>[0]): string {
  const decoded = decodeResumeResult(value);
  return decoded.ok ? "ok" : `${decoded.refusal.code} ${decoded.refusal.path ?? ""}`;
}

describe("a resume command", () => {
  test("has every identity from the ticket, and from the caller only the answer and the clock", () => {
    const origin = { parent_run_id: "p", parent_call_ref: "s1.0", root_run_id: "p", depth: 1 } as never;
    const ticket = { ...permissionTicket, delegation_origin: origin };
    expect(ResumeCommand.fromTicket(ticket, { kind: "continue" }, 12.9)).toEqual({
      correlation_id: "correlation-1",
      run_id: "run-1",
      thread_id: "thread-1",
      snapshot_id: "snapshot-1",
      catalog_fingerprint: "fingerprint-1",
      delegation_origin: origin,
      result: { kind: "continue" },
      now_ms: 12,
    });
  });
});

describe("an answer read from JSON", () => {
  test.each(ANSWERS.map((answer) => [canonicalJson({ ...answer }), answer] as const))(
    "%s is what was written",
    (_text, answer) => {
      expect(decodeResumeResult({ ...answer })).toEqual({ ok: true, value: answer });
    },
  );

  test.each([
    null,
    true,
    "allow",
    1,
    [],
    ["allow"],
    {},
    { decision: "allow" },
    { kind: "Permission", decision: "allow" },
    { kind: "toString" },
    { kind: "__proto__" },
    { kind: ["permission"], decision: "allow" },
    { kind: "permission" },
    { kind: "permission", decision: "ALLOW" },
    { kind: "permission", decision: "Allow" },
    { kind: "permission", decision: "allow " },
    { kind: "permission", decision: "аllow" },
    { kind: "permission", decision: true },
    { kind: "permission", decision: 1 },
    { kind: "permission", decision: ["allow"] },
    { kind: "permission", decision: { toString: "allow" } },
    { kind: "permission", decision: null },
    { kind: "permission", approved: true },
    { kind: "input" },
  ])("%j is no verdict and never consent", (value) => {
    expect(outcome(value)).toMatch(/^invalid_verdict result/);
  });

  test("has no field beyond its kind's", () => {
    expect(outcome({ kind: "permission", decision: "allow", reason: "why" })).toBe("unknown_field result.reason");
    expect(outcome({ kind: "permission", decision: "deny", payload: 1 })).toBe("unknown_field result.payload");
    expect(outcome({ kind: "continue", decision: "allow" })).toBe("unknown_field result.decision");
    expect(outcome({ kind: "input", input: 1, more: 1 })).toBe("unknown_field result.more");
    expect(outcome({ kind: "tool_result", call_id: "c", output: 1, more: 1 })).toBe("unknown_field result.more");
  });

  test("has its fields in their types", () => {
    expect(outcome({ kind: "permission", decision: "allow", note: 1 })).toBe("invalid_body result.note");
    expect(outcome({ kind: "permission", decision: "deny", reason: {} })).toBe("invalid_body result.reason");
    expect(outcome({ kind: "permission", decision: "allow", note: "a\0" })).toBe("invalid_body result.note");
    expect(outcome({ kind: "tool_result", output: 1 })).toBe("invalid_body result.call_id");
    expect(outcome({ kind: "tool_result", call_id: "c" })).toBe("invalid_body result.output");
  });

  test("takes nothing from a prototype", () => {
    expect(outcome(Object.create({ kind: "permission", decision: "allow" }))).toBe("invalid_verdict result.kind");
  });

  test("made of random JSON is never an allow", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(decodeResumeResult(value).ok).toBe(false);
        expect(decodeResumeResult({ kind: "permission", decision: value }).ok).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});
