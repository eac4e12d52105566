import {
  CircleCheck,
  CirclePause,
  CirclePlay,
  CircleQuestionMark,
  Hourglass,
  type LucideIcon,
  MailX,
  Replace,
  Timer,
  TimerOff,
  Unplug,
} from "lucide-react";
import type { VerdictKind } from "@/lib/protocol/verdict-words";

const ICONS: Partial<Readonly<Record<VerdictKind, LucideIcon>>> = {
  ended: CircleCheck,
  indeterminate: CircleQuestionMark,
  expired: TimerOff,
  awaiting_decision: Hourglass,
  awaiting_answer: Hourglass,
  awaiting_agent: Hourglass,
  paused: CirclePause,
  dead_letter: MailX,
  stalled: Replace,
  lease_lost: Unplug,
  resume_failed: Unplug,
  agent_gone: Unplug,
  no_worker: Unplug,
  no_job: Unplug,
  lapsed: TimerOff,
  unreported: Timer,
  not_picked_up: Timer,
  retrying: Timer,
};

export function verdictIcon(kind: VerdictKind): LucideIcon {
  return ICONS[kind] ?? CirclePlay;
}
