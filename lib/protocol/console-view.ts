import type { AwaitReason } from "./await-target";
import type { BatchMode, CallOutcome, CallStatus, Coupling, OnExpiry, ResumeMode, Risk } from "./call";
import type { Role } from "./principal";

/**
 * What the console's screens are given, as JSON. Pure types: no clock, no SQL, no markup.
 * Times end in `_ms` and count by the database's clock; `now_ms` is that clock when the answer was read.
 */

/** How a person answers a ticket; `elsewhere` where none does: its own agent, another run or the system will. */
export type AnswerKind = "permission" | "question" | "pause" | "elsewhere";

/** What a call would touch, short enough for a row. `keep` is where the effect goes: it is never cut. */
export interface EffectLine {
  readonly lead: string;
  readonly keep: string;
}

/** The single most unusual thing about a ticket. */
export type TicketFlag =
  | { readonly kind: "hidden"; readonly count: number }
  | { readonly kind: "denied_before"; readonly times: number }
  | { readonly kind: "quorum"; readonly allowed: number; readonly needed: number }
  | { readonly kind: "first_ever" };

export interface Facts {
  readonly [name: string]: string | number | boolean | null;
}

/** A refusal as a screen tells it: the code, its row of the table, and the facts it carries. */
export interface ShownRefusal {
  readonly code: string;
  readonly title: string;
  readonly advice: string;
  readonly facts: Facts;
}

export type Verdict = "allow" | "deny" | "answer" | "continue";

export interface ClosedBy {
  readonly kind: "decision" | "replaced" | "cancelled" | "expiry" | "run_ended" | "withdrawn";
  readonly actor: string | null;
  readonly verdict: Verdict | null;
  readonly at_ms: number;
  readonly reason: string | null;
  /** The closing actor is the reader. */
  readonly by_reader: boolean;
  readonly successor_ticket_id: string | null;
}

export interface VoteLine {
  readonly person: string;
  readonly verdict: Verdict;
  readonly at_ms: number;
  readonly by_reader: boolean;
}

export interface EarlierDecision {
  readonly ticket_id: string;
  readonly verdict: Verdict;
  readonly actor: string;
  readonly at_ms: number;
  readonly by_reader: boolean;
  readonly reason: string | null;
  readonly effect: EffectLine;
}

export interface CallLine {
  readonly call_ref: string;
  readonly action: string;
  readonly effect: EffectLine;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly at_ms: number;
  readonly result_preview: string | null;
}

export interface MessageLine {
  readonly seq: number;
  readonly role: string;
  readonly text: string;
  readonly bytes: number;
  readonly at_ms: number;
}

/** A call that a model named on a thread, with the first part of its arguments. */
export interface SaidCallLine {
  readonly name: string;
  readonly arguments: string;
  readonly bytes: number;
  /** Null: it was turned down and became no call. */
  readonly call_ref: string | null;
}

/** A message as a thread shows it. */
export interface ThreadMessage extends MessageLine {
  /** In place of the text, where the message holds a turn's calls. */
  readonly calls: readonly SaidCallLine[] | null;
}

export interface SiblingLine {
  readonly call_ref: string;
  readonly action: string;
  readonly effect: EffectLine;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly ticket_id: string | null;
}

/** The last decided ticket of the same agent and action, and what this proposal holds that none before it did. */
export interface Comparison {
  readonly ticket_id: string;
  readonly verdict: Verdict;
  readonly at_ms: number;
  readonly proposal_text: string;
  /** Calls of this agent and action that were read for `novel`. */
  readonly calls_read: number;
  readonly since_ms: number;
  /** JSON paths whose value no earlier call had, or whose number is over all earlier ones. */
  readonly novel: readonly { readonly path: string; readonly kind: "first_ever" | "largest_so_far" }[];
}

