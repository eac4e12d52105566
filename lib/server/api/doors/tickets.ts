import { inWorkspaceByKey, type Scope } from "@/db/client";
import { readTicketView } from "@/db/queries/ticket-view";
import { readTicketPage, readTickets } from "@/db/queries/tickets";
import { readVerdictSeq } from "@/db/queries/votes";
import { type Decided, decideTicket } from "@/db/store/decide";
import { cancelCall, replace } from "@/db/store/operate";
import type { Done } from "@/db/store/visit";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { refusal, refusalAt } from "@/lib/protocol/refusals";
import { decodeResumeResult, type ResumeResult } from "@/lib/protocol/resume-command";
import { TICKET_STATUSES, type TicketStatus, viewDigest } from "@/lib/protocol/ticket";
import {
  type CancelTicketBody,
  cancelTicketBody,
  type DecisionBody,
  decidedAnswer,
  decisionBody,
  type ReplaceBody,
  replaceBody,
  ticketAnswer,
  ticketPageAnswer,
  ticketWithViewAnswer,
} from "@/lib/protocol/wire/tickets";
import { ok, type Result, refuse } from "@/lib/result";
import { kindOf, ticketJson } from "../answers";
import { defineDoor } from "../door";
import { present } from "../problem";
import { limitOf, reach } from "../reading";
import { theTicket } from "./runs";

const TICKET_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const listTicketsDoor = defineDoor({
  method: "GET",
  path: "/api/v1/tickets",
  summary: "Committed tickets that the caller may read, newest first.",
  verb: "read_tickets",
  repeats: "none",
  query: {
    status: "open, answered, expired, superseded or cancelled.",
    run_id: "Only of this run.",
    agent: "Only of this agent.",
    limit: "At most 200.",
    cursor: "From next_cursor of the page before.",
  },
  answer: ticketPageAnswer,
  statuses: [200],
  open: async ({ db, caller, query }) => {
    const reaches = reach(caller, "read_tickets");
    if (!reaches.ok) return reaches;
    const limit = limitOf(query);
    if (!limit.ok) return limit;
    const status = query.get("status");
    if (status !== null && !isStatus(status))
      return refuse(refusalAt("invalid_body", "?status", "no status of a ticket"));
    const after = query.get("cursor");
    if (after !== null && !TICKET_ID.test(after)) return refuse(refusalAt("invalid_body", "?cursor", "not a cursor"));
    const filter = {
      status,
      runId: query.get("run_id"),
      agent: query.get("agent"),
      principal: reaches.value.principal,
    };
    const page = await readTicketPage(db, caller.workspace, filter, limit.value, after);
    return ok({ status: 200, json: { items: page.items.map(ticketJson), next_cursor: page.next } });
  },
});

function isStatus(text: string): text is TicketStatus {
  return TICKET_STATUSES.some((status) => status === text);
}

export const readTicketDoor = defineDoor({
  method: "GET",
  path: "/api/v1/tickets/{ticket_id}",
  summary: "One ticket with its view, exactly what an approver is shown, and the view's digest.",
  verb: "read_tickets",
  repeats: "none",
  answer: ticketWithViewAnswer,
  statuses: [200],
  open: async ({ db, caller, params }) => {
    const reaches = reach(caller, "read_tickets");
    if (!reaches.ok) return reaches;
    const id = params.ticket_id ?? "";
    if (!TICKET_ID.test(id)) return refuse(refusal("ticket_not_found"));
    const { principal } = reaches.value;
    const filter = { ids: [id], ...(principal === null ? {} : { principal }) };
    const [ticket] = await inWorkspaceByKey(db, caller.workspace, (tx) => readTickets(tx, filter));
    const view = ticket && (await readTicketView(db, caller.workspace, id));
    if (!ticket || !view) return refuse(refusal("ticket_not_found"));
    return ok({ status: 200, json: { ...ticketJson(ticket), view, view_digest: viewDigest(view) } });
  },
});

export const decisionDoor = defineDoor<DecisionBody>({
  method: "POST",
  path: "/api/v1/tickets/{ticket_id}/decision",
  summary: "A person's verdict or answer. The same decision_id again gets the same answer.",
  verb: "decide",
  repeats: "own",
  body: decisionBody,
  answer: decidedAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body, bodySha256 }) => {
    const result = resultOf(body);
    if (!result.ok) return result;
    const done = await decideTicket(scope, caller, params.ticket_id ?? "", {
      decisionId: body.decision_id,
      bodySha256,
      result: result.value,
      proposalHash: body.proposal_hash,
      viewDigest: body.view_digest,
      seenForMs: null,
    });
    if (!done.ok) return done;
    return ok({ status: 200, json: await decidedJson(scope, caller, done.value, result.value) });
  },
});

/** The flat body as the typed answer that it means; a field of another verdict is refused, not dropped. */
function resultOf(body: DecisionBody): Result<ResumeResult, ReturnType<typeof refusalAt>> {
  const { answer, note, reason, payload } = body;
  const said = { answer, note, reason, payload };
  if (body.decision === "allow" || body.decision === "deny") {
    return decodeResumeResult(present({ kind: "permission", decision: body.decision, ...said }), "");
  }
  if (body.decision === "continue") return decodeResumeResult(present({ kind: "continue", ...said }), "");
  if (answer === undefined) return refuse(refusalAt("invalid_verdict", "answer", "the answer is missing"));
  return decodeResumeResult(present({ kind: "input", input: answer, note, reason, payload }), "");
}

export async function decidedJson(
  scope: Scope,
  caller: Caller,
  { value, runId }: Done<Decided>,
  result: ResumeResult,
): Promise<JsonObject> {
  const { open, verdict } = value;
  if (open) return { recorded: true, votes: open.votes, needed: open.needed };
  const decision = present({
    call_ref: value.callRef,
    request_id: value.requestId,
    kind: kindOf(verdict),
    decision: verdict === "answer" ? undefined : verdict,
    answer: result.kind === "input" ? result.input : undefined,
    note: value.note ?? undefined,
    reason: value.reason ?? undefined,
    at: value.at,
    by: value.by,
  });
  const seq = await readVerdictSeq(scope, caller.workspace, runId, value.ticketId, caller.principal);
  return present({ decision, trace_seq: seq, superseded_by: value.supersededBy ?? undefined });
}

export const replaceDoor = defineDoor<ReplaceBody>({
  method: "POST",
  path: "/api/v1/tickets/{ticket_id}/replace",
  summary: "A fresh ticket for the same call; extending a deadline is this too.",
  verb: "replace_ticket",
  repeats: "stored",
  body: replaceBody,
  answer: ticketAnswer,
  statuses: [201],
  open: async ({ scope, caller, params, body }) => {
    const done = await replace(scope, caller, params.ticket_id ?? "", body.reason, body.deadline_in_ms ?? null);
    return done.ok ? theTicket(scope, caller, done.value.value.id, 201) : done;
  },
});

export const cancelTicketDoor = defineDoor<CancelTicketBody>({
  method: "POST",
  path: "/api/v1/tickets/{ticket_id}/cancel",
  summary: "Cancel one call: the model is told so, and the run goes on.",
  verb: "cancel_ticket",
  repeats: "stored",
  body: cancelTicketBody,
  answer: ticketAnswer,
  statuses: [200],
  open: async ({ scope, caller, params, body }) => {
    const done = await cancelCall(scope, caller, params.ticket_id ?? "", body.reason);
    return done.ok ? theTicket(scope, caller, done.value.value.id, 200) : done;
  },
});
