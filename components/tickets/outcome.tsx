"use client";

import {
  Ban,
  CircleCheck,
  CircleSlash,
  GitCompare,
  MessageSquareReply,
  OctagonX,
  Play,
  Replace,
  TimerOff,
  Users,
} from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Advice } from "@/components/console/advice";
import { Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { Moment } from "@/components/console/time";
import { Button } from "@/components/ui/button";
import type { ClosedBy, ShownRefusal, TicketPage, Verdict } from "@/lib/protocol/console-view";
import type { Tone } from "@/lib/protocol/verdict-words";
import type { Decision, DecisionState } from "./use-decision";

const DONE: Readonly<
  Record<
    Verdict,
    {
      readonly word: string;
      readonly lower: string;
      readonly icon: typeof Ban;
      readonly tone: Tone;
      readonly noun: string;
    }
  >
> = {
  allow: { word: "Allowed", lower: "allowed", icon: CircleCheck, tone: "ok", noun: "Allow" },
  deny: { word: "Denied", lower: "denied", icon: Ban, tone: "bad", noun: "Deny" },
  answer: { word: "Answered", lower: "answered", icon: MessageSquareReply, tone: "ok", noun: "Answer" },
  continue: { word: "Continued", lower: "continued", icon: Play, tone: "ok", noun: "Continue" },
};

interface LineProps {
  readonly icon: typeof Ban;
  readonly tone: Tone;
  readonly children: ReactNode;
}

/** What stands in place of the buttons once there is an outcome. */
function OutcomeLine({ icon: Icon, tone, children }: LineProps) {
  return (
    <div className={`decision-outcome ${TONE_CLASS[tone]}`} role="status">
      <Icon className="icon" aria-hidden="true" />
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

/** How the ticket was closed, from committed facts only. */
export function ClosedOutcome({ page, sent }: { readonly page: TicketPage; readonly sent: Sent | null }) {
  const closed = page.closed_by;
  if (closed === null) return null;
  if (closed.kind === "decision" && closed.verdict !== null)
    return <DecidedOutcome page={page} closed={closed} verdict={closed.verdict} sent={sent} />;
  const { icon, tone, words, after } = CLOSINGS[closed.kind === "decision" ? "cancelled" : closed.kind];
  return (
    <OutcomeLine icon={icon} tone={tone}>
      <p>
        <b className="font-semibold">
          {words} <Moment atMs={closed.at_ms} />
          {closed.actor !== null && (
            <>
              {" "}
              by <Quoted text={closed.actor} />
            </>
          )}
          .
        </b>{" "}
        <span className="text-muted-foreground">
          {closed.reason !== null && (
            <>
              “<Quoted text={closed.reason} />”{" "}
            </>
          )}
          {after}
        </span>{" "}
        {closed.successor_ticket_id !== null && (
          <Link className="text-link font-medium" href={`/tickets/${closed.successor_ticket_id}`}>
            Open its successor
          </Link>
        )}
      </p>
    </OutcomeLine>
  );
}

const NOTHING = "Nothing of this ticket can run any more.";

const CLOSINGS: Readonly<
  Record<
    Exclude<ClosedBy["kind"], "decision">,
    { readonly icon: typeof Ban; readonly tone: Tone; readonly words: string; readonly after: string }
  >
> = {
  replaced: { icon: Replace, tone: "off", words: "Replaced", after: NOTHING },
  cancelled: {
    icon: CircleSlash,
    tone: "off",
    words: "Cancelled",
    after: "The model is told “cancelled”, and its run goes on.",
  },
  expiry: { icon: TimerOff, tone: "wait", words: "Closed by its deadline", after: NOTHING },
  run_ended: { icon: CircleSlash, tone: "off", words: "Closed with its run", after: NOTHING },
  withdrawn: { icon: CircleSlash, tone: "off", words: "Withdrawn", after: NOTHING },
};

export interface Sent {
  readonly verdict: Verdict;
  readonly sentMs: number;
  /** The server said that another had been first. */
  readonly lost: boolean;
}

interface DecidedProps {
  readonly page: TicketPage;
  readonly closed: ClosedBy;
  readonly verdict: Verdict;
  readonly sent: Sent | null;
}

function DecidedOutcome({ page, closed, verdict, sent }: DecidedProps) {
  const done = DONE[verdict];
  if (sent?.lost && !closed.by_reader) {
    return (
      <OutcomeLine icon={done.icon} tone={done.tone}>
        <p>
          <b className="font-semibold">
            <Quoted text={closed.actor ?? "Someone"} /> {done.lower} this at <Moment atMs={closed.at_ms} />
            {sent.sentMs > closed.at_ms && <>, {secondsBetween(closed.at_ms, sent.sentMs)} before you</>}.
          </b>{" "}
          <span className="text-muted-foreground">
            {closed.reason !== null && (
              <>
                “<Quoted text={closed.reason} />”{" "}
              </>
            )}
            Your {DONE[sent.verdict].noun} changed nothing and is kept as a refusal.
          </span>
        </p>
      </OutcomeLine>
    );
  }
  return (
    <OutcomeLine icon={done.icon} tone={done.tone}>
      <p>
        <b className="font-semibold">
          {done.word} <Moment atMs={closed.at_ms} /> by{" "}
          {closed.by_reader ? "you" : <Quoted text={closed.actor ?? "someone"} />}.
        </b>{" "}
        <span className="text-muted-foreground">
          {closed.reason !== null && (
            <>
              “<Quoted text={closed.reason} />”{" "}
            </>
          )}
          {afterwards(page, verdict)}
        </span>{" "}
        <Link className="text-link" href={`/runs/${encodeURIComponent(page.run_id)}`}>
          Open the run
        </Link>
      </p>
    </OutcomeLine>
  );
}

function secondsBetween(fromMs: number, toMs: number): string {
  const seconds = (toMs - fromMs) / 1_000;
  return seconds < 10 ? `${Math.max(0.1, seconds).toFixed(1)} s` : `${Math.round(seconds)} s`;
}

function afterwards(page: TicketPage, verdict: Verdict): string {
  const call = page.call;
  if (verdict === "deny")
    return call?.on_deny === "stop_run"
      ? "The run is stopped."
      : "The agent is told, with the reason; its run goes on.";
  if (verdict !== "allow" || call === null) return "The run goes on.";
  if (call.status === "approved") return "Not picked up yet. It will run once, on the proposal you read.";
  if (call.status === "executing") return "It is being executed.";
  if (call.status === "indeterminate") return "It is indeterminate: no result came back.";
  if (call.outcome === "succeeded") return "It ran, once.";
  return call.outcome === null ? "" : `Its call is ${call.outcome}.`;
}

interface AnsweredProps {
  readonly state: Extract<DecisionState, { kind: "answered" }>;
  readonly decision: Decision;
}

/** The server's own answer, until the page is read again; a refusal says what did not change. */
export function AnsweredOutcome({ state, decision }: AnsweredProps) {
  const { answer } = state;
  if (!answer.ok) return <RefusedOutcome refusal={answer.refusal} decision={decision} />;
  if (!answer.settled) {
    return (
      <OutcomeLine icon={Users} tone="ok">
        <p>
          <b className="font-semibold">Your Allow is recorded.</b>{" "}
          <span className="text-muted-foreground">
            {answer.votes} of {answer.needed} allowed; another person decides too. Any Deny ends it.
          </span>
        </p>
      </OutcomeLine>
    );
  }
  const done = DONE[answer.verdict];
  return (
    <OutcomeLine icon={done.icon} tone={done.tone}>
      <p>
        <b className="font-semibold">
          {done.word} <Moment atMs={answer.at_ms} /> by you.
        </b>{" "}
        <span className="text-muted-foreground">
          Event {answer.trace_seq} of <Quoted text={answer.run_id} />.
        </span>
      </p>
    </OutcomeLine>
  );
}

function RefusedOutcome({ refusal, decision }: { readonly refusal: ShownRefusal; readonly decision: Decision }) {
  return (
    <OutcomeLine
      icon={refusal.code === "stale_view" ? GitCompare : OctagonX}
      tone={refusal.code === "stale_view" ? "wait" : "bad"}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1">
          <b className="font-semibold">{refusal.title}. Nothing was decided.</b>{" "}
          <span className="text-muted-foreground">
            <Advice words={refusal.advice} /> <span className="mono">{refusal.code}</span>
          </span>
        </p>
        <Button onClick={decision.forget}>Back to the ticket</Button>
      </div>
    </OutcomeLine>
  );
}

export function UnsentOutcome({ decision }: { readonly decision: Decision }) {
  return (
    <OutcomeLine icon={OctagonX} tone="wait">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1">
          <b className="font-semibold">No answer came back.</b>{" "}
          <span className="text-muted-foreground">
            It may or may not have been decided. Asking again sends the same click: it counts once.
          </span>
        </p>
        <Button look="primary" onClick={decision.resend}>
          Ask again
        </Button>
      </div>
    </OutcomeLine>
  );
}
