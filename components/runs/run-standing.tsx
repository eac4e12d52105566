"use client";

import type { ReactNode } from "react";
import { Quoted } from "@/components/console/pieces";
import { Sentence } from "@/components/console/sentence";
import { Status, TONE_CLASS } from "@/components/console/status";
import { runLook } from "@/components/console/status-table";
import type { RunFacts } from "@/lib/protocol/console-run-view";
import type { RunVerdict } from "@/lib/protocol/verdict-words";
import { verdictIcon } from "./verdict-icon";

interface RunStandingProps {
  readonly facts: RunFacts;
  readonly verdict: RunVerdict;
  /** Behind the reason. */
  readonly children?: ReactNode;
}

/** The cells of a list that say of a run: whose it is, its state, and why it is there. */
export function RunStanding({ facts, verdict, children }: RunStandingProps) {
  const look = runLook(facts.state, facts.cause);
  const Icon = verdict.kind === "ended" ? look.icon : verdictIcon(verdict.kind);
  return (
    <>
      <td className="edge text-muted-foreground">
        <span className="inline-block max-w-[20ch] overflow-hidden text-ellipsis align-bottom">
          <Quoted text={facts.agent} />
        </span>
      </td>
      <td>
        <Status look={look} dense />
      </td>
      <td className="fill">
        <span className={`status ${TONE_CLASS[verdict.tone]} max-w-full text-muted-foreground`}>
          <Icon className="icon icon-sm" aria-hidden="true" />
          <span className="cut">
            <Sentence parts={verdict.brief} />
          </span>
        </span>
        {children}
      </td>
    </>
  );
}
