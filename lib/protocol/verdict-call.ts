import type { JobFacts, LiveCallFacts, RunFacts } from "./console-run-view";
import { ago, bold, count, quoted, type Sentence, say, time } from "./sentence";
import { allowed, lastError, type RunVerdict, type StepAction, seen, toWhere } from "./verdict-words";

/** An allow that nobody began is told after a minute. Source: protocol §6. */
const NOT_PICKED_UP_MS = 60_000;
/** A worker polls every second; one that was silent for this long is taken as gone. */
const WORKER_GONE_MS = 15_000;

export function indeterminateCall(call: LiveCallFacts): RunVerdict {
  const by = call.claimed_by === null ? say`` : say` by ${quoted(call.claimed_by)}`;
  const lease =
    call.lease_until_ms === null ? say`and its lease ran out` : say`lease expired ${ago(call.lease_until_ms)}`;
  return {
    kind: "indeterminate",
    tone: "odd",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${allowed(call)}, begun${by}, ${lease}.`),
      ...say` No result came back, so ${quoted(call.action)}${toWhere(call.effect)} may or may not have happened, and Holdpoint will not run it again on a guess.`,
    ],
    step: say`look for it where it would have happened, then settle the call.`,
    action: { kind: "settle", call_ref: call.call_ref },
    brief: say`indeterminate: ${quoted(call.action)}`,
  };
}

export function deadLetter(job: JobFacts, call: LiveCallFacts | null): RunVerdict {
  const what = call === null ? say`its job` : say`${allowed(call)}, then its job`;
  const attempts = count(job.attempt_count, "attempt", "attempts");
  return {
    kind: "dead_letter",
    tone: "bad",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${what} was given up after ${attempts}, ${ago(job.updated_ms)}.`),
      ...lastError(job),
    ],
    step: call?.ticket_id
      ? say`repair the error, then replace the ticket, which asks again.`
      : say`repair the error, or cancel the run.`,
    action: call?.ticket_id ? { kind: "replace", ticket_id: call.ticket_id } : { kind: "cancel_run" },
    brief: say`given up after ${attempts}`,
  };
}

export function executingCall(call: LiveCallFacts, nowMs: number): RunVerdict {
  const who = quoted(call.claimed_by ?? "its executor");
  const until = call.lease_until_ms ?? nowMs;
  if (until >= nowMs) {
    return {
      kind: "executing",
      tone: "live",
      moving: true,
      sentence: bold(
        say`Moving: ${who} executes ${quoted(call.action)}, attempt ${String(call.attempt)}, under a lease until ${time(until)}.`,
      ),
      step: null,
      action: null,
      brief: say`executing ${quoted(call.action)}`,
    };
  }
  const repeats = call.effective_class !== "none";
  return {
    kind: "lease_lost",
    tone: "bad",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${allowed(call)}, begun by ${who}, lease expired ${ago(until)}.`),
      ...(repeats
        ? say` It is safe to repeat, so it may be begun again.`
        : say` It is not safe to repeat, so it becomes indeterminate and waits for a person.`),
    ],
    step: repeats
      ? say`none; wait for the next attempt.`
      : say`look for it where it would have happened, then settle the call.`,
    action: repeats ? null : { kind: "settle", call_ref: call.call_ref },
    brief: say`lease lost ${ago(until)}`,
  };
}

export function approvedCall(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  if (call.unreported) return unreported(call);
  if (call.allow_valid_until_ms !== null && call.allow_valid_until_ms < nowMs)
    return lapsed(call, call.allow_valid_until_ms);
  return run.executor === "worker" ? forWorker(run, call, nowMs) : forAgent(run, call, nowMs);
}

function unreported(call: LiveCallFacts): RunVerdict {
  return {
    kind: "unreported",
    tone: "wait",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${allowed(call)}, and attempt ${String(call.attempt)} ended without a report.`),
      ...say` It is safe to repeat, so it may be begun again.`,
    ],
    step: say`wait for the next attempt, or settle the call if you know how it ended.`,
    action: { kind: "settle", call_ref: call.call_ref },
    brief: say`attempt ${String(call.attempt)} unreported`,
  };
}

