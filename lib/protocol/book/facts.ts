import type { AwaitKind, AwaitReason } from "../await-target";
import type {
  BatchMode,
  CallOutcome,
  CallRef,
  CallStatus,
  Coupling,
  IdempotencyClass,
  OnDeny,
  OnExpiry,
  OutcomeCause,
  ResumeMode,
  Risk,
} from "../call";
import type { CanonicalJson, JsonValue } from "../canonical-json";
import type { Sha256 } from "../hash";
import type { Instant } from "../instant";
import type { DelegationOrigin, Executor, RunCause } from "../run";
import type { ClosedByKind, TicketStatus } from "../ticket";

/** A run as it stands under its lock. */
export interface RunFacts {
  readonly id: string;
  readonly workspaceId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly agent: string;
  readonly threadId: string;
  readonly snapshotId: string;
  readonly catalogFingerprint: string;
  /** A run whose snapshot names tools must say at begin what it runs now. */
  readonly hasCatalog: boolean;
  readonly executor: Executor;
  readonly principalId: string;
  /** The person behind the principal, when a person opened the run; the person who owns the agent's key. */
  readonly openedByPerson: string | null;
  readonly keyOwner: string | null;
  readonly onBehalfOf: string | null;
  readonly delegation: DelegationOrigin | null;
  readonly parentEnded: boolean;
  readonly cause: RunCause | null;
  readonly causeCode: string | null;
  readonly endedBy: string | null;
  readonly endedAt: Instant | null;
}

export interface BatchFacts {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
  readonly contentHash: string;
  readonly stateSha256: string | null;
}

/** How a call's ticket is to be opened; kept with the call, so that a queued one's deadline counts from its opening. */
export interface WaitTerms {
  readonly kind: AwaitKind;
  readonly reason: AwaitReason;
  readonly deadlineInMs: number | null;
  readonly onExpiry: OnExpiry;
  readonly allowValidMs: number | null;
  readonly prompt: string | null;
  readonly schema: JsonValue;
  readonly options: JsonValue;
  readonly risk: Risk;
}

export interface Authorisation {
  readonly by: "person" | "rule";
  readonly requestId: string;
  readonly hash: Sha256;
  readonly policyVersion: number | null;
  readonly at: Instant;
}

export interface CallFacts {
  readonly callRef: CallRef;
  readonly step: number;
  readonly batchIndex: number;
  readonly editNo: number;
  readonly callId: string | null;
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
  readonly proposalHash: Sha256;
  readonly mcpServer: string | null;
  readonly why: string | null;
  readonly declaredClass: IdempotencyClass | null;
  readonly effectiveClass: IdempotencyClass;
  readonly resumeMode: ResumeMode;
  readonly onDeny: OnDeny;
  readonly terms: WaitTerms;
  readonly ruleId: string | null;
  readonly policyVersion: number | null;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly outcomeCause: OutcomeCause | null;
  readonly attempt: number;
  readonly unreported: boolean;
  readonly claimKey: string | null;
  readonly claimToken: string | null;
  readonly claimedBy: string | null;
  readonly claimJob: string | null;
  readonly leaseUntil: Instant | null;
  readonly effectKey: string | null;
  readonly authorisation: Authorisation | null;
  readonly allowValidUntil: number | null;
  /** When the allow takes effect: `decided_at` plus the undo window; null when a rule approved it. */
  readonly effectiveAt: Instant | null;
  /** The person whose allow it is may still decide; true where no person did. */
  readonly approverMay: boolean;
  /** The hash that the person's allow froze, read from the decision itself; null where no allow that stands is on record. */
  readonly decidedHash: Sha256 | null;
  readonly note: string | null;
  readonly result: CanonicalJson | null;
  readonly error: CanonicalJson | null;
  readonly late: boolean;
  readonly settledBy: string | null;
  readonly evidence: string | null;
  readonly reboundFrom: string | null;
  readonly endedAt: Instant | null;
}

export interface TicketFacts {
  readonly id: string;
  readonly correlationId: string;
  readonly callRef: CallRef | null;
  readonly kind: AwaitKind;
  readonly reason: AwaitReason;
  readonly toolId: string | null;
  readonly snapshotId: string;
  readonly catalogFingerprint: string;
  readonly delegation: DelegationOrigin | null;
  readonly revision: number;
  readonly status: TicketStatus;
  readonly supersedes: string | null;
  readonly successor: string | null;
  readonly openedAt: Instant;
  readonly deadlineMs: number | null;
  readonly expiredAt: Instant | null;
  readonly onExpiry: OnExpiry;
  readonly allowValidMs: number | null;
  readonly undoMs: number;
  readonly quorumNeeded: number;
  readonly prompt: string | null;
  readonly schema: JsonValue;
  readonly options: JsonValue;
  readonly risk: Risk;
  readonly onDeny: OnDeny;
  readonly ruleId: string | null;
  readonly ruleVersion: number | null;
  readonly closedByKind: ClosedByKind | null;
  readonly closedByActor: string | null;
  readonly closedByVerdict: string | null;
  readonly closedAt: Instant | null;
}

/** A verdict on record. `stillMay` is judged anew at every decision: a right lost since does not count. */
export interface VoteFacts {
  readonly person: string | null;
  readonly verdict: string;
  readonly stillMay: boolean;
}

/** Granted and never reported: the effect may or may not have happened. Source: protocol §5 "Call". */
export function mayHaveHappened(call: CallFacts): boolean {
  return (
    call.status === "executing" || call.status === "indeterminate" || (call.status === "approved" && call.unreported)
  );
}

/** No attempt was ever granted, so closing the call can hide no effect. */
export function isNeverBegun(call: CallFacts): boolean {
  return call.attempt === 0;
}

export function isTerminal(call: CallFacts): boolean {
  return call.status === "completed";
}

/** Its executor has something to do about it: begin it, or end the attempt that is under way. */
export function isInHand(call: CallFacts): boolean {
  return call.status === "approved" || call.status === "executing";
}
