import { inWorkspaceByKey, type Scope } from "@/db/client";
import { hasPerson } from "@/db/queries/person-named";
import { type RunHead, readRunHead } from "@/db/queries/run-state";
import { readTickets } from "@/db/queries/tickets";
import { pauseRun } from "@/db/store/ask";
import { openRun } from "@/db/store/open-run";
import { cancel, finishRun, reportResumeFailed } from "@/db/store/operate";
import { noteSeen } from "@/db/store/seen";
import { talk } from "@/db/store/talk";
import type { Caller } from "@/lib/protocol/principal";
import { refusalAt } from "@/lib/protocol/refusals";
import {
  type CancelRunBody,
  cancelRunBody,
  type FinishBody,
  finishBody,
  type OpenRunBody,
  openRunBody,
  type PauseBody,
  pauseBody,
  type ResumeFailedBody,
  resumeFailedBody,
  runAnswer,
  runStateAnswer,
  type TalkBody,
  talkAnswer,
  talkBody,
} from "@/lib/protocol/wire/runs";
import { ticketAnswer } from "@/lib/protocol/wire/tickets";
import { ok, refuse } from "@/lib/result";
import { runJson, runStateJson, ticketJson } from "../answers";
import { defineDoor, type Opened } from "../door";
import { waitForChange } from "../long-poll";
import { readableRun, readableState } from "../reading";

export const openRunDoor = defineDoor<OpenRunBody>({
  method: "POST",
  path: "/api/v1/runs",
  summary: "Open a run. Without ids the server makes the run's, and a thread of the same id.",
  verb: "open_run",
  repeats: "stored",
  body: openRunBody,
  answer: runAnswer,
  statuses: [201],
  open: async ({ scope, caller, body }) => {
    // Sessions cannot be made yet, so none can be named; a run that silently had none would be another run than was asked for.
    if (body.session_id !== undefined) return refuse(refusalAt("invalid_body", "session_id", "no such session"));
    // Whom the run acts for may not approve it; a name that nobody has would leave that person free to.
    const { on_behalf_of } = body;
    if (on_behalf_of !== undefined && !(await hasPerson(scope, caller.workspace, on_behalf_of))) {
      return refuse(refusalAt("invalid_body", "on_behalf_of", "no such person in this workspace"));
    }
    const done = await openRun(scope, caller, {
      runId: body.run_id ?? null,
      agent: body.agent,
      snapshotId: body.snapshot_id ?? null,
      threadId: body.thread_id ?? null,
      input: body.input ?? null,
      executor: body.executor ?? "client",
      onBehalfOf: on_behalf_of ?? null,
      parent: body.parent ? { runId: body.parent.run_id, call: body.parent.call } : null,
    });
    return done.ok ? theRun(scope, caller, done.value.runId, 201) : done;
  },
});

export const readRunDoor = defineDoor({
  method: "GET",
  path: "/api/v1/runs/{run_id}",
  summary: "The run with its batches, open tickets and decisions. With ?wait= it answers when something has changed.",
  verb: "read_run",
  repeats: "none",
  query: {
    wait: "Seconds to wait for a change, at most 60.",
    since: "Wait until the last event's seq is higher than this; without it, until the run is not awaiting.",
  },
  answer: runStateAnswer,
  statuses: [200],
  open: async (visit) => {
    const { caller, params, query, db } = visit;
    if (query.has("wait")) {
      const run = await readableRun(db, caller, "read_run", params.run_id ?? "");
      if (!run.ok) return run;
      await seen(db, caller, run.value);
      const waited = await waitForChange(visit, run.value);
      if (!waited.ok) return waited;
    }
    const state = await readableState(db, caller, params.run_id ?? "");
    if (!state.ok) return state;
    await seen(db, caller, state.value.run);
    return ok({ status: 200, json: runStateJson(state.value) });
  },
});

/** Its own agent's reading shows that the agent is there. */
async function seen(scope: Scope, caller: Caller, run: RunHead): Promise<void> {
  if (run.principalId === caller.principal && !run.seenLately) await noteSeen(scope, caller.workspace, run.id);
}

export const finishDoor = defineDoor<FinishBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/finish",
  summary: "The run's own agent says that it is done.",
  verb: "finish",
  repeats: "stored",
  body: finishBody,
  answer: runAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await finishRun(scope, caller, params.run_id ?? "", body.status, body.output);
    return done.ok ? theRun(scope, caller, done.value.runId, 200) : done;
  },
});

export const talkDoor = defineDoor<TalkBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/messages",
  summary: "Say something to a living run. It joins the thread once; an agent that runs here goes on with it.",
  verb: "talk",
  repeats: "stored",
  body: talkBody,
  answer: talkAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const done = await talk(scope, caller, params.run_id ?? "", body);
    if (!done.ok) return done;
    const { runId, value } = done.value;
    return ok({
      status: value.added ? 201 : 200,
      json: { run_id: runId, thread_id: value.threadId, added: value.added },
    });
  },
});

export const cancelRunDoor = defineDoor<CancelRunBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/cancel",
  summary: "End the run as cancelled. Effects in flight can still be reported.",
  verb: "cancel_run",
  repeats: "stored",
  body: cancelRunBody,
  answer: runAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await cancel(scope, caller, params.run_id ?? "", body.reason);
    return done.ok ? theRun(scope, caller, done.value.runId, 200) : done;
  },
});

export const resumeFailedDoor = defineDoor<ResumeFailedBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/resume-failed",
  summary: "An adapter could not resume its framework. The decision stays.",
  verb: "resume_failed",
  repeats: "stored",
  body: resumeFailedBody,
  answer: runAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await reportResumeFailed(scope, caller, params.run_id ?? "", body.error);
    return done.ok ? theRun(scope, caller, done.value.runId, 200) : done;
  },
});

export const pauseDoor = defineDoor<PauseBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/pause",
  summary: "Hold the run until a person continues it. An open pause is returned.",
  verb: "pause_run",
  repeats: "stored",
  body: pauseBody,
  answer: ticketAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const done = await pauseRun(scope, caller, params.run_id ?? "", body.reason);
    if (!done.ok) return done;
    const { ticket, fromRecord } = done.value.value;
    return theTicket(scope, caller, ticket.id, fromRecord ? 200 : 201);
  },
});

/** The run as it stands after a verb, in the verb's own transaction. */
async function theRun(scope: Scope, caller: Caller, runId: string, status: 200 | 201): Promise<Opened> {
  const run = await readRunHead(scope, caller.workspace, runId);
  if (!run) throw new Error(`run ${runId} is not there after its own verb`);
  return ok({ status, json: runJson(run) });
}

/** A ticket as it stands after a verb. */
export async function theTicket(scope: Scope, caller: Caller, id: string, status: 200 | 201): Promise<Opened> {
  const [ticket] = await inWorkspaceByKey(scope, caller.workspace, (tx) => readTickets(tx, { ids: [id] }));
  if (!ticket) throw new Error(`ticket ${id} is not there after its own verb`);
  return ok({ status, json: ticketJson(ticket) });
}