export interface TicketPage {
  readonly now_ms: number;
  readonly ticket_id: string;
  readonly request_id: string;
  readonly revision: number;
  readonly kind: AnswerKind;
  readonly reason: AwaitReason;
  readonly status: "open" | "answered" | "expired" | "superseded" | "cancelled";
  readonly run_id: string;
  readonly run_state: "running" | "awaiting" | "ended";
  readonly is_demo: boolean;
  readonly call: {
    readonly call_ref: string;
    readonly step: number;
    readonly index: number;
    readonly of: number;
    readonly mode: BatchMode;
    readonly coupling: Coupling;
    readonly siblings: readonly SiblingLine[];
    readonly status: CallStatus;
    readonly outcome: CallOutcome | null;
    /** Whether a second run could be told from the first: what the armed state says about undoing. */
    readonly effective_class: string;
    readonly on_deny: "continue" | "stop_run";
    readonly resume_mode: ResumeMode;
    readonly executor: "worker" | "client" | "cli";
    /** False where a worker is to run it and knows no such tool: allowed, it fails. */
    readonly executable: boolean;
  } | null;
  /** The call of another run whose result this run will be. */
  readonly works_for: { readonly run_id: string; readonly call_ref: string } | null;
  /** Canonical text of the view: what is drawn, hashed and decided on. */
  readonly view_text: string;
  readonly view_token: string;
  readonly proposal_hash: string;
  readonly risk: Risk;
  readonly asked_ms: number;
  readonly deadline_ms: number | null;
  readonly expired_ms: number | null;
  readonly on_expiry: OnExpiry;
  readonly schema_text: string | null;
  readonly options_text: string | null;
  readonly claim: string | null;
  readonly rule: { readonly id: string; readonly version: number | null; readonly words: string } | null;
  readonly agent: {
    readonly name: string;
    readonly last_seen_ms: number | null;
    readonly provider: string | null;
    readonly model: string | null;
    readonly mcp_server: string | null;
    readonly snapshot_id: string;
    readonly catalog_fingerprint: string;
    /** The newest snapshot of this agent has another catalogue. */
    readonly catalog_changed: boolean;
  };
  readonly compared: Comparison | null;
  readonly denied_before: number;
  readonly quorum_needed: number;
  readonly votes: readonly VoteLine[];
  readonly earlier_decisions: readonly EarlierDecision[];
  readonly earlier_calls: readonly CallLine[];
  readonly earlier_calls_count: number;
  readonly last_messages: readonly MessageLine[];
  readonly who_may_decide: readonly { readonly person: string; readonly name: string; readonly role: Role }[];
  /** So many besides, who are not named here. */
  readonly more_may_decide: number;
  readonly late_verdicts: readonly { readonly verdict: string; readonly actor: string; readonly at_ms: number }[];
  readonly closed_by: ClosedBy | null;
  readonly may: {
    readonly decide: boolean;
    /** Why not, when `decide` is false and the ticket is open: a refusal code. */
    readonly decide_refusal: string | null;
    readonly operate: boolean;
  };
}

/** What the browser sends, and all of it: the command is built from the committed ticket. */
export interface DecisionRequest {
  readonly ticket_id: string;
  readonly view_digest: string;
  readonly view_token: string;
  readonly verdict: Verdict;
  readonly reason: string | null;
  /** JSON text for an answer, else null. */
  readonly answer: string | null;
  readonly click_id: string;
}

export type DecisionAnswer =
  | {
      readonly ok: true;
      readonly settled: true;
      readonly verdict: Verdict;
      readonly actor: string;
      readonly at_ms: number;
      readonly trace_seq: number;
      readonly run_id: string;
    }
  | { readonly ok: true; readonly settled: false; readonly votes: number; readonly needed: number }
  | { readonly ok: false; readonly refusal: ShownRefusal };

export interface BulkDecisionRequest {
  readonly items: readonly Omit<DecisionRequest, "verdict" | "reason" | "answer">[];
  readonly verdict: "allow" | "deny";
  readonly reason: string | null;
}

export interface BulkDecisions {
  readonly items: readonly { readonly ticket_id: string; readonly answer: DecisionAnswer }[];
}

/** Refused as a whole only where nobody may knock; each item has its own answer. */
export type BulkDecisionAnswer =
  | ({ readonly ok: true } & BulkDecisions)
  | { readonly ok: false; readonly refusal: ShownRefusal };

/** Cancel call, Cancel run, Replace ticket, Settle: done and told, or refused and told. */
export type OperatorAnswer =
  | { readonly ok: true; readonly successor_ticket_id: string | null }
  | { readonly ok: false; readonly refusal: ShownRefusal };

/** Remove demo: how many runs were ended and archived. */
export type DemoAnswer =
  | { readonly ok: true; readonly archived: number }
  | { readonly ok: false; readonly refusal: ShownRefusal };

/** A stream's frame: what changed, by id. Rows are read again, never sent along. */
export interface ChangeFrame {
  readonly runs: readonly string[];
  readonly now_ms: number;
}

/** Who is looking; on every page, so that no screen asks again. */
export interface Reader {
  readonly person: string;
  readonly role: Role;
  readonly workspace: string;
}

/** What the palette finds by a few letters of an id, an action or an agent. */
export interface PaletteAnswer {
  readonly tickets: readonly { readonly ticket_id: string; readonly action: string; readonly agent: string }[];
  readonly runs: readonly { readonly run_id: string; readonly agent: string }[];
  readonly now_ms: number;
}