function lapsed(call: LiveCallFacts, untilMs: number): RunVerdict {
  return {
    kind: "lapsed",
    tone: "wait",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${allowed(call)}, and the allow was good until ${time(untilMs)}.`),
      ...say` Nobody began the call in time; it cannot begin any more.`,
    ],
    step: say`replace the ticket, so that a person decides again.`,
    action: replaceOf(call),
    brief: say`allow lapsed ${time(untilMs)}`,
  };
}

function forAgent(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  const sinceMs = call.allowed?.at_ms ?? run.created_ms;
  if (nowMs - sinceMs < NOT_PICKED_UP_MS) return justAllowed(call, "its agent", seen(run));
  return {
    kind: "not_picked_up",
    tone: "wait",
    moving: false,
    sentence: [...bold(say`Not moving: ${allowed(call)}, ${ago(sinceMs)}, and not picked up since.`), ...seen(run)],
    step: say`see whether the agent still runs; if it is gone for good, cancel the run.`,
    action: { kind: "cancel_run" },
    brief: say`approved, not picked up since ${time(sinceMs)}`,
  };
}

function forWorker(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  const job = run.job;
  const sinceMs = call.allowed?.at_ms ?? run.created_ms;
  if (job?.status === "Claimed") return claimed(call, job);
  if (run.worker_seen_ms === null || nowMs - run.worker_seen_ms > WORKER_GONE_MS)
    return noWorker(call, run.worker_seen_ms);
  if (job !== null && job.attempt_count > 0 && job.available_ms > nowMs) return retrying(call, job);
  if (nowMs - sinceMs < NOT_PICKED_UP_MS) return justAllowed(call, "a worker", []);
  return {
    kind: "not_picked_up",
    tone: "wait",
    moving: false,
    sentence: bold(say`Not moving: ${allowed(call)}, ${ago(sinceMs)}, and not picked up since, though a worker polls.`),
    step: say`replace the ticket; a fresh decision makes a fresh job.`,
    action: replaceOf(call),
    brief: say`approved, not picked up since ${time(sinceMs)}`,
  };
}

function justAllowed(call: LiveCallFacts, whom: string, after: Sentence): RunVerdict {
  return {
    kind: call.allowed === null ? "approved" : "queued",
    tone: "live",
    moving: true,
    sentence: [...bold(say`Moving: ${allowed(call)}, ready for ${whom}.`), ...after],
    step: null,
    action: null,
    brief: say`approved, ready for ${whom}`,
  };
}

function claimed(call: LiveCallFacts, job: JobFacts): RunVerdict {
  const who = quoted(job.claimed_by ?? "a worker");
  return {
    kind: "executing",
    tone: "live",
    moving: true,
    sentence: bold(say`Moving: ${allowed(call)}, claimed by ${who}.`),
    step: null,
    action: null,
    brief: say`claimed by ${who}`,
  };
}

function noWorker(call: LiveCallFacts, seenMs: number | null): RunVerdict {
  const gone = seenMs === null ? say`no worker has ever polled` : say`no worker was seen since ${time(seenMs)}`;
  return {
    kind: "no_worker",
    tone: "bad",
    moving: false,
    sentence: [
      ...bold(say`Not moving: ${allowed(call)}, and ${gone}.`),
      ...say` The decision is kept; the call runs once a worker is back.`,
    ],
    step: say`start a worker.`,
    action: null,
    brief: say`approved, no worker`,
  };
}

function retrying(call: LiveCallFacts, job: JobFacts): RunVerdict {
  const next = `attempt ${job.attempt_count + 1} of ${job.max_attempts}`;
  return {
    kind: "retrying",
    tone: "wait",
    moving: true,
    sentence: [
      ...bold(say`Waiting to try again: ${allowed(call)}, ${next} at ${time(job.available_ms)}.`),
      ...lastError(job),
    ],
    step: null,
    action: null,
    brief: say`retries ${time(job.available_ms)}`,
  };
}

function replaceOf(call: LiveCallFacts): StepAction | null {
  return call.ticket_id === null ? null : { kind: "replace", ticket_id: call.ticket_id };
}
