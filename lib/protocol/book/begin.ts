import { ok, type Result, refuse } from "@/lib/result";
import { type CallRef, isSafeToRepeat } from "../call";
import { type CanonicalJson, hashJson } from "../canonical-json";
import { type Instant, plusMs } from "../instant";
import { evaluatePolicy } from "../permission-rule";
import { proposalHash } from "../proposal";
import { type Refusal, refusal } from "../refusals";
import { followUp, placesOf } from "./batch";
import { type Book, NO_CLAIM } from "./book";
import { type CallFacts, isTerminal } from "./facts";
import { hashesOf, runEnded } from "./refusing";

/** What the executor is about to do, and what it runs now. Source: http-api "begin". */
export interface BeginRequest {
  readonly requestId: string;
  readonly action: string;
  readonly args: CanonicalJson;
  readonly output: CanonicalJson;
  /** The executor's process and the key of this attempt: both together, and only both, get a live grant again. */
  readonly worker: string | null;
  readonly key: string | null;
  readonly leaseMs: number;
  readonly snapshotId: string | null;
  readonly catalogFingerprint: string | null;
  /** A worker's claim of its job is the lease: its token is the grant's. Elsewhere each grant gets a token of its own. */
  readonly claim: { readonly job: string; readonly token: string } | null;
  /** An earlier claim of the same process or job that is known to be over, so that its lease need not be waited for. */
  readonly earlierClaimIsOver: (call: CallFacts) => boolean;
}

export type Begun =
  | {
      readonly granted: true;
      readonly attempt: number;
      readonly effectKey: string;
      readonly claimToken: string;
      readonly leaseUntil: Instant;
      readonly note: string | null;
    }
  | { readonly granted: false; readonly call: CallFacts };

/**
 * Claim the right to execute, once. Checks 2–13 of protocol §6 "Begin" in their order; check 1 is the store's.
 * `executing` is committed before the tool is entered.
 */
export function begin(book: Book, ref: CallRef, request: BeginRequest): Result<Begun, Refusal> {
  const before = book.call(ref);
  if (before.status === "executing" && request.earlierClaimIsOver(before)) lapse(book, before);
  const call = book.call(ref);

  if (isTerminal(call) && call.outcomeCause !== "run_ended") return answerCompleted(book, call);
  if (book.run.cause !== null || book.run.parentEnded) return refuse(runEnded(book));
  if (call.status === "indeterminate")
    return refuse(refusal("indeterminate", { call_ref: ref, attempt: call.attempt }));
  if (call.status === "awaiting" || call.status === "queued") {
    const ticket = book.newestTicketOf(ref);
    return refuse(
      refusal("approval_required", {
        call_ref: ref,
        state: call.status,
        current_request_id: ticket?.correlationId ?? null,
        ...hashesOf(call, suppliedHash(request), storedHash(call)),
      }),
    );
  }
  if (call.status === "executing") return answerExecuting(call, request);
  const refused =
    refuseTurn(book, call) ??
    refuseAllow(book, call) ??
    refuseExecutor(book, request) ??
    refuseAct(book, call, request);
  if (refused) return refuse(refused);
  const denied = refuseByRule(book, call);
  return denied ? refuse(denied) : ok(grant(book, call, request));
}

/** Check 2. A success is an answer, not a refusal: whoever comes again gets what the first one did. */
function answerCompleted(book: Book, call: CallFacts): Result<Begun, Refusal> {
  if (call.outcome === "succeeded" || call.outcome === "failed") {
    book.note("action_replayed", { call_ref: call.callRef, attempt: call.attempt, outcome: call.outcome });
    return ok({ granted: false, call });
  }
  if (call.outcome === "blocked") {
    const cause = call.outcomeCause === "person" || call.outcomeCause === "expiry" ? call.outcomeCause : "rule";
    return refuse(
      refusal("approval_rejected", { call_ref: call.callRef, cause, ...hashesOf(call, null, storedHash(call)) }),
    );
  }
  const place = placesOf(book, call.step).find(({ batchIndex }) => batchIndex === call.batchIndex);
  const edited = place && place.callRef !== call.callRef ? { replaced_by: place.callRef } : {};
  return refuse(refusal("call_cancelled", { call_ref: call.callRef, cause: call.outcomeCause, ...edited }));
}

