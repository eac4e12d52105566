"use client";

import { Check } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { Key } from "@/components/console/key";
import { useShortcuts } from "@/components/console/keyboard";
import { Button } from "@/components/ui/button";
import type { TicketPage } from "@/lib/protocol/console-view";
import { Consequence } from "./consequence";
import { DecideButton } from "./decide-button";
import type { AllowGate } from "./decision-bar";
import { payloadKind } from "./payload-section";
import type { Decision } from "./use-decision";
import { READING_MS } from "./use-view-settled";

interface ArmedProps {
  readonly page: TicketPage;
  readonly decision: Decision;
  readonly gate: AllowGate;
  readonly viewKey: string;
  readonly sinceMs: number;
  readonly reason: string;
  /** What goes with the Allow, as JSON text; null where it goes alone. */
  readonly answer: string | null;
}

/** High risk: Allow was pressed once and nothing is decided. Focus goes to the consequence, not to Confirm Allow. */
export function Armed({ page, decision, gate, viewKey, sinceMs, reason, answer }: ArmedProps) {
  const group = useRef<HTMLFieldSetElement>(null);
  // The bar is on screen already: the page must not jump under the reader.
  useEffect(() => group.current?.focus({ preventScroll: true }), []);
  useShortcuts({ Escape: decision.disarm });
  const confirm = () => {
    // Confirm stands where Allow stood: the second half of a double click must not find it.
    if (performance.now() - sinceMs < READING_MS || gate.closedBecause !== null) return;
    decision.send("allow", reason, payloadKind(page) === null ? null : answer);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.target !== group.current) return;
    event.preventDefault();
    if (!event.repeat) confirm();
  };
  return (
    <fieldset ref={group} tabIndex={-1} className="armed outline-none" aria-label="Confirm Allow" onKeyDown={press}>
      <p>
        <Consequence page={page} answer={answer} />
      </p>
      <div className="decision-row">
        <Button size="decide" onClick={decision.disarm} aria-keyshortcuts="Escape">
          Back<Key>Esc</Key>
        </Button>
        <DecideButton
          icon={Check}
          label="Confirm Allow"
          keyCap="⏎"
          primary
          off={gate.closedBecause}
          viewKey={viewKey}
          onDecide={confirm}
        />
      </div>
    </fieldset>
  );
}
