import type { AwaitReason } from "./await-target";
import type { BatchMode, CallOutcome, CallStatus, Coupling, IdempotencyClass } from "./call";
import type { EffectLine, ThreadMessage } from "./console-view";
import type { JobStatus } from "./mailbox-job";
import type { Surface } from "./principal";
import type { Executor, RunCause, RunState } from "./run";

/** An open ticket, as the verdict on its run needs it. */
export interface OpenTicketFacts {
  readonly ticket_id: string;
  readonly reason: AwaitReason;
  readonly action: string;
  readonly effect: EffectLine;
  readonly opened_ms: number;
  readonly deadline_ms: number | null;
  readonly expired_ms: number | null;
}

/** A call that is not over, or that reported after its run had ended. */
export interface LiveCallFacts {
  readonly call_ref: string;
  readonly action: string;
  readonly effect: EffectLine;
  readonly status: CallStatus;
  readonly attempt: number;
  readonly unreported: boolean;
  readonly claimed_by: string | null;
  readonly lease_until_ms: number | null;
  readonly effective_class: IdempotencyClass;
  readonly allowed: { readonly by: string; readonly at_ms: number } | null;
  readonly allow_valid_until_ms: number | null;
  readonly ticket_id: string | null;
}

export interface JobFacts {
  readonly status: JobStatus;
  readonly attempt_count: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly claimed_by: string | null;
  readonly lease_until_ms: number | null;
  readonly available_ms: number;
  readonly updated_ms: number;
}

/** How a ticket of the run was settled. */
export interface DecidedFacts {
  readonly verdict: string;
  readonly by: string;
  readonly at_ms: number;
}

/** Everything that the one sentence on a run is made of. */
export interface RunFacts {
  readonly run_id: string;
  readonly agent: string;
  readonly executor: Executor;
  readonly state: RunState;
  readonly cause: RunCause | null;
  readonly cause_code: string | null;
  readonly ended_by: string | null;
  readonly ended_ms: number | null;
  readonly created_ms: number;
  readonly last_seen_ms: number | null;
  readonly stalled_reason: string | null;
  readonly resume_failed: string | null;
  /** Not all of them where there are many; `open_in_all` counts them. */
  readonly open_tickets: readonly OpenTicketFacts[];
  readonly open_in_all: number;
  readonly live_calls: readonly LiveCallFacts[];
  /** Effects that were reported after the run had ended. */
  readonly late_effects: number;
  /** The newest decision of the run. */
  readonly decided: DecidedFacts | null;
  /** The newest job of the run. */
  readonly job: JobFacts | null;
  /** When any worker process last polled. */
  readonly worker_seen_ms: number | null;
}

export interface RunRow {
  readonly facts: RunFacts;
  readonly is_demo: boolean;
  readonly steps: number;
}

export interface RunsPage {
  readonly rows: readonly RunRow[];
  readonly next_cursor: string | null;
  readonly agents: readonly string[];
  readonly runs_in_all: number;
  /** A text was looked for only in runs that were opened from then on; null: in all of them, or as far as the page is full. */
  readonly searched_to_ms: number | null;
  readonly now_ms: number;
}

export interface BatchCall {
  readonly call_ref: string;
  readonly batch_index: number;
  readonly action: string;
  readonly effect: EffectLine;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly outcome_cause: string | null;
  readonly decision: { readonly verdict: string; readonly by: string; readonly at_ms: number } | null;
  readonly authorised_by: string | null;
  readonly rule_id: string | null;
  readonly attempt: number;
  readonly claimed_by: string | null;
  readonly lease_until_ms: number | null;
  readonly unreported: boolean;
  readonly proposal_hash: string;
  readonly ticket_id: string | null;
  readonly settled_by: string | null;
}

export interface BatchView {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
  readonly calls: readonly BatchCall[];
}

/** A run that this one delegated, and the call whose result it is. */
export interface ChildView {
  readonly call_ref: string;
  readonly facts: RunFacts;
}

export interface RunPage {
  readonly now_ms: number;
  readonly workspace_id: string;
  readonly run_id: string;
  readonly facts: RunFacts;
  readonly is_demo: boolean;
  readonly thread_id: string;
  readonly snapshot_id: string;
  /** The call that this run works for; null when nobody delegated it. */
  readonly works_for: { readonly run_id: string; readonly agent: string; readonly call_ref: string } | null;
  /** Newest first. */
  /** Those that live first, then the newest; as many as the page shows. */
  readonly children: readonly ChildView[];
  readonly children_in_all: number;
  readonly rejected_signals: number;
  readonly refusals: number;
  readonly events: number;
  /** Newest step first. */
  readonly batches: readonly BatchView[];
  readonly older_batches: number;
  readonly messages: readonly ThreadMessage[];
  readonly may: { readonly operate: boolean; readonly bundle: boolean };
}

export interface TraceRow {
  readonly seq: number;
  readonly hash: string;
  /** The canonical text that was hashed: every other column is read from it. */
  readonly event_text: string;
}

export interface TracePage {
  readonly rows: readonly TraceRow[];
  /** Further events were committed already. */
  readonly more: boolean;
  readonly now_ms: number;
}

export interface RefusalRow {
  readonly id: string;
  readonly code: string;
  readonly verb: string;
  readonly late_verdict: string | null;
  readonly actor: string;
  readonly surface: Surface;
  readonly run_id: string | null;
  readonly named_run: string | null;
  readonly named_ticket: string | null;
  readonly seq: number | null;
  readonly supplied_hash: string | null;
  readonly current_hash: string | null;
  readonly stored_hash: string | null;
  readonly approval_hash: string | null;
  /** From the table of refusals: what would have passed. */
  readonly advice: string;
  readonly at_ms: number;
}

export interface RefusalsPage {
  readonly rows: readonly RefusalRow[];
  readonly next_cursor: string | null;
  /** Of the last 24 hours, by code, largest first. */
  readonly by_code: readonly { readonly code: string; readonly count: number }[];
  readonly by_verb: readonly { readonly verb: string; readonly count: number }[];
  readonly actors: readonly string[];
  readonly now_ms: number;
}

export interface SettleRequest {
  readonly run_id: string;
  readonly call_ref: string;
  readonly verdict: "happened" | "did_not_happen";
  readonly evidence: string;
  readonly output: string | null;
}
