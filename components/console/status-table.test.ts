import { expect, test } from "vitest";
import { JOB_LOOKS } from "./status-table";

test("D4-53: a job that was delivered is called neither a success nor by a word of one", () => {
  expect(JOB_LOOKS.Accepted).toMatchObject({ word: "Accepted", tone: "off" });
});
