import type { Act } from "./may";

/** How the ledger's list is grouped: by what was attempted. */
export interface RefusalGroup {
  readonly name: string;
  readonly word: string;
  readonly verbs: readonly Act[];
}

export const REFUSAL_GROUPS: readonly RefusalGroup[] = [
  {
    name: "decisions",
    word: "Decisions",
    verbs: ["decide", "answer_pause", "undo", "edit", "ask_back"],
  },
  {
    name: "resumes",
    word: "Resumes",
    verbs: ["begin", "complete", "renew", "execute_claimed", "answer_own_wait", "answer_for_system"],
  },
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

const WORDS: Readonly<Record<Act, string>> = {
  publish_snapshot: "Publish agent",
  open_run: "Open run",
  talk: "Talk",
  propose: "Propose",
  ask: "Ask",
  wait: "Wait",
  put_state: "Save state",
  withdraw: "Withdraw",
  finish: "Finish",
  resume_failed: "Resume failed",
  begin: "Begin",
  renew: "Renew",
  complete: "Complete",
  read_run: "Read run",
  read_trace: "Read trace",
  read_tickets: "Read ticket",
  read_state: "Read state",
  decide: "Decide",
  undo: "Undo",
  edit: "Edit",
  ask_back: "Ask back",
  assign: "Assign",
  answer_pause: "Continue",
  answer_own_wait: "Answer",
  answer_for_system: "Answer",
  cancel_run: "Cancel run",
  replace_ticket: "Replace ticket",
  cancel_ticket: "Cancel call",
  pause_run: "Pause run",
  settle: "Settle",
  read_bundle: "Read bundle",
  read_refusals: "Read refusals",
  read_metrics: "Read metrics",
  enqueue_job: "Enqueue",
  claim_job: "Claim",
  report_job: "Report on a job",
  execute_claimed: "Resume",
  read_jobs: "Read jobs",
  requeue_job: "Requeue",
  cancel_job: "Cancel job",
  interrupt_mailbox: "Interrupt",
  manage_rules: "Change rules",
  manage_members: "Change people",
  manage_keys: "Change keys",
  manage_agent_names: "Change agent names",
  manage_retention: "Change retention",
};

/** What was attempted, in a word; a late verdict says which. */
export function attemptedWord(verb: string, lateVerdict: string | null): string {
  if (lateVerdict !== null) return `Late ${lateVerdict.replace(/^late_/, "")}`;
  return isAct(verb) ? WORDS[verb] : verb.replaceAll("_", " ");
}

function isAct(verb: string): verb is Act {
  return Object.hasOwn(WORDS, verb);
}
