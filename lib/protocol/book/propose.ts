import { ok, type Result, refuse } from "@/lib/result";
import {
  type BatchMode,
  type CallRef,
  type CallVerdict,
  type Coupling,
  callRef,
  type IdempotencyClass,
  type OnDeny,
  type ResumeMode,
} from "../call";
import type { CanonicalJson, JsonObject } from "../canonical-json";
import { evaluatePolicy } from "../permission-rule";
import { proposalHash } from "../proposal";
import { type Refusal, refusal } from "../refusals";
import { approveByRule, blockByRule, cancelTicketOf, closeCall, followUp, passesByRule, placesOf } from "./batch";
import type { Book } from "./book";
import { type BatchFacts, type CallFacts, isTerminal, mayHaveHappened, type WaitTerms } from "./facts";
import { runEnded } from "./refusing";
import { openTicket } from "./waits";
import { reference } from "./words";

export interface ProposedCall {
  readonly callId: string | null;
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
  readonly mcpServer: string | null;
  readonly why: string | null;
  readonly declaredClass: IdempotencyClass | null;
  readonly effectiveClass: IdempotencyClass;
  readonly resumeMode: ResumeMode;
  readonly onDeny: OnDeny;
  readonly rebind: boolean;
  readonly terms: WaitTerms;
}

export interface ProposedStep {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
  readonly contentHash: string;
  readonly state: { readonly sha256: string; readonly format: string; readonly version: string } | null;
  readonly messages: number;
  readonly calls: readonly ProposedCall[];
}

export interface StepRecord {
  /** The batch as recorded under this number, if any; its calls are in the book. */
  readonly recorded: BatchFacts | null;
  /** The highest recorded step, 0 when there is none. */
  readonly highest: number;
  /** How often each proposal hash was denied by a person in this run. */
  readonly deniedBefore: ReadonlyMap<string, number>;
  /** From how many denials on a repeat is blocked. */
  readonly deniedLimit: number;
}

export interface Proposed {
  readonly step: number;
  readonly calls: readonly { readonly call: CallRef; readonly verdict: CallVerdict }[];
  readonly fromRecord: boolean;
}

/** One model step's calls: recorded, judged by the policy, and parked where it asks. Source: protocol §5 "Steps" and "Batch". */
export function propose(book: Book, proposed: ProposedStep, record: StepRecord): Result<Proposed, Refusal> {
  if (record.recorded) return answerFromRecord(book, proposed, record.recorded);
  const closed = refuseStep(book, proposed.step, record.highest);
  if (closed) return refuse(closed);

  const allows = unusedAllows(book);
  const calls = recordStep(book, proposed);
  for (const [index, call] of calls.entries()) {
    const wanted = proposed.calls[index];
    // An allow moves once: the same call a second time is asked about anew.
    const allow = wanted?.rebind ? allows.find((old) => isSameAct(old, call) && isUnmoved(book, old)) : undefined;
    if (allow) rebind(book, allow, call);
    else judge(book, call, record);
  }
  closeNotPickedUp(book, proposed.step);
  followUp(book, proposed.step);
  return ok({ step: proposed.step, calls: calls.map((call) => verdictOf(book, call.callRef)), fromRecord: false });
}

/** A recorded step is answered from the record whatever the run's state. */
function answerFromRecord(book: Book, proposed: ProposedStep, recorded: BatchFacts): Result<Proposed, Refusal> {
  if (recorded.contentHash !== proposed.contentHash) {
    return refuse(
      refusal("batch_conflict", {
        step: proposed.step,
        supplied_hash: proposed.contentHash,
        stored_hash: recorded.contentHash,
      }),
    );
  }
  // An edited call stands for the one that it replaced.
  const calls = placesOf(book, proposed.step);
  return ok({ step: proposed.step, calls: calls.map((call) => verdictOf(book, call.callRef)), fromRecord: true });
}

/** Why a new step cannot be recorded now. A question is a step of one call, so asking goes by the same rule. */
export function refuseStep(book: Book, step: number, highest: number): Refusal | null {
  if (book.run.cause) return runEnded(book);
  if (step <= highest) return refusal("batch_conflict", { step, highest_step: highest });
  const unfinished = book
    .calls()
    .filter((call) => !isTerminal(call) && !(call.status === "approved" && !call.unreported));
  if (unfinished.length === 0) return null;
  return refusal("batch_open", {
    open_calls: unfinished.map((call) => ({ call_ref: call.callRef, state: call.status })),
  });
}

function recordStep(book: Book, proposed: ProposedStep): CallFacts[] {
  const { step, mode, coupling, contentHash, state } = proposed;
  book.addBatch({ step, mode, coupling, contentHash, stateSha256: state?.sha256 ?? null });
  book.note("checkpoint_saved", {
    step,
    snapshot_id: book.run.snapshotId,
    catalog_fingerprint: book.run.catalogFingerprint,
    messages: proposed.messages,
    state: state && { sha256: state.sha256, format: state.format, version: state.version },
  });
  return proposed.calls.map((call, index) => book.addCall(requestedCall(book, call, step, index)));
}

