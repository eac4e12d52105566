import { describe, expect, test } from "vitest";
import {
  CALL_REF_PATTERN,
  CALL_STATUSES,
  CALL_TRANSITIONS,
  callRef,
  IDEMPOTENCY_CLASSES,
  isSafeToRepeat,
  mayCallMove,
} from "./call";
import { mayRunMove, RUN_STATES, RUN_TRANSITIONS } from "./run";

describe("a run's edges", () => {
  test("cover every state, and an ended run has none", () => {
    expect(Object.keys(RUN_TRANSITIONS)).toEqual(RUN_STATES);
    for (const to of RUN_STATES) expect(mayRunMove("ended", to)).toBe(false);
    expect(mayRunMove("running", "awaiting") && mayRunMove("awaiting", "running")).toBe(true);
  });

  test("never lead back to the state they left", () => {
    for (const state of RUN_STATES) expect(mayRunMove(state, state)).toBe(false);
  });
});

describe("a call's edges", () => {
  const edges = CALL_STATUSES.flatMap((from) => CALL_TRANSITIONS[from].map((to) => `${from} → ${to}`));

  test("are those of the contract and no others", () => {
    expect(Object.keys(CALL_TRANSITIONS)).toEqual(CALL_STATUSES);
    expect(edges.sort()).toEqual(
      [
        "requested → approved",
        "requested → completed",
        "requested → awaiting",
        "requested → queued",
        "queued → approved",
        "queued → awaiting",
        "queued → completed",
        "awaiting → approved",
        "awaiting → completed",
        "approved → awaiting",
        "approved → executing",
        "approved → completed",
        "approved → indeterminate",
        "executing → completed",
        "executing → approved",
        "executing → indeterminate",
        "indeterminate → completed",
      ].sort(),
    );
  });

  test("leave a completed call as it is, and none begins without being approved", () => {
    for (const to of CALL_STATUSES) expect(mayCallMove("completed", to)).toBe(false);
    for (const from of CALL_STATUSES) expect(mayCallMove(from, "executing")).toBe(from === "approved");
  });

  test("let every call be finished from wherever it is", () => {
    for (const from of CALL_STATUSES) expect(from === "completed" || reaches(from, "completed")).toBe(true);
  });

  function reaches(from: (typeof CALL_STATUSES)[number], to: string, seen: readonly string[] = []): boolean {
    return CALL_TRANSITIONS[from].some(
      (next) => next === to || (!seen.includes(next) && reaches(next, to, [...seen, next])),
    );
  }
});

describe("a call's place", () => {
  test("is its name", () => {
    expect(callRef(1, 0)).toBe("s1.0");
    expect(callRef(12, 3, 2)).toBe("s12.3e2");
    for (const ref of [callRef(1, 0), callRef(12, 3, 2)]) expect(CALL_REF_PATTERN.test(ref)).toBe(true);
    for (const text of ["s0.0", "s1", "1.0", "s1.0e0", "s1.0 ", "toolu_1", "s1.0e1e1"])
      expect(CALL_REF_PATTERN.test(text)).toBe(false);
  });

  test("decides about a second attempt only by the class of its effect", () => {
    expect(IDEMPOTENCY_CLASSES.filter((effectClass) => !isSafeToRepeat(effectClass))).toEqual(["none"]);
  });
});
