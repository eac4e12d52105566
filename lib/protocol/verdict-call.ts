import type { LiveCallFacts, RunFacts } from "./console-run-view";
import { ago, count, quoted, type Sentence, say, time } from "./sentence";
import { byJob, jobClause, jobSentence, NOT_PICKED_UP_MS } from "./verdict-job";
import { allowed, lastError, type RunVerdict, replaceOrCancel, seeMailbox, seen, told, toWhere } from "./verdict-words";

export function indeterminateCall(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  const by = call.claimed_by === null ? say`` : say` by ${quoted(call.claimed_by)}`;
  const lease =
    call.lease_until_ms === null ? say`and its lease ran out` : say`lease expired ${ago(call.lease_until_ms)}`;
  return told({
    kind: "indeterminate",
    tone: "odd",
    lead: "Not moving",
    core: say`${allowed(call)}, begun${by}, attempt ${String(call.attempt)}, ${lease}`,
    more: say` No result came back, so ${quoted(call.action)}${toWhere(call.effect)} may or may not have happened, and Holdpoint will not run it again on a guess.${jobSentence(run.job, nowMs)}`,
    step: say`look for it where it would have happened, then settle the call.`,
    action: { kind: "settle", call_ref: call.call_ref },
    brief: say`indeterminate: ${quoted(call.action)}`,
  });
}

export function deadLetter(run: RunFacts, call: LiveCallFacts | null, nowMs: number): RunVerdict {
  const { job } = run;
  const clause = jobClause(job, nowMs);
  const attempts = count(job?.attempt_count ?? 0, "attempt", "attempts");
  return told({
    kind: "dead_letter",
    tone: "bad",
    lead: "Not moving",
    core: call === null ? clause : say`${allowed(call)}, then ${clause}`,
    more: job === null ? [] : lastError(job),
    ...seeMailbox(say`repair the error, then requeue the job on the Mailbox page; what was decided stands.`),
    brief: say`given up after ${attempts}`,
  });
}

export function executingCall(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  const who = quoted(call.claimed_by ?? "its executor");
  const until = call.lease_until_ms ?? nowMs;
  const attempt = `attempt ${call.attempt}`;
  if (until >= nowMs) {
    return told({
      kind: "executing",
      tone: "live",
      lead: "Moving",
      core: say`${allowed(call)}, ${who} executes ${quoted(call.action)}, ${attempt}, lease until ${time(until)}`,
      more: jobSentence(run.job, nowMs),
      step: null,
      action: null,
      brief: say`executing ${quoted(call.action)}`,
    });
  }
  const repeats = call.effective_class !== "none";
  const then = repeats
    ? say` It is safe to repeat, so it may be begun again.`
    : say` It is not safe to repeat, so it becomes indeterminate and waits for a person.`;
  return told({
    kind: "lease_lost",
    tone: "bad",
    lead: "Not moving",
    core: say`${allowed(call)}, begun by ${who}, ${attempt}, lease expired ${ago(until)}`,
    more: say`${then}${jobSentence(run.job, nowMs)}`,
    step: repeats
      ? say`none; wait for the next attempt.`
      : say`look for it where it would have happened, then settle the call.`,
    action: repeats ? null : { kind: "settle", call_ref: call.call_ref },
    brief: say`lease lost ${ago(until)}`,
  });
}

export function approvedCall(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  if (call.unreported) return unreported(run, call, nowMs);
  if (call.allow_valid_until_ms !== null && call.allow_valid_until_ms < nowMs)
    return lapsed(run, call, call.allow_valid_until_ms, nowMs);
  const sinceMs = call.allowed?.at_ms ?? run.created_ms;
  if (run.executor === "cli") return forCommand(run, call);
  if (run.executor === "client") return forAgent(run, call, sinceMs, nowMs);
  return byJob(run, { core: allowed(call), what: "approved", sinceMs, call, more: [] }, nowMs);
}

function unreported(run: RunFacts, call: LiveCallFacts, nowMs: number): RunVerdict {
  return told({
    kind: "unreported",
    tone: "wait",
    lead: "Not moving",
    core: say`${allowed(call)}, and attempt ${String(call.attempt)} ended without a report`,
    more: say` It is safe to repeat, so it may be begun again.${jobSentence(run.job, nowMs)}`,
    step: say`wait for the next attempt, or settle the call if you know how it ended.`,
    action: { kind: "settle", call_ref: call.call_ref },
    brief: say`attempt ${String(call.attempt)} unreported`,
  });
}

function lapsed(run: RunFacts, call: LiveCallFacts, untilMs: number, nowMs: number): RunVerdict {
  return told({
    kind: "lapsed",
    tone: "wait",
    lead: "Not moving",
    core: say`${allowed(call)}, and the allow was good until ${time(untilMs)}`,
    more: say` Nobody began the call in time; it cannot begin any more.${jobSentence(run.job, nowMs)}`,
    ...replaceOrCancel(call, say`replace the ticket, so that a person decides again.`),
    brief: say`allow lapsed ${time(untilMs)}`,
  });
}

function forAgent(run: RunFacts, call: LiveCallFacts, sinceMs: number, nowMs: number): RunVerdict {
  if (nowMs - sinceMs < NOT_PICKED_UP_MS) {
    return told({
      kind: call.allowed === null ? "approved" : "queued",
      tone: "live",
      lead: "Moving",
      core: say`${allowed(call)}, ready for its agent`,
      more: seen(run),
      step: null,
      action: null,
      brief: say`approved, ready for its agent`,
    });
  }
  return told({
    kind: "not_picked_up",
    tone: "wait",
    lead: "Not moving",
    core: say`${allowed(call)}, ${ago(sinceMs)}, and not picked up since`,
    more: seen(run),
    step: say`see whether the agent still runs; if it is gone for good, cancel the run.`,
    action: { kind: "cancel_run" },
    brief: say`approved, not picked up since ${time(sinceMs)}`,
  });
}

/** Nobody polls for such a run: whoever started it resumes it. */
function forCommand(run: RunFacts, call: LiveCallFacts): RunVerdict {
  return told({
    kind: "not_picked_up",
    tone: "wait",
    lead: "Not moving",
    core: say`${allowed(call)}, and not resumed on the command line yet`,
    more: [],
    step: say`resume it: npm run holdpoint -- resume ${quoted(run.run_id)}`,
    action: null,
    brief: say`approved, to be resumed on the command line`,
  });
}

/** What else of the run is under way while one of its tickets is open. */
export function besides(run: RunFacts, nowMs: number): Sentence {
  const call =
    run.live_calls.find((it) => it.status === "executing") ?? run.live_calls.find((it) => it.status === "approved");
  if (!call) return [];
  const verdict = call.status === "executing" ? executingCall(run, call, nowMs) : approvedCall(run, call, nowMs);
  const facts = verdict.sentence.filter((part) => part.strong).map((part) => ({ ...part, strong: false }));
  return say` Beside it, ${quoted(call.action)}: ${lowerFirst(facts)}`;
}

function lowerFirst([first, ...rest]: Sentence): Sentence {
  if (first?.kind !== "text") return [];
  return [{ ...first, text: first.text.charAt(0).toLowerCase() + first.text.slice(1) }, ...rest];
}