export function requestedCall(book: Book, call: ProposedCall, step: number, batchIndex: number): CallFacts {
  return {
    callRef: callRef(step, batchIndex),
    step,
    batchIndex,
    editNo: 0,
    callId: call.callId,
    action: call.action,
    args: call.args,
    target: call.target,
    proposalHash: proposalHash(call.action, call.args, call.target),
    mcpServer: call.mcpServer,
    why: call.why,
    declaredClass: call.declaredClass,
    effectiveClass: call.effectiveClass,
    resumeMode: call.resumeMode,
    onDeny: call.onDeny,
    terms: call.terms,
    ruleId: null,
    policyVersion: book.policy.version,
    ...UNTOUCHED,
  };
}

/** A call that nothing has been done about. */
export const UNTOUCHED = {
  status: "requested",
  outcome: null,
  outcomeCause: null,
  attempt: 0,
  unreported: false,
  claimKey: null,
  claimToken: null,
  claimedBy: null,
  claimJob: null,
  leaseUntil: null,
  effectKey: null,
  authorisation: null,
  allowValidUntil: null,
  effectiveAt: null,
  approverMay: true,
  decidedHash: null,
  note: null,
  result: null,
  error: null,
  late: false,
  settledBy: null,
  evidence: null,
  reboundFrom: null,
  endedAt: null,
} as const satisfies Partial<CallFacts>;

/** `requested` is passed through inside one transaction and never stored. */
function judge(book: Book, call: CallFacts, record: StepRecord): void {
  const denied = record.deniedBefore.get(call.proposalHash) ?? 0;
  const { behaviour, rule } = evaluatePolicy(book.policy, call.action);
  const ruleId = rule?.id ?? null;
  if (behaviour === "deny") {
    noteProposal(book, call, "blocked", ruleId);
    blockByRule(book, call, "rule", ruleId);
  } else if (denied >= record.deniedLimit) {
    noteProposal(book, call, "blocked", ruleId);
    blockByRule(book, call, "repeat_of_denied", ruleId);
  } else if (passesByRule(call, behaviour)) {
    noteProposal(book, call, "allowed", ruleId);
    approveByRule(book, call, ruleId);
  } else {
    waitOrQueue(book, call, ruleId);
  }
}

/** In a sequential batch one call waits at a time; the others stand in line without a ticket. */
function waitOrQueue(book: Book, call: CallFacts, ruleId: string | null): void {
  const earlier = book.callsOf(call.step).filter((other) => other.batchIndex < call.batchIndex);
  const isTurn = book.batch(call.step).mode !== "sequential" || earlier.every(isTerminal);
  const parked = book.amend(call.callRef, { status: isTurn ? "awaiting" : "queued", ruleId });
  const ticket = isTurn ? openTicket(book, parked, parked.terms) : null;
  noteProposal(
    book,
    parked,
    parked.status,
    ruleId,
    ticket ? { ticket_id: ticket.id, request_id: ticket.correlationId } : {},
  );
}

export function noteProposal(
  book: Book,
  call: CallFacts,
  verdict: string,
  rule: string | null,
  /** Its ticket, and the call that it was edited from. */
  more: JsonObject = {},
): void {
  book.note("proposal_recorded", {
    call_ref: call.callRef,
    action: call.action,
    proposal_hash: call.proposalHash,
    verdict,
    rule,
    policy_version: book.policy.version,
    args: reference(call.args, `call:${call.callRef}:args`),
    output: reference(call.target, `call:${call.callRef}:output`),
    ...more,
  });
}

function unusedAllows(book: Book): CallFacts[] {
  return book
    .calls()
    .filter((call) => call.status === "approved" && !mayHaveHappened(call) && call.authorisation?.by === "person");
}

function isSameAct(old: CallFacts, call: CallFacts): boolean {
  return old.action === call.action && old.proposalHash === call.proposalHash;
}

function isUnmoved(book: Book, old: CallFacts): boolean {
  return book.call(old.callRef).status === "approved";
}

/** A framework that asks again under a new call id gets the allow it already has, once. Source: protocol §6 "Repeats". */
function rebind(book: Book, old: CallFacts, call: CallFacts): void {
  noteProposal(book, call, "allowed", old.ruleId);
  book.complete(old.callRef, "cancelled", "rebound");
  book.amend(call.callRef, {
    status: "approved",
    authorisation: old.authorisation,
    allowValidUntil: old.allowValidUntil,
    effectiveAt: old.effectiveAt,
    note: old.note,
    reboundFrom: old.callRef,
  });
  book.note("state_transition", {
    call_ref: old.callRef,
    from: "approved",
    to: "completed",
    outcome: "cancelled",
    cause: "rebound",
    new_call_ref: call.callRef,
  });
  book.enqueue({ dedupeKey: `resume:${call.callRef}`, ticketId: null });
}

/** The model went on without them: allowed calls of an earlier step that nobody began. */
export function closeNotPickedUp(book: Book, step: number): void {
  for (const call of book.calls()) {
    if (call.step >= step || call.status !== "approved") continue;
    cancelTicketOf(book, call, "cancelled", "not_picked_up");
    closeCall(book, call, "cancelled", "not_picked_up");
  }
}

const VERDICT_OF: Readonly<Record<string, CallVerdict>> = { awaiting: "awaiting", queued: "queued" };

/** What propose says of a call as it stands: one that has gone on since was allowed, unless it was blocked. */
export function verdictOf(book: Book, ref: CallRef): { call: CallRef; verdict: CallVerdict } {
  const call = book.call(ref);
  const blocked = call.outcome === "blocked" || call.outcome === "cancelled";
  return { call: ref, verdict: VERDICT_OF[call.status] ?? (blocked ? "blocked" : "allowed") };
}
