import { v7 as newId } from "uuid";
import type { Tx } from "@/db/client";
import { reference } from "@/lib/protocol/book/words";
import { canonicalJson, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { hasLoneSurrogate } from "@/lib/protocol/hash";
import type { Instant } from "@/lib/protocol/instant";
import type { Act } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import type { Refusal, RefusalCode, RefusalFacts } from "@/lib/protocol/refusals";
import type { TraceType } from "@/lib/protocol/trace-event";
import { keepContents } from "./contents";
import { appendTrace, type TraceHead, type TraceRun, traceActor } from "./trace";

/** A refusal as a door gives it: with the event that recorded it, when it names a run of the workspace. */
export interface Refused<Code extends RefusalCode = RefusalCode> extends Refusal<Code> {
  readonly runId: string | null;
  readonly traceSeq: number | null;
}

/** What the caller named and tried; a preview of it is kept with the refusal. */
export interface Attempted {
  readonly verb: Act;
  readonly run?: string | null;
  readonly call?: string | null;
  readonly ticket?: string | null;
  readonly input?: JsonObject;
  /** Which of the four rejections it is, where the verb alone does not say. */
  readonly rejection?: TraceType;
}

export interface RefusedRun {
  readonly run: TraceRun;
  readonly head: TraceHead;
  readonly at: Instant;
}

/** Time cures it, or the caller has only to wait: an answer, not something that went wrong. Source: http-api "Refusals". */
const NOT_RECORDED: readonly RefusalCode[] = ["in_progress"];

/** A refusal that names no known object of the caller's: the ledger keeps it, no run's trace does. */
const LEDGER_ONLY: readonly RefusalCode[] = ["unknown_run", "unknown_call", "ticket_not_found", "unknown_job"];

const PREVIEW_CHARACTERS = 2_000;

/**
 * The only writer of both records of a refusal: the trace event and the ledger row. The transaction that holds them commits.
 * Source: house.md "Errors", protocol §9.
 */
export async function recordRefusal<Code extends RefusalCode>(
  tx: Tx,
  caller: Caller,
  attempted: Attempted,
  refusal: Refusal<Code>,
  refused: RefusedRun | null,
): Promise<Refused<Code>> {
  const runId = refused?.run.runId ?? null;
  if (NOT_RECORDED.includes(refusal.code)) return { ...refusal, runId, traceSeq: null };
  const traced = LEDGER_ONLY.includes(refusal.code) ? null : refused;
  const seq = traced ? traced.head.seq + 1 : null;
  if (traced) tx.touched.add(traced.run.id);
  await Promise.all([
    traced ? traceRefusal(tx, caller, attempted, refusal, traced) : null,
    insertRefusal(tx, caller, attempted, refusal, {
      namedRun: attempted.run ?? runId,
      run: traced?.run.id ?? null,
      seq,
    }),
  ]);
  return { ...refusal, runId, traceSeq: seq };
}

async function insertRefusal(
  tx: Tx,
  caller: Caller,
  attempted: Attempted,
  refusal: Refusal,
  place: { readonly namedRun: string | null; readonly run: string | null; readonly seq: number | null },
): Promise<void> {
  const facts = refusal.facts ?? {};
  await tx.sql`insert into refusals ${tx.sql({
    workspaceId: tx.workspace,
    id: newId(),
    code: refusal.code,
    verb: attempted.verb,
    actor: caller.display,
    principalId: caller.principal,
    surface: caller.surface,
    namedCall: attempted.call ?? textOf(facts.call_ref),
    namedTicket: attempted.ticket ?? null,
    suppliedHash: textOf(facts.supplied_hash),
    currentHash: textOf(facts.current_hash),
    storedHash: textOf(facts.stored_hash),
    approvalHash: textOf(facts.approval_hash),
    lateVerdict: textOf(facts.late_verdict),
    ...place,
  })}`;
}

async function traceRefusal(
  tx: Tx,
  caller: Caller,
  attempted: Attempted,
  refusal: Refusal,
  { run, head, at }: RefusedRun,
): Promise<void> {
  const cut = canonicalJson(attempted.input ?? {}).slice(0, PREVIEW_CHARACTERS);
  const text = hasLoneSurrogate(cut) ? cut.slice(0, -1) : cut;
  const payload: JsonObject = {
    reason: refusal.code,
    attempted: attempted.verb,
    surface: caller.surface,
    ...(attempted.call ? { call: attempted.call } : {}),
    ...(attempted.ticket ? { ticket_id: attempted.ticket } : {}),
    ...withoutText(refusal.facts ?? {}),
    rejected_input: reference(text, "content:preview"),
  };
  const type = attempted.rejection ?? rejectionType(attempted.verb);
  await Promise.all([
    keepContents(tx, [{ kind: "preview", text }]),
    appendTrace(tx, run, head, traceActor(caller), at, [{ type, payload, refusalCode: refusal.code }]),
  ]);
}

/** A verdict that is turned down, a claim or report that is, anything else that is. Source: protocol §9. */
function rejectionType(verb: Act): TraceType {
  switch (verb) {
    case "decide":
    case "answer_pause":
      return "proposal_rejected";
    case "begin":
    case "renew":
    case "complete":
    case "execute_claimed":
    case "answer_own_wait":
      return "resume_rejected";
    default:
      return "transition_rejected";
  }
}

/** A schema is the agent's own text, so the chain does not hold it. */
function withoutText({ schema: _schema, ...facts }: RefusalFacts): JsonObject {
  return facts;
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}
