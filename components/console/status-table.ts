import {
  ArrowRightLeft,
  Ban,
  Check,
  CheckCheck,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePlay,
  CircleQuestionMark,
  CircleSlash,
  CircleStop,
  CircleX,
  Clock,
  FileText,
  Fingerprint,
  Flag,
  Gauge,
  GitCompare,
  History,
  Hourglass,
  Loader,
  Lock,
  LogOut,
  type LucideIcon,
  MailX,
  MessageSquare,
  MessageSquareReply,
  OctagonX,
  PackageCheck,
  Play,
  Radio,
  Repeat,
  Replace,
  Save,
  Scale,
  ShieldBan,
  Stamp,
  TimerOff,
  Unplug,
} from "lucide-react";
import type { CallOutcome, CallStatus } from "@/lib/protocol/call";
import type { JobStatus } from "@/lib/protocol/mailbox-job";
import type { RunCause, RunState } from "@/lib/protocol/run";
import type { TraceType } from "@/lib/protocol/trace-event";
import type { Tone } from "@/lib/protocol/verdict-words";

export interface StatusLook {
  readonly icon: LucideIcon;
  readonly word: string;
  readonly tone: Tone;
}

const look = (icon: LucideIcon, word: string, tone: Tone): StatusLook => ({ icon, word, tone });

/** Icon, word and tone of every status, in one table, so that none is told by colour alone and none twice differently. */
export const RUN_LOOKS: Readonly<Record<Exclude<RunState, "ended"> | RunCause, StatusLook>> = {
  running: look(CirclePlay, "Running", "live"),
  awaiting: look(Hourglass, "Awaiting", "wait"),
  completed: look(CircleCheck, "Completed", "ok"),
  cancelled: look(CircleSlash, "Cancelled", "off"),
  stopped: look(CircleStop, "Stopped", "off"),
  failed: look(CircleX, "Failed", "bad"),
  budget_exhausted: look(Gauge, "Budget used up", "bad"),
  indeterminate: look(CircleQuestionMark, "Indeterminate", "odd"),
};

export type TicketLookName =
  | "open"
  | "allowed"
  | "denied"
  | "answered"
  | "continued"
  | "expired"
  | "superseded"
  | "cancelled";

export const TICKET_LOOKS: Readonly<Record<TicketLookName, StatusLook>> = {
  open: look(CircleDot, "Open", "wait"),
  allowed: look(CircleCheck, "Allowed", "ok"),
  denied: look(Ban, "Denied", "bad"),
  answered: look(MessageSquareReply, "Answered", "ok"),
  continued: look(Play, "Continued", "ok"),
  expired: look(TimerOff, "Expired", "wait"),
  superseded: look(Replace, "Superseded", "off"),
  cancelled: look(CircleSlash, "Cancelled", "off"),
};

export const CALL_LOOKS: Readonly<Record<Exclude<CallStatus, "completed"> | CallOutcome, StatusLook>> = {
  requested: look(CircleDashed, "Requested", "off"),
  queued: look(CircleDashed, "Queued", "off"),
  awaiting: look(Hourglass, "Awaiting", "wait"),
  approved: look(Check, "Approved", "ok"),
  executing: look(Loader, "Executing", "live"),
  succeeded: look(CircleCheck, "Succeeded", "ok"),
  failed: look(CircleX, "Failed", "bad"),
  blocked: look(ShieldBan, "Blocked", "bad"),
  cancelled: look(CircleSlash, "Cancelled", "off"),
  indeterminate: look(CircleQuestionMark, "Indeterminate", "odd"),
};

/** `Accepted` says delivered, which is not that the run succeeded: it is never shown as success. Source: protocol §10. */
export const JOB_LOOKS: Readonly<Record<JobStatus, StatusLook>> = {
  Queued: look(Clock, "Queued", "wait"),
  Claimed: look(Lock, "Claimed", "live"),
  Accepted: look(PackageCheck, "Accepted", "off"),
  DeadLetter: look(MailX, "Dead letter", "bad"),
  Cancelled: look(CircleSlash, "Cancelled", "off"),
  Superseded: look(Replace, "Superseded", "off"),
};

/** A worker process that polls, and one that has been silent for too long. */
export const WORKER_LOOKS: Readonly<Record<"polling" | "gone", StatusLook>> = {
  polling: look(Radio, "Polling", "live"),
  gone: look(Unplug, "Gone", "off"),
};

type TraceLook = Omit<StatusLook, "word">;
const event = (icon: LucideIcon, tone: Tone): TraceLook => ({ icon, tone });

/** A trace event's word is its own type, in mono. */
export const TRACE_LOOKS: Readonly<Record<TraceType, TraceLook>> = {
  checkpoint_saved: event(Save, "off"),
  proposal_recorded: event(FileText, "off"),
  policy_evaluated: event(Scale, "off"),
  signal_received: event(Radio, "off"),
  runtime_validated: event(CheckCheck, "off"),
  state_transition: event(ArrowRightLeft, "off"),
  pending_recorded: event(Hourglass, "wait"),
  run_exited: event(LogOut, "off"),
  proposal_verified: event(Fingerprint, "ok"),
  approval_recorded: event(Stamp, "ok"),
  resume_started: event(Play, "live"),
  action_executed: event(CircleCheck, "ok"),
  action_recovered: event(History, "ok"),
  action_replayed: event(Repeat, "off"),
  action_conflict: event(GitCompare, "bad"),
  action_failed: event(CircleX, "bad"),
  action_indeterminate: event(CircleQuestionMark, "odd"),
  input_received: event(MessageSquareReply, "ok"),
  message_appended: event(MessageSquare, "off"),
  ticket_expired: event(TimerOff, "wait"),
  ticket_superseded: event(Replace, "off"),
  ticket_cancelled: event(CircleSlash, "off"),
  run_ended: event(Flag, "off"),
  proposal_rejected: event(OctagonX, "bad"),
  resume_rejected: event(OctagonX, "bad"),
  transition_rejected: event(OctagonX, "bad"),
  signal_rejected: event(OctagonX, "bad"),
};

export function runLook(state: RunState, cause: RunCause | null): StatusLook {
  return RUN_LOOKS[state === "ended" ? (cause ?? "failed") : state];
}

export function callLook(status: CallStatus, outcome: CallOutcome | null): StatusLook {
  return CALL_LOOKS[status === "completed" ? (outcome ?? "failed") : status];
}
