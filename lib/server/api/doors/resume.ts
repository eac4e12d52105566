import { inWorkspaceByKey } from "@/db/client";
import { readTicketBook } from "@/db/queries/ticket-view";
import { findWait } from "@/db/queries/tickets";
import { answerWait, decideTicket } from "@/db/store/decide";
import { visit } from "@/db/store/visit";
import { AWAIT_RULES } from "@/lib/protocol/await-target";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal, refusalAt } from "@/lib/protocol/refusals";
import { decodeResumeResult, type ResumeCommand, type ResumeResult } from "@/lib/protocol/resume-command";
import { type ResumeBody, resumeAnswer, resumeBody } from "@/lib/protocol/wire/tickets";
import { ok, type Result, refuse } from "@/lib/result";
import { type DoorVisit, defineDoor, type Opened } from "../door";
import { theTicket } from "./runs";
import { decidedJson } from "./tickets";

/**
 * A whole ResumeCommand, every identity of which is checked. The ticket's target says whose it is to answer: where a person does, this is
 * the decision verb and takes what a decision takes.
 */
export const resumeDoor = defineDoor<ResumeBody>({
  method: "POST",
  path: "/api/v1/runs/{run_id}/resume",
  summary: "Answer a wait with a whole ResumeCommand. Every identity is checked.",
  verb: "answer_own_wait",
  repeats: "stored",
  body: resumeBody,
  answer: resumeAnswer,
  statuses: [200],
  open: async (door) => {
    const { scope, caller, params, body } = door;
    const runId = params.run_id ?? "";
    const result = decodeResumeResult(body.result);
    if (!result.ok) return result;
    const wait = await inWorkspaceByKey(scope, caller.workspace, (tx) => findWait(tx, runId, body.correlation_id));
    if (!wait) return refuseNothingWaits(door, runId);
    const command = await commandOf(door, wait.ticketId, result.value);
    if (!command.ok) return command;
    const byPerson = AWAIT_RULES[wait.reason].answeredBy === "person";
    return hideTicket(
      byPerson ? await decided(door, wait.ticketId, command.value) : await answered(door, wait.ticketId, command.value),
    );
  },
});

/** What was not sent (the executor's present build) is taken from the committed ticket; the clock is the store's. */
async function commandOf(
  { scope, caller, body }: DoorVisit<ResumeBody>,
  ticketId: string,
  result: ResumeResult,
): Promise<Result<ResumeCommand, Refusal>> {
  const read = await readTicketBook(scope, caller.workspace, ticketId);
  if (!read) return refuse(refusal("unknown_run"));
  const { ticket } = read;
  return ok({
    correlation_id: body.correlation_id,
    run_id: body.run_id,
    thread_id: body.thread_id,
    snapshot_id: body.snapshot_id ?? ticket.snapshotId,
    catalog_fingerprint: body.catalog_fingerprint ?? ticket.catalogFingerprint,
    delegation_origin: ticket.delegation,
    result,
    now_ms: read.book.now.ms,
  });
}

async function answered(
  { scope, caller }: DoorVisit<ResumeBody>,
  ticketId: string,
  command: ResumeCommand,
): Promise<Opened> {
  const done = await answerWait(scope, caller, ticketId, command);
  return done.ok ? theTicket(scope, caller, done.value.value.id, 200) : done;
}

async function decided(door: DoorVisit<ResumeBody>, ticketId: string, command: ResumeCommand): Promise<Opened> {
  const { scope, caller, body, bodySha256 } = door;
  const named = decisionParts(body, caller);
  if (!named.ok) return named;
  const done = await decideTicket(scope, caller, ticketId, {
    ...named.value,
    bodySha256,
    result: command.result,
    command,
    seenForMs: null,
  });
  return done.ok ? ok({ status: 200, json: await decidedJson(scope, caller, done.value, command.result) }) : done;
}

/** A person says which click, proposal and view it is. Nobody else decides, so the store refuses them whatever they sent. */
function decisionParts(body: ResumeBody, caller: Caller) {
  const { decision_id, proposal_hash, view_digest } = body;
  if (caller.kind === "person") {
    for (const [name, part] of Object.entries({ decision_id, proposal_hash, view_digest })) {
      if (part === undefined) return refuse(refusalAt("invalid_body", name, "a person's answer needs it"));
    }
  }
  return ok({ decisionId: decision_id ?? "", proposalHash: proposal_hash ?? "", viewDigest: view_digest ?? "" });
}

/** The run has no ticket at all, or there is no such run: the store judges which, and records it. */
async function refuseNothingWaits({ scope, caller }: DoorVisit<ResumeBody>, runId: string): Promise<Opened> {
  const verb = caller.kind === "person" ? ("decide" as const) : ("answer_own_wait" as const);
  return visit(scope, caller, { verb, at: { run: runId } }, () =>
    refuse(refusal("not_awaiting", { closed_by: null })),
  ).then((done) => (done.ok ? refuse(refusal("not_awaiting", { closed_by: null })) : done));
}

/** The caller named a run: another's ticket in it must not be told from a run that does not exist. */
function hideTicket(opened: Opened): Opened {
  if (opened instanceof Response || opened.ok || opened.refusal.code !== "ticket_not_found") return opened;
  return refuse(refusal("unknown_run"));
}
