import { createFile } from "./gateway/create-file";
import type { Act, FileEffect } from "./gateway/effect";

export type Effect = FileEffect;

/** The worker's file actions, until it hands the whole act to `gateway/gateway`. */
export async function perform(
  act: Pick<Act, "action" | "args" | "target">,
  writeRoots: readonly string[],
): Promise<Effect | null> {
  return act.action === "write_draft" || act.action === "write_file" ? createFile(act, writeRoots) : null;
}
