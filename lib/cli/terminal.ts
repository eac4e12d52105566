import { drawUnseen, escapeUnseen } from "@/lib/protocol/hidden-characters";
import { stackOf } from "@/lib/runtime/words-of";

/**
 * What is said to whoever reads the terminal, or the log. Names, errors and answers hold an agent's words, and a terminal obeys what it
 * does not show: it moves its cursor, sets its title, fills the clipboard. So nothing of ours is written but through these.
 */
export function report(text: string): void {
  process.stderr.write(`${drawUnseen(text)}\n`);
}

/** A failure with the place in the program where it arose. */
export function reportFailure(cause: unknown, before = ""): void {
  report(before + stackOf(cause));
}

/** The one JSON object of a command: the same value, with escapes for what a terminal would obey. */
export function printJson(json: string): void {
  process.stdout.write(`${escapeUnseen(json)}\n`);
}
