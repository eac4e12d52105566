import { CommandRefused } from "./refused";

/** The command's verbs, in the order in which somebody new needs them. */
const VERBS = [
  ["keys create --kind agent|operator|worker --name NAME", "a key, shown once"],
  ["people add EMAIL --role approver|operator|owner", "a sign-in link that works once, and a personal key"],
  ["replay FILE.jsonl [--thread TEXT] [--most N] [--ask-all]", "runs that replay recorded threads"],
  ["verify FILE|RUN", "check a downloaded bundle, or a run's chain"],
  ["worker", "one more worker, until Ctrl-C"],
  ["start RUN --output PATH", "park the writing of one file"],
  ["approve RUN --proposal-hash HASH", "allow it"],
  ["reject RUN --proposal-hash HASH", "deny it"],
  ["resume RUN [--output PATH]", "execute what was allowed, once"],
  ["show-trace RUN", "the run with its events"],
] as const;

/** What can be said, one verb a line; of one verb alone where it is known. */
export function usageLines(verb: string | null): readonly string[] {
  const own = VERBS.filter(([words]) => words.split(" ")[0] === verb);
  const shown = own.length > 0 ? own : VERBS;
  const width = Math.max(...shown.map(([words]) => words.length));
  return shown.map(([words, what]) => `holdpoint ${words.padEnd(width)}  ${what}`);
}

/** What is wrong with the words, and how the verb is said. */
export function usage(why: string, verb: string | null = null): CommandRefused {
  return new CommandRefused("usage", [why, ...usageLines(verb)].join("\n"));
}
