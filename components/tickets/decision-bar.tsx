"use client";

import { Ban, Check, CornerDownLeft, Lock, Play } from "lucide-react";
import { useRef, useState } from "react";
import { Key } from "@/components/console/key";
import { useShortcuts } from "@/components/console/keyboard";
import { useLive } from "@/components/console/live";
import { Quoted } from "@/components/console/pieces";
import { Input } from "@/components/ui/input";
import type { TicketPage } from "@/lib/protocol/console-view";
import { Armed } from "./armed";
import { Consequence } from "./consequence";
import { DecideButton } from "./decide-button";
import { OperatorButtons } from "./operator-buttons";
import { AnsweredOutcome, ClosedOutcome, UnsentOutcome } from "./outcome";
import { payloadKind } from "./payload-section";
import type { Decision } from "./use-decision";

/** Everything that must hold before Allow may be pressed; each has its own sentence. */
export interface AllowGate {
  /** Null when open; else why not, in one sentence. */
  readonly closedBecause: string | null;
  /** Hidden text stands on the page: no single key allows it. */
  readonly hiddenText: boolean;
  readonly settled: boolean;
}

interface DecisionBarProps {
  readonly page: TicketPage;
  readonly decision: Decision;
  readonly gate: AllowGate;
  readonly viewKey: string;
  /** A question's form, or what goes with an Allow, as JSON text; null while it does not satisfy its schema. */
  readonly answer: string | null;
  readonly onInvalidAnswer: () => void;
}

/** The reason outlives arming: what was written before Allow was pressed goes with the confirmed one. */
interface WithReason {
  readonly reason: string;
  readonly onReason: (reason: string) => void;
}

export function DecisionBar(props: DecisionBarProps) {
  const { page, decision } = props;
  const { state } = decision;
  const [reason, setReason] = useState("");
  return (
    <section className="decision-bar" aria-label="Decision">
      <BarContent {...props} reason={reason} onReason={setReason} />
      {state.kind === "sending" && (
        <p className="sr-only" role="status">
          Sent. Nothing is decided until the server says so.
        </p>
      )}
      {page.status !== "open" && page.may.operate && page.call?.status === "approved" && (
        <div className="decision-row justify-end pt-1">
          <OperatorButtons page={page} />
        </div>
      )}
    </section>
  );
}

function BarContent(props: DecisionBarProps & WithReason) {
  const { page, decision } = props;
  const { state } = decision;
  const refusedLate = state.kind === "answered" && !state.answer.ok;
  if (page.closed_by !== null) {
    const sent = state.kind === "answered" ? { verdict: state.verdict, sentMs: state.sentMs, lost: refusedLate } : null;
    return <ClosedOutcome page={page} sent={sent} />;
  }
  if (state.kind === "answered") return <AnsweredOutcome state={state} decision={decision} />;
  if (state.kind === "unsent") return <UnsentOutcome decision={decision} />;
  if (page.expired_ms !== null) return <ExpiredBar page={page} />;
  if (!page.may.decide) return <CannotDecide page={page} />;
  if (state.kind === "armed") return <Armed {...props} sinceMs={state.sinceMs} />;
  if (page.kind === "question") return <AnswerBar {...props} />;
  return page.kind === "pause" ? <ContinueBar {...props} /> : <PermissionBar {...props} />;
}

