"use client";

import { CircleQuestionMark } from "lucide-react";
import { ShortHash } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { Sentence } from "@/components/console/sentence";
import { TONE_CLASS } from "@/components/console/status";
import { TRACE_LOOKS } from "@/components/console/status-table";
import { TraceTime } from "@/components/console/time";
import { lineSentence, reasonCode, type TraceLine } from "@/lib/protocol/trace-line";
import { RefusalDetail } from "./refusal-detail";

interface TraceRowLineProps {
  readonly line: TraceLine;
  readonly selected: boolean;
  readonly onOpen: () => void;
}

/** One event; the row opens its payload. A refusal leads with its reason and has its hashes below. */
export function TraceRowLine({ line, selected, onOpen }: TraceRowLineProps) {
  const look = line.type === null ? { icon: CircleQuestionMark, tone: "odd" as const } : TRACE_LOOKS[line.type];
  const reason = reasonCode(line);
  return (
    <>
      <div
        role="row"
        className="trace-row"
        data-refused={line.refused || undefined}
        data-selected={selected || undefined}
        data-seq={line.seq}
      >
        <span role="cell">{line.seq}</span>
        <span role="cell" className="cell-time">
          <TraceTime at={line.at} />
        </span>
        <span role="cell" className="cell-event">
          <button
            type="button"
            className={`row-link status ${TONE_CLASS[look.tone]} h-6`}
            aria-label={`Event ${line.seq}, ${line.typeWord}, open payload`}
            aria-expanded={selected}
            onClick={onOpen}
          >
            <look.icon className="icon icon-sm" aria-hidden="true" />
            <span className="mono">{line.typeWord}</span>
          </button>
        </span>
        <span role="cell" className="cell-actor cut text-muted-foreground">
          <Quoted text={line.actor} />
        </span>
        <span role="cell" className="cell-reason cut">
          {reason !== null && <span className="mono mr-2 font-medium text-bad">{reason}</span>}
          <span className={reason === null ? undefined : "text-muted-foreground"}>
            <Sentence parts={lineSentence(line)} />
          </span>
        </span>
        <span role="cell" className="cell-hash text-right">
          <ShortHash value={line.hash} />
        </span>
      </div>
      {line.refused && <RefusalDetail line={line} />}
    </>
  );
}
