import { ok, type Result, refuse } from "@/lib/result";
import { callRef } from "../call";
import { type CanonicalJson, canonicalJson, isObject, type JsonValue } from "../canonical-json";
import { isGatewayAction, shapeOf, targetField } from "../gateway-actions";
import { evaluatePolicy } from "../permission-rule";
import { checkOutput, proposalHash } from "../proposal";
import { type Refusal, refusalAt } from "../refusals";
import type { ResumeResult } from "../resume-command";
import { blockByRule, closeCall, followUp } from "./batch";
import type { Book } from "./book";
import type { CallFacts, TicketFacts } from "./facts";
import { noteProposal, UNTOUCHED } from "./propose";
import { stored } from "./stored";
import { openTicket } from "./waits";

/** The arguments that a verdict puts in the place of the proposed ones; null where it changes nothing. */
export function editOf(call: CallFacts | null, result: ResumeResult): CanonicalJson | null {
  if (call?.resumeMode !== "pass_decision_to_tool" || result.kind !== "permission" || result.decision !== "allow")
    return null;
  if (result.payload === undefined) return null;
  const args = canonicalJson(result.payload);
  return args === call.args ? null : args;
}

export interface Edited {
  readonly call: CallFacts;
  /** Null where the policy denies what it was edited to. */
  readonly ticket: TicketFacts | null;
}

/**
 * Put an act with other arguments in a waiting call's place. The old call is closed as `replaced_by` and its ticket as superseded; the
 * new one has a hash and a ticket of its own, and the policy is asked again. Refused: `invalid_output` where the new arguments name no
 * target that its action can have. Source: protocol §5 "Resume mode".
 */
export function editCall(
  book: Book,
  ticket: TicketFacts,
  call: CallFacts,
  args: CanonicalJson,
): Result<Edited, Refusal> {
  const act = actOf(book, call, args);
  if (!act.ok) return act;
  const editNo = call.editNo + 1;
  book.closeTicket(ticket, "superseded", "replaced");
  closeCall(book, call, "cancelled", "replaced_by");
  const { behaviour, rule } = evaluatePolicy(book.policy, call.action);
  const edited = book.addCall({
    ...call,
    ...UNTOUCHED,
    ...act.value,
    args,
    proposalHash: proposalHash(call.action, args, act.value.target),
    editNo,
    callRef: callRef(call.step, call.batchIndex, editNo),
    ruleId: rule?.id ?? null,
    policyVersion: book.policy.version,
  });
  const more = { edited_from: call.callRef };
  if (behaviour === "deny") {
    noteProposal(book, edited, "blocked", edited.ruleId, more);
    blockByRule(book, edited, "rule", edited.ruleId);
    followUp(book, call.step);
    return ok({ call: book.call(edited.callRef), ticket: null });
  }
  const parked = book.amend(edited.callRef, { status: "awaiting" });
  const successor = openTicket(book, parked, parked.terms, { supersedes: ticket, deadlineMs: ticket.deadlineMs });
  const ids = { ticket_id: successor.id, request_id: successor.correlationId };
  noteProposal(book, parked, "awaiting", edited.ruleId, { ...more, ...ids });
  book.note("ticket_superseded", {
    ticket_id: ticket.id,
    call_ref: call.callRef,
    successor_ticket_id: successor.id,
    successor_request_id: successor.correlationId,
    new_call_ref: edited.callRef,
    voided_allow: false,
  });
  return ok({ call: parked, ticket: successor });
}

/** An act of ours has its target and its class from its arguments; any other keeps those that it was proposed with. */
function actOf(
  book: Book,
  { action, target, effectiveClass }: CallFacts,
  args: CanonicalJson,
): Result<Pick<CallFacts, "target" | "effectiveClass">, Refusal> {
  if (book.run.executor === "client" || !isGatewayAction(action)) return ok({ target, effectiveClass });
  const value = stored(args);
  const shape = shapeOf(action, value);
  const named = isObject(value) ? value[targetField(action)] : undefined;
  const output: JsonValue = named === undefined ? stored(target) : named;
  const checked = checkOutput(output, shape);
  if (!checked.ok) return refuse(refusalAt("invalid_output", `payload.${targetField(action)}`, checked.refusal.detail));
  return ok({ target: canonicalJson(checked.value), effectiveClass: shape.effectClass });
}
