import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { Tone } from "@/lib/protocol/verdict-words";
import type { StatusLook } from "./status-table";

/** Whole class names: what is put together at run time, a stylesheet's scanner cannot see. */
export const TONE_CLASS: Readonly<Record<Tone, string>> = {
  wait: "tone-wait",
  ok: "tone-ok",
  bad: "tone-bad",
  live: "tone-live",
  odd: "tone-odd",
  off: "tone-off",
};

interface StatusProps {
  readonly look: StatusLook;
  /** Instead of the table's word, where a sentence says more. */
  readonly word?: ReactNode;
  readonly dense?: boolean;
  readonly className?: string;
}

/** Icon, word and tone: the icon takes the tone, the word stays ink. */
export function Status({ look, word, dense = false, className }: StatusProps) {
  const Icon = look.icon;
  return (
    <span className={clsx("status", TONE_CLASS[look.tone], className)}>
      <Icon className={clsx("icon", dense && "icon-sm")} aria-hidden="true" />
      <span className="cut">{word ?? look.word}</span>
    </span>
  );
}
