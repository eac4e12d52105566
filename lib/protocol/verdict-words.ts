import type { JobFacts, LiveCallFacts, RunFacts } from "./console-run-view";
import type { EffectLine } from "./console-view";
import { quoted, type Sentence, say, time } from "./sentence";

export type Tone = "wait" | "ok" | "bad" | "live" | "odd" | "off";

export const VERDICT_KINDS = [
  "ended",
  "indeterminate",
  "expired",
  "awaiting_decision",
  "awaiting_answer",
  "paused",
  "awaiting_agent",
  "resume_failed",
  "dead_letter",
  "stalled",
  "executing",
  "lease_lost",
  "unreported",
  "lapsed",
  "no_worker",
  "retrying",
  "queued",
  "approved",
  "not_picked_up",
  "agent_gone",
  "running",
] as const;
export type VerdictKind = (typeof VERDICT_KINDS)[number];

export type StepAction =
  | { readonly kind: "open_ticket"; readonly ticket_id: string }
  | { readonly kind: "replace"; readonly ticket_id: string }
  | { readonly kind: "settle"; readonly call_ref: string }
  | { readonly kind: "cancel_run" }
  | { readonly kind: "read_trace" };

/** Why a run is not moving: one sentence, with the one safe next action. Source: console "/runs/[id]". */
export interface RunVerdict {
  readonly kind: VerdictKind;
  readonly tone: Tone;
  /** Nothing is wrong, and nothing is asked of anyone. */
  readonly moving: boolean;
  readonly sentence: Sentence;
  readonly step: Sentence | null;
  readonly action: StepAction | null;
  /** The same in a few words, for a row. */
  readonly brief: Sentence;
}

/** When the agent last showed itself, for a client run: a worker run has no agent that calls. */
export function seen(run: RunFacts): Sentence {
  if (run.executor !== "client" || run.last_seen_ms === null) return [];
  return say` Its agent was last seen ${time(run.last_seen_ms)}.`;
}

export function toWhere(effect: EffectLine): Sentence {
  const target = effect.keep.replace(/^\s*(→|·)\s*/, "");
  if (target !== "") return say` to ${quoted(target)}`;
  return effect.lead === "" ? [] : say` ${quoted(effect.lead)}`;
}

export function lastError(job: JobFacts): Sentence {
  return job.last_error === null ? [] : say` The last error was ${quoted(job.last_error)}.`;
}

/** The decision, in the words of every verdict on an approved call. */
export function allowed(call: LiveCallFacts): Sentence {
  if (call.allowed === null) return say`${quoted(call.action)} may run by a rule`;
  return say`allowed ${time(call.allowed.at_ms)} by ${quoted(call.allowed.by)}`;
}
