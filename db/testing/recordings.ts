import { existsSync } from "node:fs";
import path from "node:path";

/** Real recorded tool calls, where they are on this machine: not part of the project, so tests that read them may have to skip. */
export const RECORDED_CALLS = path.resolve("..", "shared", "data", "toolcalls.jsonl");

/** False where the recordings are missing; said once, so that a skipped test is not taken for a passed one. */
export function recordingsAreHere(): boolean {
  const here = existsSync(RECORDED_CALLS);
  if (!here) process.stderr.write("SKIPPED: the recorded tool calls are not on this machine\n");
  return here;
}
