import { expect, test } from "vitest";
import type { JobFacts, LiveCallFacts, OpenTicketFacts, RunFacts } from "./console-run-view";
import { plainText } from "./sentence";
import { judgeRun } from "./verdict";
import { VERDICT_KINDS, type VerdictKind } from "./verdict-words";

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

const spell = {
  time: (at: number) => `T${(at - NOW) / MINUTE}`,
  ago: (at: number) => `${(NOW - at) / MINUTE} min ago`,
};

const RUN: RunFacts = {
  run_id: "run_1",
  agent: "daily-assistant",
  executor: "client",
  state: "running",
  cause: null,
  cause_code: null,
  ended_by: null,
  ended_ms: null,
  created_ms: NOW - 60 * MINUTE,
  last_seen_ms: NOW,
  stalled_reason: null,
  resume_failed: null,
  open_tickets: [],
  live_calls: [],
  late_effects: 0,
  job: null,
  worker_seen_ms: NOW,
};
const TICKET: OpenTicketFacts = {
  ticket_id: "t1",
  reason: "permission",
  action: "send_money",
  effect: { lead: "156.9", keep: " → DH5939281092" },
  opened_ms: NOW - 5 * MINUTE,
  deadline_ms: NOW + 10 * MINUTE,
  expired_ms: null,
};
const CALL: LiveCallFacts = {
  call_ref: "s1.0",
  action: "send_money",
  effect: { lead: "156.9", keep: " → DH5939281092" },
  status: "approved",
  attempt: 0,
  unreported: false,
  claimed_by: null,
  lease_until_ms: null,
  effective_class: "none",
  allowed: { by: "Rosa Lindqvist", at_ms: NOW - 6 * MINUTE },
  allow_valid_until_ms: null,
  ticket_id: "t1",
};
const JOB: JobFacts = {
  status: "Queued",
  attempt_count: 0,
  max_attempts: 5,
  last_error: null,
  claimed_by: null,
  lease_until_ms: null,
  available_ms: NOW - MINUTE,
  updated_ms: NOW - MINUTE,
};

const open = (ticket: Partial<OpenTicketFacts> = {}): Partial<RunFacts> => ({
  state: "awaiting",
  open_tickets: [{ ...TICKET, ...ticket }],
});
const live = (call: Partial<LiveCallFacts>): Partial<RunFacts> => ({ live_calls: [{ ...CALL, ...call }] });
const worker = (call: Partial<LiveCallFacts>, job: Partial<JobFacts> = {}): Partial<RunFacts> => ({
  ...live(call),
  executor: "worker",
  job: { ...JOB, ...job },
});

