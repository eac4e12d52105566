import type { JobFacts, LiveCallFacts, RunFacts } from "./console-run-view";
import type { EffectLine } from "./console-view";
import { readMarked } from "./hidden-characters";
import { bold, quoted, type Sentence, say, time } from "./sentence";

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
  "no_job",
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
  | { readonly kind: "see_mailbox" }
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

/** A verdict before it is told: its facts stand out, what they mean does not. */
export interface Finding extends Omit<RunVerdict, "sentence" | "moving"> {
  readonly lead: "Moving" | "Not moving" | "Waiting to try again";
  readonly core: Sentence;
  readonly more: Sentence;
}

export function told({ lead, core, more, ...rest }: Finding): RunVerdict {
  return { ...rest, moving: lead !== "Not moving", sentence: [...bold(say`${lead}: ${core}.`), ...more] };
}

type Step = Pick<RunVerdict, "step" | "action">;

/** Asking again takes a ticket. A call that a rule approved has none. Source: protocol §8 "Replace". */
export function replaceOrCancel(call: LiveCallFacts | null, replace: Sentence): Step {
  if (call !== null && call.ticket_id !== null)
    return { step: replace, action: { kind: "replace", ticket_id: call.ticket_id } };
  return { step: say`cancel the run; its agent may propose anew in another.`, action: { kind: "cancel_run" } };
}

export function seeMailbox(step: Sentence): Step {
  return { step, action: { kind: "see_mailbox" } };
}

/** When the agent last showed itself, for a client run: a worker run has no agent that calls. */
export function seen(run: RunFacts): Sentence {
  if (run.executor !== "client" || run.last_seen_ms === null) return [];
  return say` Its agent was last seen ${time(run.last_seen_ms)}.`;
}

export function toWhere(effect: EffectLine): Sentence {
  // An effect's line is drawn already; a quotation is drawn when it is told.
  const target = readMarked(effect.keep.replace(/^\s*(→|·)\s*/, ""));
  if (target !== "") return say` to ${quoted(target)}`;
  return effect.lead === "" ? [] : say` ${quoted(readMarked(effect.lead))}`;
}

/** Of a job that somebody ended, the same place says who and why. */
export function lastError({ status, last_error }: JobFacts): Sentence {
  if (last_error === null) return [];
  const byHand = status === "Cancelled" || status === "Superseded";
  return say` ${byHand ? "It says:" : "The last error was"} ${quoted(last_error)}.`;
}

/** The decision, in the words of every verdict on an approved call. */
export function allowed(call: LiveCallFacts): Sentence {
  if (call.allowed === null) return say`${quoted(call.action)} may run by a rule`;
  return say`allowed ${time(call.allowed.at_ms)} by ${quoted(call.allowed.by)}`;
}
