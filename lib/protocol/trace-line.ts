import {
  type CanonicalJson,
  canonicalJson,
  isObject,
  type JsonObject,
  type JsonValue,
  readJson,
} from "./canonical-json";
import type { TraceRow } from "./console-run-view";
import { attemptedWord } from "./refusal-groups";
import { quoted, type Sentence, say, time } from "./sentence";
import { REFUSAL_TRACE_TYPES, TRACE_TYPES, type TraceType } from "./trace-event";

/** One event as a row: everything in it is read from the text that was hashed. */
export interface TraceLine {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  readonly type: TraceType | null;
  readonly typeWord: string;
  readonly actor: string;
  readonly prevHash: string;
  readonly payload: JsonObject;
  readonly payloadText: CanonicalJson;
  readonly refused: boolean;
}

export function traceLine(row: TraceRow): TraceLine {
  const read = readJson(row.event_text, { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER });
  const event: JsonObject = read.ok && isObject(read.value) ? read.value : {};
  const typeWord = text(event.type) ?? "unreadable";
  const actor = objectOf(event.actor);
  const payload = objectOf(event.payload);
  return {
    seq: row.seq,
    hash: row.hash,
    at: text(event.at) ?? "",
    type: TRACE_TYPES.find((type) => type === typeWord) ?? null,
    typeWord,
    actor: text(actor.name) ?? "",
    prevHash: text(event.prev_hash) ?? "",
    payload,
    payloadText: canonicalJson(payload),
    refused: REFUSAL_TRACE_TYPES.some((type) => type === typeWord),
  };
}

/** A refusal's reason code, which leads its line. */
export function reasonCode(line: TraceLine): string | null {
  return line.refused ? (text(line.payload.reason) ?? "unknown") : null;
}

/** What happened, in one line; the payload whole is beside it. */
export function lineSentence({ type, payload }: TraceLine): Sentence {
  const call = text(payload.call_ref) ?? text(payload.call);
  const subject = call === null ? say`` : say`Call ${quoted(call)} `;
  switch (type) {
    case "checkpoint_saved":
      return say`Step ${word(payload.step)}, snapshot ${quoted(short(text(payload.snapshot_id) ?? ""))}`;
    case "proposal_recorded":
      return say`${subject}${quoted(text(payload.action) ?? "")}, ${word(payload.verdict)}${rule(payload)}`;
    case "policy_evaluated":
      return say`${subject}${payload.behaviour === "allow" ? "allowed" : "denied"} by ${payload.rule ? say`rule ${quoted(word(payload.rule))}` : "the default"}`;
    case "signal_received":
      return say`${word(payload.source)}: ${quoted(word(payload.signal))}`;
    case "runtime_validated":
      return say`${quoted(word(payload.signal))} ${word(payload.verdict)}`;
    case "run_exited":
      return say`Step ${word(payload.step)}, the loop is left: ${word(payload.state)}`;
    case "pending_recorded":
      return say`${subject}waits, ticket ${quoted(short(text(payload.ticket_id) ?? ""))}`;
    case "proposal_verified":
      return payload.phase === "approval"
        ? say`At approval: recomputed equals stored`
        : say`At resume: recomputed equals approved`;
    case "approval_recorded":
      return say`${payload.verdict === "allow" ? "Allow" : "Deny"}${payload.settles === false ? ", more are needed" : ""}${payload.reason ? ", with a reason" : ""}`;
    case "input_received":
      return say`${subject}answered`;
    case "resume_started":
      return say`${subject}attempt ${word(payload.attempt)}${payload.worker ? say`, ${quoted(word(payload.worker))}` : ""}${untilLease(payload)}`;
    case "action_executed":
    case "action_recovered":
    case "action_failed":
    case "action_replayed":
    case "action_indeterminate":
    case "action_conflict":
      return say`${subject}attempt ${word(payload.attempt)}${payload.late ? ", late" : ""}${payload.code ? say`, ${quoted(word(payload.code))}` : ""}`;
    case "state_transition":
      return transition(payload, subject);
    case "ticket_expired":
      return say`${subject}then ${word(payload.on_expiry)}`;
    case "ticket_superseded":
      return say`${subject}replaced by ${quoted(short(text(payload.successor_ticket_id) ?? ""))}`;
    case "ticket_cancelled":
      return say`${subject}${word(payload.cause).replaceAll("_", " ")}`;
    case "run_ended":
      return say`${word(payload.cause)}${payload.code ? say`, ${quoted(word(payload.code))}` : ""}`;
    case "proposal_rejected":
    case "resume_rejected":
    case "transition_rejected":
    case "signal_rejected":
      return say`${attemptedWord(word(payload.attempted), text(payload.late_verdict))}${call === null ? "" : say`, call ${quoted(call)}`}`;
    default:
      return say`${subject}`;
  }
}

function transition(payload: JsonObject, subject: Sentence): Sentence {
  const from = payload.from ? say`${word(payload.from)} → ${word(payload.outcome ?? payload.to)}` : say``;
  const cause = text(payload.cause);
  return say`${subject}${from}${cause === null ? "" : `${payload.from ? ", " : ""}${cause.replaceAll("_", " ")}`}`;
}

function rule(payload: JsonObject): Sentence {
  return payload.rule ? say`, rule ${quoted(word(payload.rule))}` : say``;
}

function untilLease(payload: JsonObject): Sentence {
  const until = Date.parse(text(payload.lease_until) ?? "");
  return Number.isNaN(until) ? say`` : say`, lease until ${time(until)}`;
}

const HASHES = ["supplied_hash", "current_hash", "stored_hash", "approval_hash"] as const;

export interface RefusedHashes {
  readonly lines: readonly { readonly name: string; readonly value: string }[];
  /** The approval where there is one, else what is stored. */
  readonly reference: { readonly name: string; readonly value: string } | null;
}

/** Supplied, current and stored, to be held against the approval. */
export function refusedHashes(facts: { readonly [name: string]: JsonValue | undefined }): RefusedHashes {
  const present = HASHES.flatMap((name) => {
    const value = text(facts[name]);
    return value === null ? [] : [{ name: name.replace("_hash", ""), value }];
  });
  const reference = present.find((it) => it.name === "approval") ?? present.find((it) => it.name === "stored") ?? null;
  return { reference, lines: present.filter((it) => it !== reference) };
}

/** Other pairs of a refusal that explain it: what was sent against what was frozen. */
export function refusedPairs(
  payload: JsonObject,
): readonly { readonly name: string; readonly supplied: string; readonly frozen: string }[] {
  return PAIRS.flatMap(([name, sent, frozen]) => {
    const supplied = payload[sent];
    const held = payload[frozen];
    if (supplied === undefined || held === undefined || supplied === null || held === null) return [];
    return [{ name, supplied: word(supplied), frozen: word(held) }];
  });
}

const PAIRS = [
  ["request id", "request_id", "current_request_id"],
  ["request id", "supplied_request_id", "approved_request_id"],
  ["output", "output", "approved_output"],
  ["output", "supplied_output", "approved_output"],
  ["view", "view_digest", "current_view_digest"],
  ["snapshot", "snapshot_id", "approved_snapshot_id"],
  ["catalogue", "catalog_fingerprint", "approved_catalog_fingerprint"],
] as const;

function short(id: string): string {
  return id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function word(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "none";
  return typeof value === "string" ? value : canonicalJson(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}
