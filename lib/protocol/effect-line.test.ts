import { expect, test } from "vitest";
import { effectLine } from "./effect-line";

test("a row says the plain arguments and where the effect goes", () => {
  expect(effectLine({ amount: 1653.1, recipient: "DE8937040044" }, "account:DE8937040044")).toEqual({
    lead: "1653.1",
    keep: " → account:DE8937040044",
  });
  expect(effectLine({ reservation_id: "JG7FMM", cabin: "economy", flights: [{ n: 1 }], insured: true }, null)).toEqual({
    lead: "economy · JG7FMM",
    keep: "",
  });
});

test("a long value is cut with an ellipsis, and the target only past its own limit", () => {
  const line = effectLine({ content: "x".repeat(500) }, `/tmp/${"y".repeat(60)}`);
  expect(line.lead).toBe(`${"x".repeat(48)}…`);
  expect(line.keep).toBe(` → /tmp/${"y".repeat(60)}`);
});

test("hidden characters and line breaks are drawn as tokens", () => {
  expect(effectLine({ name: "a\u202eb\nc" }, null).lead).toBe("a⟨U+202E⟩b⟨U+000A⟩c");
});

test("arguments that are no object are spelt themselves", () => {
  expect(effectLine("ls -la", null)).toEqual({ lead: "ls -la", keep: "" });
  expect(effectLine(null, null)).toEqual({ lead: "", keep: "" });
});

test("a list or an object at the first level is spelt by its plain values, the first few of them", () => {
  expect(effectLine({ to: ["a", "b", { deep: 1 }], when: { day: 1, by: "x" } }, null)).toEqual({
    lead: "a, b · x, 1",
    keep: "",
  });
  expect(effectLine(["a", "b", "c", "d", "e"], null).lead).toBe("a, b, c, d, …");
  expect(effectLine("x".repeat(60), null).lead).toBe(`${"x".repeat(48)}…`);
});

test("a target without arguments stands alone", () => {
  expect(effectLine({}, "/tmp/x")).toEqual({ lead: "", keep: "→ /tmp/x" });
});
