import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";
import { Asterisk, Ban, PencilLine, ScanEye, Users } from "lucide-react";
import type { ReactNode } from "react";
import type { TicketFlag } from "@/lib/protocol/console-view";
import type { Tone } from "@/lib/protocol/verdict-words";
import { TONE_CLASS } from "./status";

interface FlagProps {
  readonly icon: LucideIcon;
  readonly tone: Tone;
  readonly outline?: boolean;
  readonly children: ReactNode;
}

export function Flag({ icon: Icon, tone, outline = false, children }: FlagProps) {
  return (
    <span className={clsx("flag", TONE_CLASS[tone], outline && "flag-outline")}>
      <Icon className="icon icon-xs" aria-hidden="true" />
      {children}
    </span>
  );
}

export function FirstEver() {
  return (
    <Flag icon={Asterisk} tone="odd">
      First ever
    </Flag>
  );
}

export function LargestSoFar() {
  return (
    <Flag icon={Asterisk} tone="odd">
      Largest so far
    </Flag>
  );
}

export function Changed() {
  return (
    <Flag icon={PencilLine} tone="wait">
      Changed
    </Flag>
  );
}

/** A row carries one flag: the single most unusual thing about its ticket. Only hidden text is tinted in a list. */
export function RowFlag({ flag }: { readonly flag: TicketFlag }) {
  switch (flag.kind) {
    case "hidden":
      return (
        <Flag icon={ScanEye} tone="wait">
          {flag.count} hidden
        </Flag>
      );
    case "denied_before":
      return (
        <Flag icon={Ban} tone="bad" outline>
          Denied before ×{flag.times}
        </Flag>
      );
    case "quorum":
      return (
        <Flag icon={Users} tone="ok" outline>
          {flag.allowed} of {flag.needed} allowed
        </Flag>
      );
    case "first_ever":
      return (
        <Flag icon={Asterisk} tone="odd" outline>
          First ever
        </Flag>
      );
  }
}
