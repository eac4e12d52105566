import type { Verb } from "./may";

/** How the ledger's list is grouped: by what was attempted. */
export interface RefusalGroup {
  readonly name: string;
  readonly word: string;
  readonly verbs: readonly Verb[];
}

export const REFUSAL_GROUPS: readonly RefusalGroup[] = [
  {
    name: "decisions",
    word: "Decisions",
    verbs: ["decide", "answer_pause", "drive_cli_run", "undo", "edit", "ask_back"],
  },
  { name: "resumes", word: "Resumes", verbs: ["begin", "complete", "renew", "execute_claimed", "answer_own_wait"] },
  {
    name: "proposals",
    word: "Proposals",
    verbs: ["open_run", "publish_snapshot", "talk", "propose", "ask", "wait", "withdraw", "put_state"],
  },
  {
    name: "operations",
    word: "Operations",
    verbs: ["replace_ticket", "cancel_ticket", "cancel_run", "pause_run", "settle", "finish", "resume_failed"],
  },
  {
    name: "claims",
    word: "Claims",
    verbs: ["enqueue_job", "claim_job", "report_job", "requeue_job", "cancel_job", "interrupt_mailbox"],
  },
];

const WORDS: Partial<Readonly<Record<string, string>>> = {
  decide: "Decision",
  answer_pause: "Continue",
  drive_cli_run: "Command line",
  begin: "Begin",
  complete: "Complete",
  renew: "Renew",
  execute_claimed: "Resume",
  answer_own_wait: "Answer",
  open_run: "Open run",
  propose: "Propose",
  ask: "Ask",
  wait: "Wait",
  withdraw: "Withdraw",
  replace_ticket: "Replace ticket",
  cancel_ticket: "Cancel call",
  cancel_run: "Cancel run",
  settle: "Settle",
  finish: "Finish",
  read_run: "Read run",
  read_tickets: "Read ticket",
};

/** What was attempted, in a word; a late verdict says which. */
export function attemptedWord(verb: string, lateVerdict: string | null): string {
  if (lateVerdict !== null) return `Late ${lateVerdict.replace(/^late_/, "")}`;
  return WORDS[verb] ?? verb.replaceAll("_", " ");
}
