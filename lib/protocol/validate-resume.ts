import { ok, type Result, refuse } from "../result";
import { type SatisfiesSchema, satisfiesSchema } from "./answer-schema";
import { AWAIT_RULES } from "./await-target";
import type { ResumeMode } from "./call";
import type { JsonValue } from "./canonical-json";
import { type Refusal, refusal } from "./refusals";
import type { ResumeCommand, ResumeResult } from "./resume-command";
import type { RunEnding } from "./run";
import { type ClosedBy, closedByJson, type ResumeTicket, type TicketStatus } from "./ticket";

/** A ticket and what else is on record about its wait, read under the run's lock. */
export interface TicketStanding {
  readonly ticket: ResumeTicket;
  readonly status: TicketStatus;
  /** Set exactly when the ticket is not open. */
  readonly closed_by: ClosedBy | null;
  /** Set exactly when the run has ended. */
  readonly run_ended: RunEnding | null;
  /** The agent's own word for the call; an answer may name this or the `call_ref`. */
  readonly call_id: string | null;
  /** How a suspended call goes on; `null` where the target has no call. */
  readonly resume_mode: ResumeMode | null;
}

export type ResumeRefusalCode =
  | "run_ended"
  | "expired"
  | "not_awaiting"
  | "correlation_mismatch"
  | "run_mismatch"
  | "thread_mismatch"
  | "snapshot_mismatch"
  | "fingerprint_mismatch"
  | "result_kind_mismatch"
  | "tool_call_mismatch";

export type ResumeRefusal = Refusal<ResumeRefusalCode>;

type Check = (standing: TicketStanding, command: ResumeCommand, satisfies: SatisfiesSchema) => ResumeRefusal | null;

/** The checks of protocol §4 by their numbers; their order is part of the contract. */
const CHECKS: readonly Check[] = [
  checkOpen,
  (s, c) => sameIdentity("correlation_mismatch", s.ticket.correlation_id, c.correlation_id),
  (s, c) => sameIdentity("run_mismatch", s.ticket.run_id, c.run_id),
  (s, c) => sameIdentity("thread_mismatch", s.ticket.thread_id, c.thread_id),
  (s, c) => sameIdentity("snapshot_mismatch", s.ticket.snapshot_id, c.snapshot_id),
  (s, c) => sameIdentity("fingerprint_mismatch", s.ticket.catalog_fingerprint, c.catalog_fingerprint),
  checkDeadline,
  checkKind,
  checkCall,
];

/**
 * Judge an answer against the wait it is for. Pure: it reads no clock and changes nothing, and answers with the first failure
 * in the order of protocol §4. `null` stands for a ticket that does not exist.
 */
export function validateResume(
  standing: TicketStanding | null,
  command: ResumeCommand,
  satisfies: SatisfiesSchema = satisfiesSchema,
): Result<ResumeCommand, ResumeRefusal> {
  if (standing === null) return refuse(refusal("not_awaiting", { closed_by: null }));
  for (const check of CHECKS) {
    const failure = check(standing, command, satisfies);
    if (failure) return refuse(failure);
  }
  return ok(command);
}

/** Check 0. The run's end comes first: it says more than the ticket that it closed. */
function checkOpen({ status, closed_by, run_ended }: TicketStanding): ResumeRefusal | null {
  const closed = closed_by && closedByJson(closed_by);
  if (run_ended) {
    const ending = { cause: run_ended.cause, code: run_ended.code, by: run_ended.by, at: run_ended.at };
    return refusal("run_ended", { ended: ending, closed_by: closed });
  }
  if (status === "open") return null;
  return refusal(status === "expired" ? "expired" : "not_awaiting", { closed_by: closed });
}

/** Checks 1–5. What stands on record is told; what was sent the sender knows. */
function sameIdentity<Code extends ResumeRefusalCode>(
  code: Code,
  recorded: string,
  sent: string,
): Refusal<Code> | null {
  return recorded === sent ? null : refusal(code, { expected: recorded });
}

/** Check 6. Equal is in time. */
function checkDeadline({ ticket }: TicketStanding, { now_ms }: ResumeCommand): ResumeRefusal | null {
  if (ticket.deadline_ms === null || now_ms <= ticket.deadline_ms) return null;
  return refusal("expired", { deadline_ms: ticket.deadline_ms, now_ms });
}

/** Check 7. */
function checkKind(
  { ticket, resume_mode }: TicketStanding,
  { result }: ResumeCommand,
  satisfies: SatisfiesSchema,
): ResumeRefusal | null {
  const { resultKinds } = AWAIT_RULES[ticket.target.reason];
  if (!resultKinds.includes(result.kind)) return refusal("result_kind_mismatch", { expected: [...resultKinds] });
  return checkPayload(result, resume_mode, (value) =>
    satisfies(ticket.schema, value)
      ? null
      : refusal("result_kind_mismatch", { schema: ticket.schema }, "the answer does not satisfy the schema"),
  );
}

/** Modes in which the approver's payload takes part: as the result, or as the new arguments. Source: protocol §5 "Resume mode". */
export function usesPayload(mode: ResumeMode | null): boolean {
  return mode === "use_decision_as_tool_result" || mode === "pass_decision_to_tool";
}

/** An allow has a payload exactly where its mode uses one; payload and input are what the schema asks for. */
function checkPayload(
  result: ResumeResult,
  mode: ResumeMode | null,
  bySchema: (value: JsonValue) => ResumeRefusal | null,
): ResumeRefusal | null {
  if (result.kind === "input") return bySchema(result.input);
  if (result.kind !== "permission" || result.decision !== "allow") return null;
  if (!usesPayload(mode)) {
    return result.payload === undefined ? null : refusal("result_kind_mismatch", {}, "this call takes no payload");
  }
  if (result.payload === undefined)
    return refusal("result_kind_mismatch", {}, "this call needs a payload with the allow");
  return bySchema(result.payload);
}

/** Check 8. */
function checkCall({ ticket, call_id }: TicketStanding, { result }: ResumeCommand): ResumeRefusal | null {
  if (result.kind !== "tool_result" || ticket.target.kind === "pause") return null;
  const { callId } = ticket.target;
  return result.call_id === callId || result.call_id === call_id
    ? null
    : refusal("tool_call_mismatch", { expected: callId });
}

export type C12Code = Exclude<ResumeRefusalCode, "run_ended" | "expired" | "not_awaiting"> | "approval_not_pending";

/** The command line's word for a decision that comes too late, whatever closed the ticket. Source: protocol §4, [S1] C12. */
export function asC12Code(code: ResumeRefusalCode): C12Code {
  switch (code) {
    case "run_ended":
    case "expired":
    case "not_awaiting":
      return "approval_not_pending";
    default:
      return code;
  }
}
