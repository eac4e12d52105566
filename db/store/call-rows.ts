import type { CallFacts, WaitTerms } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { callRef } from "@/lib/protocol/call";
import { canonicalJson, isObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Instant } from "@/lib/protocol/instant";

type Plain = Omit<CallFacts, "terms" | "authorisation">;

/** A call's row as it is read: the facts' columns by their names, and what is put together from several. */
export interface CallRow extends Plain {
  readonly waitTerms: string;
  readonly authorisedBy: "person" | "rule" | null;
  readonly approvalRequestId: string | null;
  readonly approvalHash: string | null;
  readonly authorisedAt: Instant | null;
}

export function callFacts(row: CallRow): CallFacts {
  const { waitTerms, authorisedBy, approvalRequestId, approvalHash, authorisedAt, ...plain } = row;
  const isAuthorised =
    authorisedBy !== null && approvalRequestId !== null && approvalHash !== null && authorisedAt !== null;
  return {
    ...plain,
    terms: readTerms(waitTerms),
    authorisation: isAuthorised
      ? {
          by: authorisedBy,
          requestId: approvalRequestId,
          hash: approvalHash as CallFacts["proposalHash"],
          policyVersion: plain.policyVersion,
          at: authorisedAt,
        }
      : null,
  };
}

/** The columns that a verb may change after the call was recorded. */
export function callChanges(call: CallFacts) {
  return {
    status: call.status,
    outcome: call.outcome,
    outcomeCause: call.outcomeCause,
    attempt: call.attempt,
    unreported: call.unreported,
    claimKey: call.claimKey,
    claimToken: call.claimToken,
    claimedBy: call.claimedBy,
    claimJob: call.claimJob,
    leaseUntil: call.leaseUntil,
    effectKey: call.effectKey,
    authorisedBy: call.authorisation?.by ?? null,
    approvalRequestId: call.authorisation?.requestId ?? null,
    approvalHash: call.authorisation?.hash ?? null,
    authorisedAt: call.authorisation?.at ?? null,
    policyVersion: call.policyVersion,
    allowValidUntil: call.allowValidUntil,
    ruleId: call.ruleId,
    note: call.note,
    result: call.result,
    resultHash: call.result === null ? null : sha256Hex(call.result),
    error: call.error,
    late: call.late,
    settledBy: call.settledBy,
    evidence: call.evidence,
    reboundFrom: call.reboundFrom,
    endedAt: call.endedAt,
  };
}

export function newCallRow(workspaceId: string, run: string, call: CallFacts) {
  return {
    workspaceId,
    run,
    step: call.step,
    batchIndex: call.batchIndex,
    editNo: call.editNo,
    editedFrom: call.editNo === 0 ? null : callRef(call.step, call.batchIndex, call.editNo - 1),
    callRef: call.callRef,
    callId: call.callId,
    action: call.action,
    args: call.args,
    target: call.target,
    proposalHash: call.proposalHash,
    mcpServer: call.mcpServer,
    why: call.why,
    declaredClass: call.declaredClass,
    effectiveClass: call.effectiveClass,
    resumeMode: call.resumeMode,
    onDeny: call.onDeny,
    waitTerms: termsText(call.terms),
    ...callChanges(call),
  };
}

function termsText(terms: WaitTerms): string {
  const json: { readonly [name in keyof WaitTerms]: JsonValue } = terms;
  return canonicalJson(json);
}

/** Our own writing, read back; a row that somebody else wrote may throw, and then nothing is done. */
function readTerms(text: string): WaitTerms {
  const terms = stored(text);
  if (!isObject(terms)) throw new Error("a call's wait terms are no object");
  return terms as unknown as WaitTerms;
}
