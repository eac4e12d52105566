import {
  type CanonicalJson,
  canonicalJson,
  hashJson,
  isObject,
  type JsonObject,
  type JsonValue,
  readJson,
} from "./canonical-json";
import { type Sha256, sha256Hex } from "./hash";
import type { PrincipalKind } from "./principal";

/** Everything a run's record can say. Source: protocol §9. */
export const TRACE_TYPES = [
  "checkpoint_saved",
  "proposal_recorded",
  "policy_evaluated",
  "signal_received",
  "runtime_validated",
  "state_transition",
  "pending_recorded",
  "run_exited",
  "proposal_verified",
  "approval_recorded",
  "resume_started",
  "action_executed",
  "action_recovered",
  "action_replayed",
  "action_conflict",
  "action_failed",
  "action_indeterminate",
  "input_received",
  "message_appended",
  "ticket_expired",
  "ticket_superseded",
  "ticket_cancelled",
  "run_ended",
  "proposal_rejected",
  "resume_rejected",
  "transition_rejected",
  "signal_rejected",
] as const;
export type TraceType = (typeof TRACE_TYPES)[number];

/** The types that record a refusal; their payload has the reason. */
export const REFUSAL_TRACE_TYPES = [
  "proposal_rejected",
  "resume_rejected",
  "transition_rejected",
  "signal_rejected",
] as const satisfies readonly TraceType[];

/** Who acted, as the record names them: a principal's id and a name, never an e-mail. */
export type TraceActor = { readonly kind: PrincipalKind; readonly id: string; readonly name: string };

/**
 * One event. `payload` names texts (arguments, results, reasons, previews) by `{hash, bytes, ref}` and never holds them: what can be
 * erased must not be part of what is hashed.
 */
export type TraceEvent = {
  readonly v: 1;
  readonly kind: "trace";
  readonly workspace_id: string;
  readonly run_id: string;
  /** From 1, without gaps. */
  readonly seq: number;
  readonly type: TraceType;
  /** The database's clock: RFC 3339, UTC, six digits, such as `2026-01-02T03:04:05.678901Z`. */
  readonly at: string;
  readonly actor: TraceActor;
  readonly payload: JsonObject;
  readonly prev_hash: Sha256;
};

export const TRACE_TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** The run that a chain belongs to; both ids are in every event, so that no chain can be passed off as another's. */
export interface ChainIds {
  readonly workspace_id: string;
  readonly run_id: string;
}

/** The `prev_hash` of the first event. */
export function genesisHash(workspaceId: string, runId: string): Sha256 {
  return hashJson({ v: 1, kind: "trace_genesis", workspace_id: workspaceId, run_id: runId });
}

/** The text that is hashed, stored, exported and verified. */
export function traceEventText(event: TraceEvent): CanonicalJson {
  return canonicalJson(event);
}

/**
 * `text` is the event's canonical text as stored, `hash` what stands beside it. A database keeps some of the text in columns of their own,
 * by which lists are read; where they are given, they must say what the text says.
 */
export interface ChainRow {
  readonly text: string;
  readonly hash: string;
  readonly seq?: number;
  readonly type?: string;
  readonly at?: string;
  readonly prevHash?: string;
  readonly refusalCode?: string | null;
}

export type ChainFault =
  | "hash_mismatch"
  | "not_json"
  | "not_canonical"
  | "not_an_event"
  | "another_run"
  | "seq_gap"
  | "broken_link"
  | "column_differs";

export type ChainVerdict =
  | { readonly ok: true; readonly count: number }
  | { readonly ok: false; readonly seq: number; readonly why: ChainFault };

/**
 * Verify a run's whole chain, first event first. Needs no key, no database and no clock, so the browser and `holdpoint verify` run it
 * on what they were given. Names the first place that is wrong; `seq` is the one that should stand there.
 *
 * It proves that the rows are linked and unaltered, not that none was cut off the end: that takes a checkpoint kept elsewhere.
 */
export function verifyChain(rows: readonly ChainRow[], ids: ChainIds): ChainVerdict {
  let prev: string = genesisHash(ids.workspace_id, ids.run_id);
  for (const [index, row] of rows.entries()) {
    const why = faultOf(row, index + 1, prev, ids);
    if (why) return { ok: false, seq: index + 1, why };
    prev = row.hash;
  }
  return { ok: true, count: rows.length };
}

function faultOf(row: ChainRow, seq: number, prev: string, ids: ChainIds): ChainFault | null {
  const read = readJson(row.text, { maxDepth: 128, maxKeys: 100_000 });
  if (!read.ok) return "not_json";
  if (sha256Hex(row.text) !== row.hash) return "hash_mismatch";
  // Two texts of one event would be two hashes of one fact.
  if (canonicalJson(read.value) !== row.text) return "not_canonical";
  const event = read.value;
  if (!isObject(event) || !looksLikeEvent(event)) return "not_an_event";
  if (event.workspace_id !== ids.workspace_id || event.run_id !== ids.run_id) return "another_run";
  if (event.seq !== seq) return "seq_gap";
  if (event.prev_hash !== prev) return "broken_link";
  return columnsAgree(row, event) ? null : "column_differs";
}

function columnsAgree(row: ChainRow, event: JsonObject): boolean {
  const { seq, type, at, prev_hash } = event;
  const pairs = [
    [row.seq, seq],
    [row.type, type],
    [row.at, at],
    [row.prevHash, prev_hash],
    [row.refusalCode, refusalCodeOf(event)],
  ];
  return pairs.every(([column, said]) => column === undefined || column === said);
}

/** Why, where the event records a refusal; null for every other. */
function refusalCodeOf({ type, payload }: JsonObject): JsonValue {
  const isRefusal = REFUSAL_TRACE_TYPES.some((known) => known === type);
  return isRefusal && payload !== undefined && isObject(payload) ? (payload.reason ?? null) : null;
}

const EVENT_KEYS = "actor,at,kind,payload,prev_hash,run_id,seq,type,v,workspace_id";

function looksLikeEvent(event: JsonObject): boolean {
  return (
    event.v === 1 &&
    event.kind === "trace" &&
    Object.keys(event).sort().join(",") === EVENT_KEYS &&
    typeof event.at === "string" &&
    TRACE_TIME_PATTERN.test(event.at) &&
    TRACE_TYPES.some((type) => type === event.type)
  );
}
