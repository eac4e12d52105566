import type { LiveCallFacts, OpenTicketFacts, RunFacts } from "./console-run-view";
import { ago, bold, count, quoted, type Sentence, say, time } from "./sentence";
import { approvedCall, besides, deadLetter, executingCall, indeterminateCall } from "./verdict-call";
import { byJob } from "./verdict-job";
import { allowed, type RunVerdict, seen, told, toWhere, type VerdictKind } from "./verdict-words";

/** `last_seen_at` is written at most every 30 s and a long-poll lasts up to 60: silence is judged well past both. */
const AGENT_GONE_MS = 150_000;

/**
 * Joins ticket, decision, job, lease and attempts. The first that holds is the verdict: what only a person can cure comes before
 * what time cures. Pure: the clock is given.
 */
export function judgeRun(run: RunFacts, nowMs: number): RunVerdict {
  if (run.state === "ended") return ended(run);
  const indeterminate = run.live_calls.find((call) => call.status === "indeterminate");
  if (indeterminate) return indeterminateCall(run, indeterminate, nowMs);
  const expired = run.open_tickets.find((ticket) => ticket.expired_ms !== null);
  if (expired) return expiredTicket(expired);
  const open = oldest(run.open_tickets);
  if (open) return openTicket(run, open, nowMs);
  const approved = run.live_calls.find((call) => call.status === "approved") ?? null;
  if (run.resume_failed !== null) return resumeFailed(run.resume_failed, approved);
  if (run.job?.status === "DeadLetter") return deadLetter(run, approved, nowMs);
  if (run.stalled_reason !== null) return stalled(run, run.stalled_reason, approved);
  const executing = run.live_calls.find((call) => call.status === "executing");
  if (executing) return executingCall(run, executing, nowMs);
  if (approved) return approvedCall(run, approved, nowMs);
  return run.executor === "worker" ? hosted(run, nowMs) : idle(run, nowMs);
}

const ENDINGS = {
  completed: { tone: "ok", words: "Completed" },
  cancelled: { tone: "off", words: "Cancelled" },
  stopped: { tone: "off", words: "Stopped" },
  failed: { tone: "bad", words: "Failed" },
  budget_exhausted: { tone: "bad", words: "Budget used up" },
  indeterminate: { tone: "odd", words: "Ended over an effect that nobody reported" },
} as const;

function ended(run: RunFacts): RunVerdict {
  const ending = ENDINGS[run.cause ?? "failed"];
  const at = run.ended_ms ?? run.created_ms;
  // A worker acts in the name of whoever started the run: that a run here failed is not that person's act.
  const byHand = run.executor !== "worker" || run.cause === "cancelled" || run.cause === "stopped";
  const by = run.ended_by === null || !byHand ? say`` : say` by ${quoted(run.ended_by)}`;
  const code = run.cause_code === null ? say`` : say` (${quoted(run.cause_code)})`;
  const late = run.late_effects;
  const lateEffects = count(late, "effect", "effects");
  return {
    kind: "ended",
    tone: ending.tone,
    moving: true,
    sentence: [
      ...bold(say`${ending.words} ${time(at)}${by}${code}.`),
      ...(late === 0 ? say`` : say` ${lateEffects} reported after the end, kept in the trace.`),
    ],
    step: late === 0 ? cureOf(run.cause_code) : say`compare what was reported late with what you see outside.`,
    action: late === 0 ? null : { kind: "read_trace" },
    brief:
      late === 0 ? say`${lower(ending.words)} ${time(at)}` : say`${lower(ending.words)}, ${lateEffects} after the end`,
  };
}

/** What an operator repairs before another run of this agent is started. */
const CURES: Readonly<Record<string, Sentence>> = {
  model_not_configured: say`set HOLDPOINT_MODEL_BASE_URL and HOLDPOINT_MODEL_API_KEY (any text where the provider wants none) where the worker runs, then start another run.`,
  model_refused: say`see what the provider refuses (key, model, request), then start another run.`,
};

function cureOf(code: string | null): Sentence | null {
  return code === null ? null : (CURES[code] ?? null);
}

function expiredTicket(ticket: OpenTicketFacts): RunVerdict {
  const at = ticket.deadline_ms ?? ticket.expired_ms ?? ticket.opened_ms;
  return {
    kind: "expired",
    tone: "wait",
    moving: false,
    sentence: [
      ...bold(say`Not moving: the deadline of ${quoted(ticket.action)} passed ${time(at)}, ${ago(at)}.`),
      ...say` It is held: nothing ran, and an answer no longer counts.`,
    ],
    step: say`replace the ticket, which asks again with a new deadline, or cancel the run.`,
    action: { kind: "replace", ticket_id: ticket.ticket_id },
    brief: say`expired ${time(at)}, held`,
  };
}

interface Wait {
  readonly kind: VerdictKind;
  readonly forWhat: Sentence;
  readonly brief: string;
  /** Null where no person can help: the agent or the system answers. */
  readonly step: Sentence | null;
}

