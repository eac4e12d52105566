import type { JobFacts, LiveCallFacts, RunFacts } from "./console-run-view";
import { ago, count, quoted, type Sentence, say, time } from "./sentence";
import { type Finding, lastError, type RunVerdict, replaceOrCancel, seeMailbox, told } from "./verdict-words";

/** A due job that nobody took, and a job that is over while its run goes on, are told after a minute. Source: protocol §6. */
export const NOT_PICKED_UP_MS = 60_000;
/** A worker polls every second; one that was silent for this long is taken as gone. */
const WORKER_GONE_MS = 15_000;

/** What is to be moved on: what is known of it so far, since when it is due, and the approved call, when it is one. */
export interface Due {
  readonly core: Sentence;
  readonly what: string;
  readonly sinceMs: number;
  readonly call: LiveCallFacts | null;
  /** Said after the facts. */
  readonly more: Sentence;
}

/** Where a worker's run stands: by its newest job, its lease and attempts, and whether a worker polls. */
export function byJob(run: RunFacts, due: Due, nowMs: number): RunVerdict {
  const { job } = run;
  if (job?.status === "Claimed") return claimed(run, job, due, nowMs);
  if (job?.status !== "Queued") return withoutJob(run, job, due, nowMs);
  if (isGone(run, nowMs)) return noWorker(run, due, nowMs);
  if (job.available_ms > nowMs) return later(job, due, nowMs);
  if (nowMs - Math.max(due.sinceMs, job.available_ms) < NOT_PICKED_UP_MS) return queued(due, jobClause(job, nowMs));
  const late = say`${due.core}, ${jobClause(job, nowMs)}, and was not picked up since ${time(job.available_ms)}, though a worker polls`;
  return told({
    kind: "not_picked_up",
    tone: "wait",
    lead: "Not moving",
    core: late,
    more: due.more,
    ...seeMailbox(say`see on the Mailbox page what its mailbox works on first.`),
    brief: say`${due.what}, not picked up since ${time(job.available_ms)}`,
  });
}

/** The run's newest job as a clause: its status, its attempts, its lease. */
export function jobClause(job: JobFacts | null, nowMs: number): Sentence {
  if (job === null) return say`no job was made for it`;
  const next = `attempt ${job.attempt_count + 1} of ${job.max_attempts}`;
  switch (job.status) {
    case "Queued":
      return job.available_ms > nowMs
        ? say`its job waits until ${time(job.available_ms)} for ${next}`
        : say`its job is queued for ${next}`;
    case "Claimed":
      return claimClause(job, nowMs);
    case "Accepted":
      return say`its job was delivered ${time(job.updated_ms)}`;
    case "DeadLetter":
      return say`its job was given up after ${count(job.attempt_count, "attempt", "attempts")}, ${ago(job.updated_ms)}`;
    case "Cancelled":
      return say`its job was cancelled ${time(job.updated_ms)}`;
    case "Superseded":
      return say`its job was superseded ${time(job.updated_ms)}`;
  }
}

/** The same as a sentence of its own; nothing where there is no job. */
export function jobSentence(job: JobFacts | null, nowMs: number): Sentence {
  if (job === null) return [];
  const [first, ...rest] = jobClause(job, nowMs);
  if (first?.kind !== "text") return [];
  return [...say` ${first.text.charAt(0).toUpperCase()}${first.text.slice(1)}`, ...rest, ...say`.`];
}

function claimClause(job: JobFacts, nowMs: number): Sentence {
  const who = quoted(job.claimed_by ?? "a worker");
  const attempt = `attempt ${job.attempt_count} of ${job.max_attempts}`;
  if (job.lease_until_ms === null) return say`its job is claimed by ${who}, ${attempt}`;
  return isOver(job, nowMs)
    ? say`its job was claimed by ${who}, ${attempt}, lease expired ${ago(job.lease_until_ms)}`
    : say`its job is claimed by ${who}, ${attempt}, lease until ${time(job.lease_until_ms)}`;
}

function isOver(job: JobFacts, nowMs: number): boolean {
  return job.lease_until_ms !== null && job.lease_until_ms < nowMs;
}

function isGone(run: RunFacts, nowMs: number): boolean {
  return run.worker_seen_ms === null || nowMs - run.worker_seen_ms > WORKER_GONE_MS;
}

function claimed(run: RunFacts, job: JobFacts, due: Due, nowMs: number): RunVerdict {
  const core = say`${due.core}, ${jobClause(job, nowMs)}`;
  const who = quoted(job.claimed_by ?? "a worker");
  if (!isOver(job, nowMs)) {
    return told({
      kind: "executing",
      tone: "live",
      lead: "Moving",
      core,
      more: due.more,
      step: null,
      action: null,
      brief: say`claimed by ${who}`,
    });
  }
  if (isGone(run, nowMs)) return noWorker(run, due, nowMs);
  return told({
    kind: "lease_lost",
    tone: "bad",
    lead: "Not moving",
    core,
    more: say` Whichever worker polls next puts it back into its mailbox.${due.more}`,
    step: say`none; wait for the next attempt.`,
    action: null,
    brief: say`lease lost ${ago(job.lease_until_ms ?? nowMs)}`,
  });
}

/** Its job is over, or there is none, and it is still to be moved: in its first minute the next one may be on its way. */
function withoutJob(run: RunFacts, job: JobFacts | null, due: Due, nowMs: number): RunVerdict {
  const clause = jobClause(job, nowMs);
  if (nowMs - Math.max(due.sinceMs, job?.updated_ms ?? run.created_ms) < NOT_PICKED_UP_MS) return queued(due, clause);
  return told({
    kind: "no_job",
    tone: "bad",
    lead: "Not moving",
    core: say`${due.core}, ${clause}, and no other is there to move it`,
    more: say`${job === null ? [] : lastError(job)}${due.more}`,
    ...replaceOrCancel(due.call, say`replace the ticket; a fresh decision makes a fresh job.`),
    brief: say`${due.what}, no job`,
  });
}

function queued({ core, call, what, more }: Due, clause: Sentence): RunVerdict {
  return told({
    kind: call !== null && call.allowed === null ? "approved" : "queued",
    tone: "live",
    lead: "Moving",
    core: say`${core}, ${clause}`,
    more,
    step: null,
    action: null,
    brief: say`${what}, ready for a worker`,
  });
}

function noWorker(run: RunFacts, due: Due, nowMs: number): RunVerdict {
  const { worker_seen_ms: seenMs } = run;
  const gone = seenMs === null ? say`no worker has ever polled` : say`no worker was seen since ${time(seenMs)}`;
  const finding: Finding = {
    kind: "no_worker",
    tone: "bad",
    lead: "Not moving",
    core: say`${due.core}, ${jobClause(run.job, nowMs)}, and ${gone}`,
    more: say` ${due.call === null ? "Nothing is lost; it goes on" : "The decision is kept; the call runs"} once a worker is back.${due.more}`,
    step: say`start a worker: npm run holdpoint -- worker.`,
    action: null,
    brief: say`${due.what}, no worker`,
  };
  return told(finding);
}

function later(job: JobFacts, due: Due, nowMs: number): RunVerdict {
  const again = job.attempt_count > 0;
  return told({
    kind: again ? "retrying" : "queued",
    tone: again ? "wait" : "live",
    lead: again ? "Waiting to try again" : "Moving",
    core: say`${due.core}, ${jobClause(job, nowMs)}`,
    more: say`${again ? lastError(job) : []}${due.more}`,
    step: null,
    action: null,
    brief: again ? say`retries ${time(job.available_ms)}` : say`${due.what}, due ${time(job.available_ms)}`,
  });
}
