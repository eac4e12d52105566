import type { Caller } from "./principal";

/** Everything that somebody may ask the store to do or to show. Source: http-api "Who may call what". */
export const VERBS = [
  "publish_snapshot",
  "open_run",
  "talk",
  "propose",
  "ask",
  "wait",
  "put_state",
  "withdraw",
  "finish",
  "resume_failed",
  "begin",
  "renew",
  "complete",
  "read_run",
  "read_trace",
  "read_tickets",
  "read_state",
  "decide",
  "undo",
  "edit",
  "ask_back",
  "assign",
  "answer_pause",
  "answer_own_wait",
  "answer_for_system",
  "cancel_run",
  "replace_ticket",
  "cancel_ticket",
  "pause_run",
  "settle",
  "read_bundle",
  "read_refusals",
  "read_metrics",
  "enqueue_job",
  "claim_job",
  "report_job",
  "execute_claimed",
  "read_jobs",
  "requeue_job",
  "cancel_job",
  "interrupt_mailbox",
  "manage_rules",
  "manage_members",
  "manage_keys",
  "manage_agent_names",
  "manage_retention",
  "drive_cli_run",
] as const;
export type Verb = (typeof VERBS)[number];

/** What may be attempted. `drive_cli_run` is a right alone: the command line proposes, decides, begins and completes under it. */
export type Act = Exclude<Verb, "drive_cli_run">;

/** `own`: on a run that the caller's principal opened; for every other run the answer is 404, as for one that does not exist. */
export type Right = "yes" | "own" | "no";

/** The table's columns: keys of agents, operators and workers, people by their role, and the two callers that need no key. */
const COLUMNS = [
  "agent_key",
  "operator_key",
  "worker_key",
  "approver",
  "operator",
  "owner",
  "system",
  "command_line",
] as const;
type Column = (typeof COLUMNS)[number];
type Row = Partial<Readonly<Record<Column, Exclude<Right, "no">>>>;

const OPENS_RUNS: Row = { agent_key: "yes", operator: "yes", owner: "yes" };
const MOVES_OWN_RUN: Row = { agent_key: "own", operator: "own", owner: "own" };
const OWN_AGENT: Row = { agent_key: "own" };
const READS: Row = {
  agent_key: "own",
  operator_key: "yes",
  approver: "yes",
  operator: "yes",
  owner: "yes",
  command_line: "yes",
};
/** An operator, by session or key, never decides: operating a run and consenting to its acts are two duties. */
const DECIDES: Row = { approver: "yes", owner: "yes" };
const OPERATES: Row = { operator_key: "yes", operator: "yes", owner: "yes" };
const OWNS: Row = { owner: "yes" };
/** Whoever runs the command line could write the tables anyway, so it may set up who else acts; it decides only its own C12 runs. */
const OWNS_OR_SETS_UP: Row = { owner: "yes", command_line: "yes" };
const WORKS: Row = { worker_key: "yes", system: "yes" };

const TABLE: Readonly<Record<Verb, Row>> = {
  publish_snapshot: OPENS_RUNS,
  open_run: OPENS_RUNS,
  talk: MOVES_OWN_RUN,
  propose: MOVES_OWN_RUN,
  ask: MOVES_OWN_RUN,
  wait: MOVES_OWN_RUN,
  put_state: MOVES_OWN_RUN,
  withdraw: MOVES_OWN_RUN,
  finish: MOVES_OWN_RUN,
  resume_failed: MOVES_OWN_RUN,
  begin: OWN_AGENT,
  renew: OWN_AGENT,
  complete: OWN_AGENT,
  read_run: READS,
  read_trace: READS,
  read_tickets: READS,
  read_state: OWN_AGENT,
  decide: DECIDES,
  undo: DECIDES,
  edit: DECIDES,
  ask_back: DECIDES,
  assign: DECIDES,
  answer_pause: { operator: "yes", owner: "yes" },
  answer_own_wait: OWN_AGENT,
  answer_for_system: { system: "yes" },
  cancel_run: { ...OPERATES, agent_key: "own", system: "yes" },
  replace_ticket: OPERATES,
  cancel_ticket: OPERATES,
  pause_run: OPERATES,
  settle: OPERATES,
  read_bundle: { ...OPERATES, command_line: "yes" },
  read_refusals: OPERATES,
  read_metrics: { operator_key: "yes" },
  enqueue_job: WORKS,
  claim_job: WORKS,
  report_job: WORKS,
  execute_claimed: WORKS,
  read_jobs: OPERATES,
  requeue_job: OPERATES,
  cancel_job: OPERATES,
  interrupt_mailbox: OPERATES,
  manage_rules: OWNS_OR_SETS_UP,
  manage_members: OWNS_OR_SETS_UP,
  manage_keys: OWNS_OR_SETS_UP,
  manage_agent_names: OWNS,
  manage_retention: OWNS,
  drive_cli_run: { command_line: "yes" },
};

/** The one place that knows who may do what. A person without a role in the workspace may do nothing. */
export function may(caller: Pick<Caller, "kind" | "role">, verb: Verb): Right {
  const column = columnOf(caller);
  return column === null ? "no" : (TABLE[verb][column] ?? "no");
}

function columnOf({ kind, role }: Pick<Caller, "kind" | "role">): Column | null {
  switch (kind) {
    case "person":
      return role;
    case "agent":
      return "agent_key";
    case "operator":
      return "operator_key";
    case "worker":
      return "worker_key";
    case "system":
      return "system";
    case "cli":
      return "command_line";
  }
}
