"use client";

import { CirclePause, MessageCircleQuestionMark } from "lucide-react";
import Link from "next/link";
import { Effect } from "@/components/console/effect";
import { RowFlag } from "@/components/console/flag";
import { Quoted } from "@/components/console/pieces";
import { RiskMark } from "@/components/console/risk";
import { Age, Due } from "@/components/console/time";
import { Checkbox } from "@/components/ui/checkbox";
import type { InboxRow } from "@/lib/protocol/console-inbox-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface InboxRowLineProps {
  readonly row: InboxRow;
  readonly gone: boolean;
  readonly active: boolean;
  readonly selected: boolean;
  readonly onSelect: (selected: boolean) => void;
  readonly onFocus: () => void;
}

/** The whole row is one link. What is chosen and what the keyboard stands on are told apart. */
export function InboxRowLine({ row, gone, active, selected, onSelect, onFocus }: InboxRowLineProps) {
  return (
    <div
      role="row"
      className="inbox-row"
      data-active={active || undefined}
      data-settled={gone || undefined}
      data-row={row.ticket_id}
    >
      <div role="cell" className="cell-select">
        <span className="select-cell">
          <Checkbox
            aria-label={drawnAsText(`Select ${row.action} ${row.effect.lead}${row.effect.keep}`.trim())}
            checked={selected}
            disabled={gone || !row.may_decide || row.kind !== "permission"}
            onChange={(event) => onSelect(event.target.checked)}
          />
        </span>
      </div>
      <div role="cell" className="cell-risk">
        <KindMark row={row} />
      </div>
      <div role="cell" className="cell-what">
        <Link className="row-link" href={`/tickets/${row.ticket_id}`} onFocus={onFocus} prefetch={false}>
          <What row={row} />
          {gone ? (
            <span className="flag flag-outline tone-off">No longer open</span>
          ) : (
            row.flag && <RowFlag flag={row.flag} />
          )}
          {row.is_demo && <span className="flag flag-outline tone-off">Demo</span>}
        </Link>
      </div>
      <div role="cell" className="cell-why">
        <span className="flex-none md:hidden">
          <KindMark row={row} />
        </span>
        <span className="cut">
          <Quoted text={row.why_it_asks} />
          <span className="md:hidden">
            {" · "}
            <Quoted text={row.agent} />
          </span>
        </span>
      </div>
      <div role="cell" className="cell-agent">
        <Quoted text={row.agent} />
      </div>
      <div role="cell" className="cell-due">
        <Due deadlineMs={row.deadline_ms} expiredMs={row.expired_ms} />
      </div>
      <div role="cell" className="cell-age">
        <Age sinceMs={row.asked_ms} />
      </div>
    </div>
  );
}

function KindMark({ row }: { readonly row: InboxRow }) {
  if (row.kind === "permission") return <RiskMark risk={row.risk} />;
  const Icon = row.kind === "question" ? MessageCircleQuestionMark : CirclePause;
  return (
    <span className="status text-muted-foreground">
      <Icon className="icon icon-sm" aria-hidden="true" />
      {row.kind === "question" ? "Ask" : "Pause"}
    </span>
  );
}

function What({ row }: { readonly row: InboxRow }) {
  if (row.kind === "permission") {
    return (
      <>
        <span className="action-name cut">
          <Quoted text={row.action} />
        </span>
        <Effect effect={row.effect} />
      </>
    );
  }
  return (
    <>
      <span className="font-medium">{row.kind === "question" ? "Question" : "Paused"}</span>
      <bdi className="target target-words" dir="ltr">
        <span>“{row.effect.lead}”</span>
      </bdi>
    </>
  );
}
