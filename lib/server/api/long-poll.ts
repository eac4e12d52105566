import type { RunHead } from "@/db/queries/run-state";
import { readRunHead } from "@/db/queries/run-state";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { MOST_SEQ } from "@/lib/protocol/wire/parts";
import { ok, type Result, refuse } from "@/lib/result";
import type { DoorVisit } from "./door";
import { wholeNumber } from "./reading";
import { nextChange } from "./wake";

const MOST_SECONDS = 60;
/** A notification only wakes; looking decides, and looking again costs one indexed read. */
const LOOK_EVERY_MS = 1_000;

/**
 * Wait until the run has news: a seq above `since`, or, without it, no open wait. Holds no database connection meanwhile.
 * Ends without news when the time is over. A key that was revoked meanwhile is `unauthenticated`, before anything is told.
 */
export async function waitForChange(visit: DoorVisit<unknown>, run: RunHead): Promise<Result<null, Refusal>> {
  const { query, db, caller, services, request } = visit;
  const seconds = wholeNumber(query, "wait", 0, 0, MOST_SECONDS);
  if (!seconds.ok) return seconds;
  const since = query.has("since") ? wholeNumber(query, "since", 0, 0, MOST_SEQ) : ok(null);
  if (!since.ok) return since;
  const release = services.waiters.take(caller.principal);
  if (!release) return refuse(refusal("slow_down", { retry_after_s: 1 }, "too many waits at once"));
  const until = performance.now() + seconds.value * 1_000;
  const wakes = nextChange(services.changes, caller.workspace, run.id, request.signal);
  try {
    let now: RunHead | null = run;
    while (now && !hasNews(now, since.value) && performance.now() < until && !request.signal.aborted) {
      await wakes.wait(Math.min(LOOK_EVERY_MS, until - performance.now()));
      now = await readRunHead(db, caller.workspace, run.runId);
    }
  } finally {
    wakes.stop();
    release();
  }
  return (await visit.stillCalls()) ? ok(null) : refuse(refusal("unauthenticated"));
}

function hasNews(run: RunHead, since: number | null): boolean {
  return since === null ? run.state !== "awaiting" : run.seq > since;
}
