import { expect, it } from "vitest";
import { backoffMs, JOB_STATUSES, JOB_TRANSITIONS } from "./mailbox-job";

it("an attempt that failed rests 250 ms, then twice as long each time, at most 30 s", () => {
  expect([1, 2, 3, 4, 7, 8, 9, 100].map(backoffMs)).toEqual([250, 500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(0)).toBe(250);
});

it("what is delivered, cancelled or superseded stays so; a dead letter alone comes back, and only into the queue", () => {
  const ends = JOB_STATUSES.filter((status) => JOB_TRANSITIONS[status].length === 0);
  expect(ends).toEqual(["Accepted", "Cancelled", "Superseded"]);
  expect(JOB_TRANSITIONS.DeadLetter).toEqual(["Queued"]);
});