/** Tab order: Reason, Deny, Allow. Focus rests on neither. */
function PermissionBar(props: DecisionBarProps & WithReason) {
  const { page, decision, gate, viewKey, reason, onReason, answer, onInvalidAnswer } = props;
  const field = useRef<HTMLInputElement>(null);
  const off = useDecisionsOff(gate.settled, decision);
  const allowOff = gate.closedBecause ?? off;
  const withPayload = payloadKind(page) !== null;
  const allow = () => {
    if (withPayload && answer === null) return onInvalidAnswer();
    return page.risk === "high" ? decision.arm() : decision.send("allow", reason, withPayload ? answer : null);
  };
  const deny = () => decision.send("deny", reason, null);
  useShortcuts({
    r: () => field.current?.focus(),
    d: off === null ? deny : undefined,
    a: allowOff === null && !gate.hiddenText ? allow : undefined,
  });
  return (
    <>
      {gate.closedBecause !== null && (
        <p className="decision-note" id="allow-closed">
          <Lock className="icon icon-sm" aria-hidden="true" />
          <span>
            <Quoted text={gate.closedBecause} />
          </span>
        </p>
      )}
      <p className="decision-note">
        <Check className="icon icon-sm" aria-hidden="true" />
        <span className="wrap-anywhere min-w-0">
          Allow: <Consequence page={page} answer={answer} brief />
        </span>
      </p>
      <div className="decision-row">
        <div className="field-with-key">
          <Input
            ref={field}
            aria-label="Reason"
            aria-keyshortcuts="r"
            placeholder="Reason, sent to the agent if you deny"
            value={reason}
            maxLength={4_000}
            onChange={(event) => onReason(event.target.value)}
          />
          <Key>R</Key>
        </div>
        <DecideButton
          icon={Ban}
          iconClass="text-bad"
          label="Deny"
          keyCap="D"
          off={off}
          viewKey={viewKey}
          onDecide={deny}
        />
        <DecideButton
          icon={Check}
          iconClass="text-ok"
          label="Allow"
          keyCap="A"
          off={allowOff}
          {...(gate.closedBecause === null ? {} : { describedBy: "allow-closed" })}
          viewKey={viewKey}
          onDecide={allow}
        />
      </div>
    </>
  );
}

function AnswerBar({ decision, gate, viewKey, answer, onInvalidAnswer }: DecisionBarProps) {
  const off = useDecisionsOff(gate.settled, decision) ?? gate.closedBecause;
  const send = () => (answer === null ? onInvalidAnswer() : decision.send("answer", null, answer));
  return (
    <div className="decision-row">
      <p className="grow text-muted-foreground">The agent gets exactly this form’s values.</p>
      <DecideButton icon={CornerDownLeft} label="Answer" primary off={off} viewKey={viewKey} onDecide={send} />
    </div>
  );
}

function ContinueBar({ decision, gate, viewKey }: DecisionBarProps) {
  const off = useDecisionsOff(gate.settled, decision) ?? gate.closedBecause;
  return (
    <div className="decision-row">
      <p className="grow text-muted-foreground">The run goes on where it was paused.</p>
      <DecideButton
        icon={Play}
        label="Continue"
        primary
        off={off}
        viewKey={viewKey}
        onDecide={() => decision.send("continue", null, null)}
      />
    </div>
  );
}

function ExpiredBar({ page }: { readonly page: TicketPage }) {
  return (
    <div className="decision-row">
      <p className="grow text-muted-foreground">
        {page.may.operate ? "Only an operator’s act moves it now." : "An operator replaces it or cancels it."}
      </p>
      {page.may.operate && <OperatorButtons page={page} />}
    </div>
  );
}

const CANNOT: Readonly<Record<string, string>> = {
  not_permitted: "Your role does not decide. Approvers and owners do.",
  self_approval: "You asked for this yourself, so another person decides.",
};

/** Whom a wait is for that is no person's. */
const ELSEWHERE: Readonly<Partial<Record<TicketPage["reason"], string>>> = {
  delegation: "The run that it was delegated to answers this with its end.",
  client_execution: "Its own agent runs the tool, and answers this with the result.",
  external_event: "Its own agent reports the event.",
};

function CannotDecide({ page }: { readonly page: TicketPage }) {
  return (
    <div className="decision-row">
      <p className="grow text-muted-foreground">
        {page.kind === "elsewhere"
          ? (ELSEWHERE[page.reason] ?? "The system answers this by itself.")
          : (CANNOT[page.may.decide_refusal ?? "not_permitted"] ?? CANNOT.not_permitted)}
        {page.may.decide_refusal === "self_approval" && page.who_may_decide.length === 0 && (
          <>
            {" "}
            There is none yet: <code>npm run -s holdpoint -- people add EMAIL --role approver</code>
          </>
        )}
      </p>
      {page.may.operate && <OperatorButtons page={page} />}
    </div>
  );
}

/** Why no decision may leave this page now, if so. The first moments of a view are silent: nobody can read a sentence in 400 ms. */
function useDecisionsOff(settled: boolean, decision: Decision): string | null {
  const live = useLive();
  if (decision.state.kind === "sending") return "It was sent and is not answered yet.";
  if (live.kind !== "live") return "This page is not live, so decisions are off.";
  return settled ? null : "The ticket has just appeared.";
}
