import { ok, type Result, refuse } from "../result";
import { hashJson, isArray, isObject, type JsonObject, type JsonValue } from "./canonical-json";
import { type ChainRow, verifyChain } from "./trace-event";

/** What was checked, in numbers. */
export interface BundleCheck {
  readonly workspace_id: string;
  readonly run_id: string;
  readonly events: number;
  readonly proposals: number;
}

export type BundleFault =
  | "not_a_bundle"
  | "chain_broken"
  | "proposal_altered"
  | "proposal_not_in_trace"
  | "approval_of_something_else";

export interface BundleRefusal {
  readonly code: BundleFault;
  /** The seq or the call_ref at which it shows. */
  readonly at: string;
  readonly detail: string;
}

/**
 * Check a downloaded bundle with nothing but itself: the chain holds; each proposal hashes to the hash that stands beside it; that hash is
 * the one which the trace recorded when the call was proposed; and what was approved is what was proposed.
 *
 * It proves that the parts agree and that the chain is whole. Who wrote the chain, and that its end was not cut off, takes a checkpoint that
 * was kept elsewhere.
 */
export function verifyBundle(bundle: JsonValue): Result<BundleCheck, BundleRefusal> {
  if (!isObject(bundle) || bundle.kind !== "bundle" || bundle.v !== 1) return fault("not_a_bundle", "", "kind and v");
  const { workspace_id, run_id, trace, proposals } = bundle;
  if (typeof workspace_id !== "string" || typeof run_id !== "string") return fault("not_a_bundle", "", "its ids");
  const rows = listOf(trace, isChainRow);
  const calls = listOf(proposals, isProposalRow);
  if (!rows || !calls) return fault("not_a_bundle", "", "its trace or its proposals");

  const chain = verifyChain(rows, { workspace_id, run_id });
  if (!chain.ok) return fault("chain_broken", String(chain.seq), chain.why);
  const recorded = recordedHashes(rows);
  for (const call of calls) {
    const { call_ref, action, args, output, proposal_hash, approval_hash } = call;
    if (hashJson({ action, args, output }) !== proposal_hash) {
      return fault("proposal_altered", call_ref, "the proposal does not hash to its proposal_hash");
    }
    if (recorded.get(call_ref) !== proposal_hash) {
      return fault("proposal_not_in_trace", call_ref, "the trace recorded another proposal, or none");
    }
    if (approval_hash !== null && approval_hash !== proposal_hash) {
      return fault("approval_of_something_else", call_ref, "what was approved is not what was proposed");
    }
  }
  return ok({ workspace_id, run_id, events: rows.length, proposals: calls.length });
}

/** Which proposal the trace recorded for each call. The chain was verified, so every text reads. */
function recordedHashes(rows: readonly ChainRow[]): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const row of rows) {
    const { type, payload } = JSON.parse(row.text) as { type: string; payload: Readonly<Record<string, unknown>> };
    if (type !== "proposal_recorded") continue;
    const { call_ref, proposal_hash } = payload;
    if (typeof call_ref === "string" && typeof proposal_hash === "string") hashes.set(call_ref, proposal_hash);
  }
  return hashes;
}

interface ProposalRow extends JsonObject {
  readonly call_ref: string;
  readonly action: string;
  readonly args: JsonValue;
  readonly output: JsonValue;
  readonly proposal_hash: string;
  readonly approval_hash: string | null;
}

function isProposalRow(row: JsonValue): row is ProposalRow {
  if (!isObject(row)) return false;
  const { call_ref, action, args, output, proposal_hash, approval_hash } = row;
  const texts = [call_ref, action, proposal_hash].every((text) => typeof text === "string");
  return (
    texts && args !== undefined && output !== undefined && (approval_hash === null || typeof approval_hash === "string")
  );
}

function isChainRow(row: JsonValue): row is JsonObject & ChainRow {
  return isObject(row) && typeof row.text === "string" && typeof row.hash === "string";
}

function listOf<Row extends JsonValue>(
  list: JsonValue | undefined,
  isRow: (row: JsonValue) => row is Row,
): readonly Row[] | null {
  if (list === undefined || !isArray(list)) return null;
  return list.every(isRow) ? (list as readonly Row[]) : null;
}

function fault(code: BundleFault, at: string, detail: string) {
  return refuse({ code, at, detail } as const);
}
