import { readTrace } from "@/db/queries/trace";
import { MOST_SEQ } from "@/lib/protocol/wire/parts";
import { tracePageAnswer } from "@/lib/protocol/wire/trace";
import { ok } from "@/lib/result";
import { eventJson } from "../answers";
import { defineDoor } from "../door";
import { limitOf, readableRun, wholeNumber } from "../reading";
import { streamTrace } from "../trace-stream";

export const traceDoor = defineDoor({
  method: "GET",
  path: "/api/v1/runs/{run_id}/trace",
  summary:
    "The run's events in order, each with its hash. With Accept: text/event-stream they are streamed as they are committed.",
  verb: "read_trace",
  repeats: "none",
  query: { limit: "At most 200.", cursor: "From next_cursor of the page before: the last seq that was read." },
  answer: tracePageAnswer,
  statuses: [200],
  open: async (visit) => {
    const { db, caller, params, query, request } = visit;
    const run = await readableRun(db, caller, "read_trace", params.run_id ?? "");
    if (!run.ok) return run;
    if (request.headers.get("accept")?.includes("text/event-stream")) return streamTrace(visit, run.value);
    const limit = limitOf(query);
    if (!limit.ok) return limit;
    const after = wholeNumber(query, "cursor", 0, 0, MOST_SEQ);
    if (!after.ok) return after;
    const rows = await readTrace(db, caller.workspace, run.value.runId, { after: after.value, most: limit.value + 1 });
    const events = rows.slice(0, limit.value);
    const next = rows.length > events.length ? String(events.at(-1)?.seq) : null;
    return ok({ status: 200, json: { events: events.map(eventJson), next_cursor: next } });
  },
});
