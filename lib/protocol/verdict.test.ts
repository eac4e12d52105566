import { expect, test } from "vitest";
import { CASES } from "./fixtures/verdict-cases";
import { MINUTE, NOW, RUN, TICKET } from "./fixtures/verdict-facts";
import { plainText } from "./sentence";
import { judgeRun } from "./verdict";
import { VERDICT_KINDS } from "./verdict-words";

const spell = {
  time: (at: number) => `T${(at - NOW) / MINUTE}`,
  ago: (at: number) => `${(NOW - at) / MINUTE} min ago`,
};

test.each(CASES)("the verdict says why a run is not moving when $when", ({ run, kind, sentence, action, brief }) => {
  const verdict = judgeRun({ ...RUN, ...run }, NOW);
  expect(verdict.kind).toBe(kind);
  expect(plainText(verdict.sentence, spell)).toBe(sentence);
  expect(verdict.action?.kind ?? null).toBe(action);
  expect(plainText(verdict.brief, spell)).toBe(brief);
});

test("a call that another run works for has no ticket to open: that run says what it waits for", () => {
  const ticket = { ...TICKET, reason: "delegation", action: "ask_clerk", deadline_ms: null } as const;
  const { sentence, brief, action } = judgeRun(
    { ...RUN, executor: "worker", open_tickets: [ticket], open_in_all: 1 },
    NOW,
  );
  expect([plainText(sentence, spell), plainText(brief, spell), action]).toEqual([
    "Waiting for the run that ask_clerk was delegated to, asked T-5, 5 min ago. It has no deadline.",
    "awaiting a delegated run since T-5",
    null,
  ]);
});

test("a run that failed for want of a model says what to set; another ending asks nothing of anyone", () => {
  const failed = (code: string) =>
    judgeRun({ ...RUN, executor: "worker", state: "ended", cause: "failed", cause_code: code }, NOW).step;
  expect(plainText(failed("model_not_configured") ?? [], spell)).toContain("HOLDPOINT_MODEL_BASE_URL");
  expect(failed("premature")).toBeNull();
});

test("every kind of verdict has its case", () => {
  expect(new Set(CASES.map((it) => it.kind))).toEqual(new Set(VERDICT_KINDS));
});

test("a verdict that is not moving names a step, unless only time or a worker can help", () => {
  for (const { run } of CASES) {
    const verdict = judgeRun({ ...RUN, ...run }, NOW);
    if (!verdict.moving && verdict.kind !== "awaiting_agent") expect(verdict.step).not.toBeNull();
  }
});
