import { type RunHead, readRunHead } from "@/db/queries/run-state";
import { readTrace, type StoredEvent } from "@/db/queries/trace";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { refusal } from "@/lib/protocol/refusals";
import { MOST_SEQ } from "@/lib/protocol/wire/parts";
import { refuse } from "@/lib/result";
import { eventJson } from "./answers";
import type { DoorVisit, Opened } from "./door";
import { wholeNumber } from "./reading";
import { nextChange } from "./wake";

const PAGE = 200;
const LOOK_EVERY_MS = 1_000;
/** Proxies close what is silent; a comment line every so often keeps the stream open. */
const PING_EVERY_MS = 15_000;

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
} as const;

/**
 * The events as they are committed, `id:` = seq. `Last-Event-ID` goes on behind that event, without gap, repeat or jump: every look reads
 * in order from the last one sent. A revoked key ends the stream within two seconds; `event: end` closes it once the run has ended and no
 * call is in flight. Holds no database connection between looks.
 */
export function streamTrace(visit: DoorVisit<unknown>, run: RunHead): Opened {
  const { request, services, caller } = visit;
  const last = new URLSearchParams({ last: request.headers.get("last-event-id") ?? "0" });
  const after = wholeNumber(last, "last", 0, 0, MOST_SEQ);
  if (!after.ok) return refuse({ ...after.refusal, path: "Last-Event-ID" });
  const release = services.waiters.take(caller.principal);
  if (!release) return refuse(refusal("slow_down", { retry_after_s: 1 }, "too many streams at once"));
  const events = follow(visit, run, after.value);
  const utf8 = new TextEncoder();
  const close = async () => {
    release();
    await events.return(undefined);
  };
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = await events.next();
        if (!next.done) return controller.enqueue(utf8.encode(next.value));
        controller.close();
      } catch (fault) {
        services.report("trace-stream", fault);
        controller.error(fault);
      }
      release();
    },
    cancel: close,
  });
  return new Response(body, { status: 200, headers: STREAM_HEADERS });
}

async function* follow(visit: DoorVisit<unknown>, run: RunHead, after: number): AsyncGenerator<string, void> {
  const { db, caller, services, request } = visit;
  const wakes = nextChange(services.changes, caller.workspace, run.id, request.signal);
  let sent = after;
  let spoke = performance.now();
  try {
    // Sent at once, so that the caller knows that the stream is open before anything happens.
    yield ": open\n\n";
    while (!request.signal.aborted) {
      if (!(await visit.stillCalls())) return;
      // The head before the events: what ended by then has all its events in the pages that follow.
      const head = await readRunHead(db, caller.workspace, run.runId);
      for (;;) {
        const page = await readTrace(db, caller.workspace, run.runId, { after: sent, most: PAGE });
        for (const event of page) {
          yield frame(event);
          sent = event.seq;
          spoke = performance.now();
        }
        if (page.length < PAGE) break;
      }
      if (head?.state === "ended" && !head.inFlight) {
        yield "event: end\ndata: {}\n\n";
        return;
      }
      if (performance.now() - spoke > PING_EVERY_MS) {
        yield ": still here\n\n";
        spoke = performance.now();
      }
      await wakes.wait(LOOK_EVERY_MS);
    }
  } finally {
    wakes.stop();
  }
}

/** Canonical JSON has no line feed outside an escape, so an event is one data line. */
function frame(event: StoredEvent): string {
  return `id: ${event.seq}\ndata: ${canonicalJson(eventJson(event))}\n\n`;
}
