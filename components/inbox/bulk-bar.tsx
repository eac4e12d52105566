"use client";

import { Ban, Check, CircleCheck, CircleMinus, Loader, OctagonX, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import { Effect } from "@/components/console/effect";
import { useLive } from "@/components/console/live";
import { Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { DecideButton } from "@/components/tickets/decide-button";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import type { InboxRow } from "@/lib/protocol/console-inbox-view";
import type { DecisionAnswer } from "@/lib/protocol/console-view";
import { type Bulk, type BulkItem, useBulk, useBulkItems } from "./use-bulk";

interface BulkBarProps {
  readonly rows: readonly InboxRow[];
  readonly onRemove: (ticketId: string) => void;
  readonly onClear: () => void;
}

/** Every ticket that it will touch stands in it, by id and effect, each verified, each removable: never "selected items". */
export function BulkBar({ rows, onRemove, onClear }: BulkBarProps) {
  const items = useBulkItems(rows.map((row) => row.ticket_id));
  const bulk = useBulk(items);
  const [reason, setReason] = useState("");
  const action = rows[0]?.action ?? "";
  const mixed = rows.some((row) => row.action !== action);
  const ready = items.filter((item) => item.verified !== null && item.keptOut === null);
  const off = useBulkOff(bulk, items, mixed, ready.length);
  const viewKey = ready.map((item) => item.verified?.viewDigest).join(" ");
  return (
    <section className="bulk-bar" aria-label="Decide several">
      <div className="bulk-title">
        <h2 className="flex min-w-0 items-center gap-2 font-semibold">
          <span className="whitespace-nowrap">
            {rows.length} {rows.length === 1 ? "ticket" : "tickets"} of
          </span>
          {mixed ? (
            "several actions"
          ) : (
            <span className="action-name cut">
              <Quoted text={action} />
            </span>
          )}
        </h2>
        <span className="ml-auto" />
        <Button look="quiet" size="icon-sm" aria-label="Clear the selection" onClick={onClear}>
          <X className="icon icon-sm" aria-hidden="true" />
        </Button>
      </div>
      <ul className="bulk-list">
        {rows.map((row, index) => (
          <BulkLine
            key={row.ticket_id}
            row={row}
            item={items[index]}
            answer={bulk.answerOf(row.ticket_id)}
            onRemove={() => onRemove(row.ticket_id)}
          />
        ))}
      </ul>
      {bulk.state.kind === "answered" ? (
        <BulkOutcome bulk={bulk} onClear={onClear} />
      ) : (
        <div className="bulk-do">
          <div className="field-with-key">
            <Input
              className="h-8"
              aria-label="Reason"
              placeholder={`Reason, kept with all ${rows.length}`}
              maxLength={4_000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </div>
          <DecideButton
            icon={Ban}
            iconClass="text-bad"
            label={`Deny ${ready.length}`}
            off={off}
            describedBy="bulk-off"
            viewKey={viewKey}
            onDecide={() => bulk.send("deny", reason)}
          />
          <DecideButton
            icon={Check}
            iconClass="text-ok"
            label={`Allow ${ready.length}`}
            off={off}
            describedBy="bulk-off"
            viewKey={viewKey}
            onDecide={() => bulk.send("allow", reason)}
          />
        </div>
      )}
      <BulkNote bulk={bulk} off={off} />
    </section>
  );
}

/** Why the buttons are off, in one sentence; the first half second is silent. */
function useBulkOff(bulk: Bulk, items: readonly BulkItem[], mixed: boolean, ready: number): string | null {
  const live = useLive();
  if (live.kind !== "live") return "This page is not live, so decisions are off.";
  if (bulk.state.kind === "sending") return "Sent, and not answered yet.";
  if (mixed) return "Tickets of several actions are decided one by one. Remove all but one action.";
  if (items.some((item) => item.page === null && item.keptOut === null)) return "The tickets are being read.";
  if (ready === 0) return "None of these can be decided from the list.";
  return bulk.settled ? null : "The list has just changed.";
}

function BulkNote({ bulk, off }: { readonly bulk: Bulk; readonly off: string | null }) {
  if (bulk.state.kind === "failed") {
    return (
      <p className="px-3.5 pb-3 text-meta text-bad" role="alert">
        No answer came back. They may or may not have been decided; pressing again sends the same clicks, which count
        once.
      </p>
    );
  }
  const silent = off === null || off.startsWith("The list") || off.startsWith("The tickets") || off.startsWith("Sent");
  return (
    <p id="bulk-off" className={silent ? "sr-only" : "px-3.5 pb-3 text-meta text-muted-foreground"}>
      {off}
    </p>
  );
}

interface BulkLineProps {
  readonly row: InboxRow;
  readonly item: BulkItem | undefined;
  readonly answer: DecisionAnswer | null;
  readonly onRemove: () => void;
}

function BulkLine({ row, item, answer, onRemove }: BulkLineProps) {
  return (
    <li>
      <span className="mono cut text-foreground" title={row.ticket_id}>
        {row.ticket_id.slice(0, 8)}…{row.ticket_id.slice(-4)}
      </span>
      <span className="cut min-w-0">
        <Effect effect={row.effect} />
      </span>
      <BulkMark item={item} answer={answer} />
      {answer === null ? (
        <Button look="quiet" size="icon-sm" aria-label={`Remove ${row.ticket_id}`} onClick={onRemove}>
          <CircleMinus className="icon icon-sm" aria-hidden="true" />
        </Button>
      ) : (
        <span />
      )}
    </li>
  );
}

function BulkMark({ item, answer }: { readonly item: BulkItem | undefined; readonly answer: DecisionAnswer | null }) {
  if (answer?.ok)
    return (
      <Mark
        icon={CircleCheck}
        tone={TONE_CLASS.ok}
        word={answer.settled ? (answer.verdict === "deny" ? "denied" : "allowed") : "recorded"}
      />
    );
  if (answer !== null) return <Mark icon={OctagonX} tone={TONE_CLASS.bad} word={answer.refusal.title} />;
  if (item?.keptOut) return <Mark icon={TriangleAlert} tone={TONE_CLASS.wait} word={item.keptOut} />;
  if (item?.verified) return <Mark icon={CircleCheck} tone={TONE_CLASS.ok} word="verified" />;
  return <Mark icon={Loader} tone={TONE_CLASS.off} word="reading" />;
}

function Mark({
  icon: Icon,
  tone,
  word,
}: {
  readonly icon: typeof CircleCheck;
  readonly tone: string;
  readonly word: string;
}) {
  return (
    <span className={`status text-meta text-muted-foreground ${tone}`}>
      <Icon className="icon icon-sm" aria-hidden="true" />
      {word}
    </span>
  );
}

function BulkOutcome({ bulk, onClear }: { readonly bulk: Bulk; readonly onClear: () => void }) {
  if (bulk.state.kind !== "answered") return null;
  const { items } = bulk.state.answer;
  const done = items.filter((item) => item.answer.ok).length;
  const word = bulk.state.verdict === "allow" ? "allowed" : "denied";
  return (
    <div className="bulk-do" role="status">
      <p className="flex-1">
        <b className="font-semibold">
          {done} {word}
        </b>
        {done < items.length && (
          <span className="text-muted-foreground">, {items.length - done} refused; nothing of those changed.</span>
        )}
      </p>
      <Button size="decide" onClick={onClear}>
        Done
      </Button>
    </div>
  );
}
