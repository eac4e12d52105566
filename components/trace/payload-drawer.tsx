"use client";

import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useMemo } from "react";
import { CopyButton } from "@/components/console/copy-button";
import { Hash } from "@/components/console/hash";
import { JsonText, Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { TRACE_LOOKS } from "@/components/console/status-table";
import { TraceTime } from "@/components/console/time";
import { Button } from "@/components/ui/button";
import { jsonRows } from "@/lib/protocol/json-lines";
import type { TraceLine } from "@/lib/protocol/trace-line";

interface PayloadDrawerProps {
  readonly line: TraceLine;
  readonly onStep: (by: -1 | 1) => void;
  readonly onClose: () => void;
}

/** One event whole, beside the table; below it on a small screen. */
export function PayloadDrawer({ line, onStep, onClose }: PayloadDrawerProps) {
  const rows = useMemo(() => jsonRows(line.payloadText), [line.payloadText]);
  const look = line.type === null ? null : TRACE_LOOKS[line.type];
  const bytes = new TextEncoder().encode(line.payloadText).length;
  return (
    <aside className="drawer" aria-label={`Event ${line.seq}`}>
      <div className="drawer-inner">
        <div className="flex h-[44px] items-center gap-2 border-b border-border px-4">
          <span className="text-subtle-foreground">{line.seq}</span>
          <h3 className={`status ${look ? TONE_CLASS[look.tone] : ""}`}>
            {look && <look.icon className="icon icon-sm" aria-hidden="true" />}
            <span className="mono font-medium">{line.typeWord}</span>
          </h3>
          <span className="ml-auto" />
          <Button look="quiet" size="icon-sm" aria-label="Previous event" onClick={() => onStep(-1)}>
            <ChevronUp className="icon icon-sm" aria-hidden="true" />
          </Button>
          <Button look="quiet" size="icon-sm" aria-label="Next event" onClick={() => onStep(1)}>
            <ChevronDown className="icon icon-sm" aria-hidden="true" />
          </Button>
          <Button look="quiet" size="icon-sm" aria-label="Close the payload" onClick={onClose}>
            <X className="icon icon-sm" aria-hidden="true" />
          </Button>
        </div>
        <dl className="pairs border-b border-border px-4 py-3.5">
          <dt>Time</dt>
          <dd>
            <TraceTime at={line.at} />
          </dd>
          <dt>Actor</dt>
          <dd>
            <Quoted text={line.actor} />
          </dd>
          <dt>Hash</dt>
          <dd>
            <Hash value={line.hash} /> <CopyButton text={line.hash} label="Copy hash" />
          </dd>
          <dt>Previous</dt>
          <dd>
            <Hash value={line.prevHash} />
          </dd>
        </dl>
        <div className="px-4 pt-3 pb-10">
          <div className="mb-1 flex items-center gap-2">
            <h4 className="text-meta font-medium text-muted-foreground">Payload</h4>
            <span className="text-meta text-subtle-foreground">{bytes.toLocaleString("en-US")} bytes, whole</span>
            <span className="ml-auto" />
            <CopyButton text={line.payloadText} label="Copy payload" />
          </div>
          <JsonText rows={rows} />
        </div>
      </div>
    </aside>
  );
}