function openTicket(run: RunFacts, ticket: OpenTicketFacts, nowMs: number): RunVerdict {
  const wait = waitFor(ticket);
  const others = run.open_in_all - 1;
  const due =
    ticket.deadline_ms === null ? say` It has no deadline.` : say` Its deadline is ${time(ticket.deadline_ms)}.`;
  const beside = others === 0 ? say`` : say` ${count(others, "other ticket waits", "other tickets wait")} beside it.`;
  return {
    kind: wait.kind,
    tone: "wait",
    moving: false,
    sentence: [
      ...bold(say`Waiting for ${wait.forWhat}, asked ${time(ticket.opened_ms)}, ${ago(ticket.opened_ms)}.`),
      ...due,
      ...beside,
      ...besides(run, nowMs),
      ...(wait.kind === "awaiting_agent" ? seen(run) : []),
    ],
    step: wait.step,
    action:
      wait.kind === "awaiting_agent" || wait.step === null
        ? null
        : { kind: "open_ticket", ticket_id: ticket.ticket_id },
    brief: say`${wait.brief} since ${time(ticket.opened_ms)}`,
  };
}

function waitFor(ticket: OpenTicketFacts): Wait {
  const agent = (forWhat: Sentence): Wait => ({
    kind: "awaiting_agent",
    forWhat,
    brief: "awaiting its agent",
    step: null,
  });
  const paused = (why: string): Wait => ({
    kind: "paused",
    forWhat: say`someone to continue it: ${why}`,
    brief: "paused",
    step: say`open the pause and continue it, or cancel the run.`,
  });
  switch (ticket.reason) {
    case "permission":
      return {
        kind: "awaiting_decision",
        forWhat: say`a decision on ${quoted(ticket.action)}${toWhere(ticket.effect)}`,
        brief: "awaiting approval",
        step: say`read the ticket, then decide.`,
      };
    case "user_input":
      return {
        kind: "awaiting_answer",
        forWhat: say`an answer to its question`,
        brief: "awaiting an answer",
        step: say`read the question, then answer it.`,
      };
    case "manual":
      return paused("it was paused");
    case "budget_reached":
      return paused("its budget is reached");
    case "client_execution":
      return agent(say`its own agent, which runs ${quoted(ticket.action)} itself`);
    case "delegation":
      return {
        ...agent(say`the run that ${quoted(ticket.action)} was delegated to`),
        brief: "awaiting a delegated run",
        step: say`see below what that run waits for.`,
      };
    case "external_event":
      return agent(say`an event that its own agent reports`);
    default:
      return { ...agent(say`the system, which goes on by itself`), brief: "waiting by itself" };
  }
}

function resumeFailed(error: string, call: LiveCallFacts | null): RunVerdict {
  return told({
    kind: "resume_failed",
    tone: "bad",
    lead: "Not moving",
    core: say`${call === null ? "it was decided" : allowed(call)}, and its agent reported that it could not go on`,
    more: say` It said ${quoted(error)}. The decision stands.`,
    step: say`repair the agent and let it begin the call, or cancel the run.`,
    action: { kind: "cancel_run" },
    brief: say`resume failed`,
  });
}

function stalled({ job }: RunFacts, reason: string, call: LiveCallFacts | null): RunVerdict {
  const superseded = reason === "superseded" || reason === "interrupted";
  const when = job?.status === "Superseded" ? say` ${time(job.updated_ms)}` : [];
  const core = superseded
    ? say`${call === null ? [] : say`${allowed(call)}, and `}an interrupt superseded its last job${when}, so it was not run`
    : say`${quoted(reason)}`;
  return told({
    kind: "stalled",
    tone: superseded ? "off" : "bad",
    lead: "Not moving",
    core,
    more: [],
    step: say`cancel the run; its agent may propose anew in another.`,
    action: { kind: "cancel_run" },
    brief: superseded ? say`superseded, not run` : say`${quoted(reason)}`,
  });
}

/** A worker's run with nothing to decide and nothing to execute: only its job can move it. */
function hosted(run: RunFacts, nowMs: number): RunVerdict {
  const sinceMs = run.decided?.at_ms ?? run.created_ms;
  const core = say`the model’s turn`;
  return byJob(run, { core, what: "the model’s turn", sinceMs, call: null, more: lastDecision(run) }, nowMs);
}

function lastDecision({ decided }: RunFacts): Sentence {
  if (decided === null) return [];
  return say` The last decision was ${decided.verdict} by ${quoted(decided.by)}, ${time(decided.at_ms)}.`;
}

function idle(run: RunFacts, nowMs: number): RunVerdict {
  // Whoever opened it was there then, whether it called again or not.
  const seenMs = run.last_seen_ms ?? run.created_ms;
  if (run.executor === "client" && nowMs - seenMs > AGENT_GONE_MS) {
    return {
      kind: "agent_gone",
      tone: "bad",
      moving: false,
      sentence: [
        ...bold(say`Not moving: its agent was not seen since ${time(seenMs)}, ${ago(seenMs)}.`),
        ...say` Nothing waits for a person.`,
        ...lastDecision(run),
      ],
      step: say`see whether the agent still runs; if it is gone for good, cancel the run.`,
      action: { kind: "cancel_run" },
      brief: say`agent not seen since ${time(seenMs)}`,
    };
  }
  return {
    kind: "running",
    tone: "live",
    moving: true,
    sentence: [
      ...bold(say`Moving: the model’s turn.`),
      ...say` Nothing waits for a person.`,
      ...lastDecision(run),
      ...seen(run),
    ],
    step: null,
    action: null,
    brief: say`the model’s turn`,
  };
}

function oldest(tickets: readonly OpenTicketFacts[]): OpenTicketFacts | null {
  return [...tickets].sort((a, b) => a.opened_ms - b.opened_ms)[0] ?? null;
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