const CASES: readonly {
  readonly when: string;
  readonly run: Partial<RunFacts>;
  readonly kind: VerdictKind;
  readonly sentence: string;
  readonly action: string | null;
  readonly brief: string;
}[] = [
  {
    when: "a permission is open",
    run: open(),
    kind: "awaiting_decision",
    sentence: "Waiting for a decision on send_money to DH5939281092, asked T-5, 5 min ago. Its deadline is T10.",
    action: "open_ticket",
    brief: "awaiting approval since T-5",
  },
  {
    when: "two tickets are open, the older one is told",
    run: {
      ...open(),
      open_tickets: [TICKET, { ...TICKET, ticket_id: "t0", opened_ms: NOW - 9 * MINUTE, deadline_ms: null }],
    },
    kind: "awaiting_decision",
    sentence:
      "Waiting for a decision on send_money to DH5939281092, asked T-9, 9 min ago. It has no deadline. 1 other ticket waits beside it.",
    action: "open_ticket",
    brief: "awaiting approval since T-9",
  },
  {
    when: "the deadline passed under hold",
    run: open({ deadline_ms: NOW - 11 * MINUTE, expired_ms: NOW - 11 * MINUTE + 1 }),
    kind: "expired",
    sentence:
      "Not moving: the deadline of send_money passed T-11, 11 min ago. It is held: nothing ran, and an answer no longer counts.",
    action: "replace",
    brief: "expired T-11, held",
  },
  {
    when: "a question is open",
    run: open({ reason: "user_input" }),
    kind: "awaiting_answer",
    sentence: "Waiting for an answer to its question, asked T-5, 5 min ago. Its deadline is T10.",
    action: "open_ticket",
    brief: "awaiting an answer since T-5",
  },
  {
    when: "it is paused",
    run: open({ reason: "manual", deadline_ms: null }),
    kind: "paused",
    sentence: "Waiting for someone to continue it: it was paused, asked T-5, 5 min ago. It has no deadline.",
    action: "open_ticket",
    brief: "paused since T-5",
  },
  {
    when: "its own agent runs the tool",
    run: open({ reason: "client_execution" }),
    kind: "awaiting_agent",
    sentence:
      "Waiting for its own agent, which runs send_money itself, asked T-5, 5 min ago. Its deadline is T10. Its agent was last seen T0.",
    action: null,
    brief: "awaiting its agent since T-5",
  },
  {
    when: "an allow was not picked up by the agent",
    run: { ...live({}), last_seen_ms: NOW - 20 * MINUTE },
    kind: "not_picked_up",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, 6 min ago, and not picked up since. Its agent was last seen T-20.",
    action: "cancel_run",
    brief: "approved, not picked up since T-6",
  },
  {
    when: "an allow is seconds old",
    run: live({ allowed: { by: "Rosa Lindqvist", at_ms: NOW - 1_000 } }),
    kind: "queued",
    sentence:
      "Moving: allowed T-0.016666666666666666 by Rosa Lindqvist, ready for its agent. Its agent was last seen T0.",
    action: null,
    brief: "approved, ready for its agent",
  },
  {
    when: "a rule approved it",
    run: { ...live({ allowed: null }), created_ms: NOW },
    kind: "approved",
    sentence: "Moving: send_money may run by a rule, ready for its agent. Its agent was last seen T0.",
    action: null,
    brief: "approved, ready for its agent",
  },
  {
    when: "no worker polls",
    run: { ...worker({}), worker_seen_ms: NOW - 8 * MINUTE },
    kind: "no_worker",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, and no worker was seen since T-8. The decision is kept; the call runs once a worker is back.",
    action: null,
    brief: "approved, no worker",
  },
  {
    when: "a worker polls and yet nobody took the job",
    run: worker({}),
    kind: "not_picked_up",
    sentence: "Not moving: allowed T-6 by Rosa Lindqvist, 6 min ago, and not picked up since, though a worker polls.",
    action: "replace",
    brief: "approved, not picked up since T-6",
  },
  {
    when: "the job backs off",
    run: worker({}, { attempt_count: 2, available_ms: NOW + MINUTE, last_error: "connection refused" }),
    kind: "retrying",
    sentence:
      "Waiting to try again: allowed T-6 by Rosa Lindqvist, attempt 3 of 5 at T1. The last error was connection refused.",
    action: null,
    brief: "retries T1",
  },
  {
    when: "a worker holds the job",
    run: worker({}, { status: "Claimed", claimed_by: "w3" }),
    kind: "executing",
    sentence: "Moving: allowed T-6 by Rosa Lindqvist, claimed by w3.",
    action: null,
    brief: "claimed by w3",
  },
  {
    when: "the job was given up",
    run: worker({}, { status: "DeadLetter", attempt_count: 5, last_error: "disk full", updated_ms: NOW - 2 * MINUTE }),
    kind: "dead_letter",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, then its job was given up after 5 attempts, 2 min ago. The last error was disk full.",
    action: "replace",
    brief: "given up after 5 attempts",
  },
  {
    when: "it executes under a live lease",
    run: live({ status: "executing", attempt: 1, claimed_by: "w3", lease_until_ms: NOW + MINUTE }),
    kind: "executing",
    sentence: "Moving: w3 executes send_money, attempt 1, under a lease until T1.",
    action: null,
    brief: "executing send_money",
  },
  {
    when: "the lease ran out and it is not safe to repeat",
    run: live({ status: "executing", attempt: 1, claimed_by: "w3", lease_until_ms: NOW - 6 * MINUTE }),
    kind: "lease_lost",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, begun by w3, lease expired 6 min ago. It is not safe to repeat, so it becomes indeterminate and waits for a person.",
    action: "settle",
    brief: "lease lost 6 min ago",
  },
  {
    when: "the lease ran out and it is safe to repeat",
    run: live({ status: "executing", attempt: 1, effective_class: "read_only", lease_until_ms: NOW - MINUTE }),
    kind: "lease_lost",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, begun by its executor, lease expired 1 min ago. It is safe to repeat, so it may be begun again.",
    action: null,
    brief: "lease lost 1 min ago",
  },
  {
    when: "an attempt did not report",
    run: live({ unreported: true, attempt: 2, effective_class: "create_new" }),
    kind: "unreported",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, and attempt 2 ended without a report. It is safe to repeat, so it may be begun again.",
    action: "settle",
    brief: "attempt 2 unreported",
  },
  {
    when: "the allow lapsed",
    run: live({ allow_valid_until_ms: NOW - MINUTE }),
    kind: "lapsed",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, and the allow was good until T-1. Nobody began the call in time; it cannot begin any more.",
    action: "replace",
    brief: "allow lapsed T-1",
  },
  {
    when: "nobody knows whether it happened",
    run: live({ status: "indeterminate", attempt: 1, claimed_by: "worker w3", lease_until_ms: NOW - 6 * MINUTE }),
    kind: "indeterminate",
    sentence:
      "Not moving: allowed T-6 by Rosa Lindqvist, begun by worker w3, lease expired 6 min ago. No result came back, so send_money to DH5939281092 may or may not have happened, and Holdpoint will not run it again on a guess.",
    action: "settle",
    brief: "indeterminate: send_money",
  },
  {
    when: "the agent could not go on",
    run: { ...live({}), resume_failed: "checkpoint missing" },
    kind: "resume_failed",
    sentence:
      "Not moving: it was decided, and its agent reported that it could not go on. It said checkpoint missing. The decision stands.",
    action: "cancel_run",
    brief: "resume failed",
  },
  {
    when: "an interrupt superseded its job",
    run: { ...worker({}), stalled_reason: "superseded" },
    kind: "stalled",
    sentence: "Not moving: an interrupt superseded its last job, so what was allowed was not run.",
    action: "cancel_run",
    brief: "superseded, not run",
  },
  {
    when: "the agent is gone",
    run: { last_seen_ms: NOW - 30 * MINUTE },
    kind: "agent_gone",
    sentence: "Not moving: its agent was not seen since T-30, 30 min ago. Nothing waits for a person.",
    action: "cancel_run",
    brief: "agent not seen since T-30",
  },
  {
    when: "the model thinks",
    run: {},
    kind: "running",
    sentence: "Moving: the model’s turn. Nothing waits for a person. Its agent was last seen T0.",
    action: null,
    brief: "the model’s turn",
  },
  {
    when: "it was cancelled and an effect was reported late",
    run: { state: "ended", cause: "cancelled", ended_by: "Ana Duarte", ended_ms: NOW - MINUTE, late_effects: 1 },
    kind: "ended",
    sentence: "Cancelled T-1 by Ana Duarte. 1 effect reported after the end, kept in the trace.",
    action: "read_trace",
    brief: "cancelled, 1 effect after the end",
  },
];

test.each(CASES)("the verdict says why a run is not moving when $when", ({ run, kind, sentence, action, brief }) => {
  const verdict = judgeRun({ ...RUN, ...run }, NOW);
  expect(verdict.kind).toBe(kind);
  expect(plainText(verdict.sentence, spell)).toBe(sentence);
  expect(verdict.action?.kind ?? null).toBe(action);
  expect(plainText(verdict.brief, spell)).toBe(brief);
});

test("every kind of verdict has its case", () => {
  expect(new Set(CASES.map((it) => it.kind))).toEqual(new Set(VERDICT_KINDS));
});

test("a verdict that is not moving names a step, unless only time or a worker can help", () => {
  for (const { run } of CASES) {
    const verdict = judgeRun({ ...RUN, ...run }, NOW);
    if (!verdict.moving && verdict.kind !== "awaiting_agent") expect(verdict.step).not.toBeNull();
  }
});
