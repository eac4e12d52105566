"use client";

import { Sentence } from "@/components/console/sentence";
import { TONE_CLASS } from "@/components/console/status";
import { runLook } from "@/components/console/status-table";
import type { RunFacts } from "@/lib/protocol/console-run-view";
import type { RunVerdict } from "@/lib/protocol/verdict-words";
import { verdictIcon } from "./verdict-icon";

/** Why a run is where it is, on one line of a list. */
export function RunBrief({ facts, verdict }: { readonly facts: RunFacts; readonly verdict: RunVerdict }) {
  const Icon = verdict.kind === "ended" ? runLook(facts.state, facts.cause).icon : verdictIcon(verdict.kind);
  return (
    <span className={`status ${TONE_CLASS[verdict.tone]} max-w-full text-muted-foreground`}>
      <Icon className="icon icon-sm" aria-hidden="true" />
      <span className="cut">
        <Sentence parts={verdict.brief} />
      </span>
    </span>
  );
}
