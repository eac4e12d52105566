import { inWorkspaceByKey, type Scope } from "@/db/client";
import { readRunHead } from "@/db/queries/run-state";
import { readTickets, type TicketRecord } from "@/db/queries/tickets";
import { type AskAnswer, askPerson, waitForEvent } from "@/db/store/ask";
import type { Message } from "@/db/store/messages";
import { type CallRequest, type ProposedAnswer, proposeStep } from "@/db/store/propose";
import type { StateClaim } from "@/db/store/states";
import { stored } from "@/lib/protocol/book/stored";
import type { BatchMode } from "@/lib/protocol/call";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import {
  type AskBody,
  askAnswer,
  askBody,
  type ProposeBody,
  proposeAnswer,
  proposeBody,
  type WaitBody,
  waitBody,
} from "@/lib/protocol/wire/calls";
import { ok } from "@/lib/result";
import { proposedJson } from "../answers";
import { defineDoor } from "../door";
import { present } from "../problem";

export const proposeDoor = defineDoor<ProposeBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/calls",
  summary:
    "Propose the tool calls of one model step. What needs a person's consent is parked. The same step again changes nothing.",
  verb: "propose",
  repeats: "present",
  body: proposeBody,
  answer: proposeAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const runId = params.run_id ?? "";
    const done = await proposeStep(scope, caller, runId, {
      step: body.step,
      mode: body.mode ?? (await usualMode(scope, caller, runId)),
      coupling: body.coupling ?? "independent",
      state: claimOf(body),
      messages: messagesOf(body),
      calls: body.calls.map(callRequest),
    });
    if (!done.ok) return done;
    const { step, fromRecord, calls } = done.value.value;
    const tickets = await ticketsOf(scope, caller, calls);
    const json = { run_id: done.value.runId, step, calls: calls.map((call) => proposedJson(call, tickets)) };
    return ok({ status: fromRecord ? 200 : 201, json });
  },
});

/** A worker runs one call after the other; over HTTP every call that must ask asks at once. Source: protocol §5 "Batch". */
async function usualMode(scope: Scope, caller: Caller, runId: string): Promise<BatchMode> {
  const run = await readRunHead(scope, caller.workspace, runId);
  return run?.executor === "worker" ? "sequential" : "parallel";
}

type CallBody = ProposeBody["calls"][number];

function callRequest(call: CallBody): CallRequest {
  return {
    callId: call.call_id ?? null,
    action: call.action,
    args: call.args,
    output: call.output ?? null,
    target: call.target ?? "permission",
    declaredClass: call.idempotency ?? null,
    mcpServer: call.mcp_server ?? null,
    why: call.why ?? null,
    risk: call.risk ?? "medium",
    prompt: call.prompt ?? null,
    schema: call.schema ?? null,
    options: call.options ?? null,
    deadlineMs: call.deadline_ms ?? null,
    deadlineInMs: call.deadline_in_ms ?? null,
    onExpiry: call.on_expiry ?? "hold",
    onDeny: call.on_deny ?? "continue",
    allowValidMs: call.allow_valid_ms ?? null,
    resumeMode: call.resume_mode ?? "replay_tool_call",
    rebind: call.rebind === "same_args",
  };
}

export const askDoor = defineDoor<AskBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/ask",
  summary: "Ask a person a question. The same call_id with the same question is answered from the record.",
  verb: "ask",
  repeats: "present",
  body: askBody,
  answer: askAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const done = await askPerson(scope, caller, params.run_id ?? "", {
      callId: body.call_id,
      question: body.question,
      schema: body.schema ?? null,
      options: body.options ?? null,
      deadlineMs: body.deadline_ms ?? null,
      deadlineInMs: body.deadline_in_ms ?? null,
      onExpiry: body.on_expiry ?? "hold",
      state: claimOf(body),
      messages: messagesOf(body),
    });
    return done.ok ? askedAnswer(scope, caller, done.value.runId, done.value.value) : done;
  },
});

export const waitDoor = defineDoor<WaitBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/waits",
  summary: "Wait for an event that the run's own agent will bring by resume.",
  verb: "wait",
  repeats: "present",
  body: waitBody,
  answer: askAnswer,
  statuses: [201, 200],
  open: async ({ scope, caller, params, body }) => {
    const done = await waitForEvent(scope, caller, params.run_id ?? "", {
      callId: body.call_id,
      event: body.event,
      schema: body.schema ?? null,
      deadlineMs: body.deadline_ms ?? null,
      deadlineInMs: body.deadline_in_ms ?? null,
      onExpiry: "hold",
      state: null,
      messages: [],
    });
    return done.ok ? askedAnswer(scope, caller, done.value.runId, done.value.value) : done;
  },
});

/** The call and its ticket; once it was answered, the answer. */
async function askedAnswer(scope: Scope, caller: Caller, runId: string, asked: AskAnswer) {
  const tickets = await ticketsOf(scope, caller, [asked]);
  const { call, fromRecord } = asked;
  const json: JsonObject = present({
    run_id: runId,
    step: call.step,
    ...proposedJson(asked, tickets),
    state: call.status,
    outcome: call.outcome ?? undefined,
    answer: call.result === null ? undefined : stored(call.result),
  });
  return ok({ status: fromRecord ? (200 as const) : (201 as const), json });
}

async function ticketsOf(
  scope: Scope,
  caller: Caller,
  calls: readonly ProposedAnswer[],
): Promise<readonly TicketRecord[]> {
  const ids = calls.flatMap(({ ticket }) => (ticket ? [ticket.id] : []));
  return inWorkspaceByKey(scope, caller.workspace, (tx) => readTickets(tx, { ids }));
}

function claimOf({ state, state_upload }: Pick<ProposeBody, "state" | "state_upload">): StateClaim | null {
  if (state) return state;
  return state_upload ? { ...state_upload, ref: null } : null;
}

/**
 * Under ids of their own on the thread: a message that took the id of one of the runtime's (a run's input, its model's words, a call's
 * result) would stand in its place, or be taken for what it is not.
 */
function messagesOf({ messages }: Pick<ProposeBody, "messages">): readonly Message[] {
  return (messages ?? []).map((told) => ({ ...told, id: `told:${told.id}` }));
}