/** Check 5. */
function answerExecuting(call: CallFacts, request: BeginRequest): Result<Begun, Refusal> {
  const isSame =
    request.key !== null &&
    request.worker !== null &&
    call.claimKey === request.key &&
    call.claimedBy === request.worker;
  if (isSame && call.leaseUntil && call.claimToken && call.effectKey) {
    return ok({
      granted: true,
      attempt: call.attempt,
      effectKey: call.effectKey,
      claimToken: call.claimToken,
      leaseUntil: call.leaseUntil,
      note: call.note,
    });
  }
  return refuse(
    refusal("in_progress", { call_ref: call.callRef, attempt: call.attempt, lease_until: call.leaseUntil }),
  );
}

/** Check 6. */
function refuseTurn(book: Book, call: CallFacts): Refusal | null {
  const pause = book.openPause();
  if (pause) return refusal("run_awaiting", { ticket_id: pause.id, request_id: pause.correlationId });
  if (book.batch(call.step).mode === "sequential") {
    const earlier = placesOf(book, call.step).find((other) => other.batchIndex < call.batchIndex && !isTerminal(other));
    if (earlier) return refusal("batch_order", { call_ref: call.callRef, waits_for: earlier.callRef });
  }
  if (call.effectiveAt !== null && book.now.at < call.effectiveAt) {
    return refusal("in_undo_window", { effective_at: call.effectiveAt });
  }
  return null;
}

/** Check 7. */
function refuseAllow(book: Book, call: CallFacts): Refusal | null {
  if (call.allowValidUntil !== null && book.now.ms > call.allowValidUntil) {
    return refusal("approval_lapsed", { allow_valid_until_ms: call.allowValidUntil, now_ms: book.now.ms });
  }
  return call.approverMay ? null : refusal("approver_revoked", { call_ref: call.callRef });
}

/** Check 8. A run whose snapshot names tools must say what it runs now. */
function refuseExecutor(book: Book, request: BeginRequest): Refusal | null {
  const { snapshotId, catalogFingerprint, hasCatalog } = book.run;
  if (differs(request.snapshotId, snapshotId, hasCatalog)) {
    return refusal("snapshot_mismatch", { supplied: request.snapshotId, expected: snapshotId });
  }
  if (differs(request.catalogFingerprint, catalogFingerprint, hasCatalog)) {
    return refusal("fingerprint_mismatch", { supplied: request.catalogFingerprint, expected: catalogFingerprint });
  }
  return null;
}

function differs(said: string | null, expected: string, mustSay: boolean): boolean {
  return said === null ? mustSay : said !== expected;
}

/** Checks 9–11: the target, then the request, then the hash of what is stored now and of what was sent. */
function refuseAct(book: Book, call: CallFacts, request: BeginRequest): Refusal | null {
  const approval = call.authorisation;
  if (!approval) throw new Error(`call ${call.callRef} is approved without an authorisation`);
  const current = storedHash(call);
  const hashes = hashesOf(call, suppliedHash(request), current);
  if (request.output !== call.target) {
    return refusal("output_mismatch", { supplied_output: request.output, approved_output: call.target, ...hashes });
  }
  // A call that a rule approved has no ticket, so a ticket's id here shows that the row says another authorisation than was given.
  const ticket = book.newestTicketOf(call.callRef);
  const currentRequest = ticket && call.reboundFrom === null ? ticket.correlationId : approval.requestId;
  const isOnRecord = approval.by !== "person" || call.decidedHash !== null;
  if (request.requestId !== approval.requestId || currentRequest !== approval.requestId || !isOnRecord) {
    return refusal("approval_request_mismatch", {
      supplied_request_id: request.requestId,
      current_request_id: currentRequest,
      approval_request_id: approval.requestId,
      ...hashes,
    });
  }
  // The decision cannot be rewritten by the app's role, the call can: what the person allowed is what the decision says.
  const decided = approval.by === "person" ? call.decidedHash : approval.hash;
  const isApproved = [current, suppliedHash(request), decided].every((hash) => hash === approval.hash);
  return isApproved ? null : refusal("proposal_hash_mismatch", { ...hashes, approval_hash: decided });
}

function storedHash(call: CallFacts): string {
  return proposalHash(call.action, call.args, call.target);
}

function suppliedHash(request: BeginRequest): string {
  return proposalHash(request.action, request.args, request.output);
}

/** Check 12. A deny rule that came later still counts, unless an effect may have happened. */
function refuseByRule(book: Book, call: CallFacts): Refusal | null {
  const { behaviour, rule } = evaluatePolicy(book.policy, call.action);
  if (behaviour !== "deny") return null;
  const facts = { call_ref: call.callRef, rule: rule?.id ?? null, policy_version: book.policy.version };
  if (call.unreported) {
    book.amend(call.callRef, { status: "indeterminate" });
    book.note("action_indeterminate", { ...facts, attempt: call.attempt, cause: "blocked_by_rule" });
    return refusal("indeterminate", { ...facts, attempt: call.attempt });
  }
  book.complete(call.callRef, "blocked", "blocked_by_rule", { ruleId: rule?.id ?? null });
  book.note("policy_evaluated", { ...facts, behaviour: "deny" });
  followUp(book, call.step);
  return refusal("approval_rejected", { ...facts, cause: "rule" });
}

/** Check 13. */
function grant(book: Book, call: CallFacts, request: BeginRequest): Begun {
  const attempt = call.attempt + 1;
  const claimToken = request.claim?.token ?? book.facts.newId();
  const leaseUntil = plusMs(book.now.at, request.leaseMs);
  const effectKey = effectKeyOf(book, call);
  book.note("proposal_verified", { phase: "resume", call_ref: call.callRef, proposal_hash: call.proposalHash });
  book.note("resume_started", { call_ref: call.callRef, attempt, worker: request.worker, lease_until: leaseUntil });
  book.amend(call.callRef, {
    status: "executing",
    attempt,
    unreported: true,
    claimKey: request.key,
    claimToken,
    claimedBy: request.worker,
    claimJob: request.claim?.job ?? null,
    leaseUntil,
    effectKey,
  });
  return { granted: true, attempt, effectKey, claimToken, leaseUntil, note: call.note };
}

/** The same for every attempt of one approved call, different for every other call. Source: protocol §6 "Lease". */
export function effectKeyOf(book: Book, call: CallFacts): string {
  return hashJson({
    workspace_id: book.run.workspaceId,
    run_id: book.run.runId,
    call_ref: call.callRef,
    approval_request_id: call.authorisation?.requestId ?? null,
    approval_hash: call.authorisation?.hash ?? null,
  });
}

export function isLapsed(book: Book, call: CallFacts): boolean {
  return call.status === "executing" && call.leaseUntil !== null && book.now.at > call.leaseUntil;
}

/** The lease is over: a class that may be repeated goes back to approved, anything else nobody can know. Source: protocol §5. */
export function lapse(book: Book, call: CallFacts): void {
  const facts = { call_ref: call.callRef, attempt: call.attempt, lease_until: call.leaseUntil };
  if (isSafeToRepeat(call.effectiveClass) && book.run.cause === null) {
    book.amend(call.callRef, { ...NO_CLAIM, status: "approved" });
    book.note("state_transition", { ...facts, from: "executing", to: "approved", cause: "lease_over" });
    book.enqueue({ dedupeKey: `resume:${call.callRef}:${call.attempt}`, ticketId: null });
  } else {
    book.amend(call.callRef, { ...NO_CLAIM, status: "indeterminate" });
    book.note("action_indeterminate", { ...facts, cause: "lease_over" });
  }
}

/** A verb that meets a lease that is over, before the sweeper does, acts as the sweeper would. Source: protocol §6 "Lease". */
export function lapseOver(book: Book): void {
  for (const call of book.calls()) if (isLapsed(book, call)) lapse(book, call);
}

/** Move the lease of a live attempt. Source: protocol §6 "Lease". */
export function renew(book: Book, ref: CallRef, attempt: number, leaseMs: number): Result<Instant, Refusal> {
  const live = book.call(ref);
  // Whoever is still at work learns here that the run was ended; the report of what was done is accepted all the same.
  if (book.run.cause !== null) return refuse(runEnded(book));
  if (live.status !== "executing" || live.attempt !== attempt) {
    return refuse(
      refusal("stale_attempt", { call_ref: ref, attempt, current_attempt: live.attempt, state: live.status }),
    );
  }
  const leaseUntil = plusMs(book.now.at, leaseMs);
  book.amend(ref, { leaseUntil });
  return ok(leaseUntil);
}
