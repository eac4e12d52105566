"use client";

import { ArrowRight, ScanEye } from "lucide-react";
import { Quoted } from "@/components/console/pieces";
import { RiskMark } from "@/components/console/risk";
import { Status, TONE_CLASS } from "@/components/console/status";
import { TICKET_LOOKS, type TicketLookName } from "@/components/console/status-table";
import { Due, Moment } from "@/components/console/time";
import { canonicalJson, isObject, type JsonValue, readJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";

/** The action and its target, from the view's own text. */
export interface ShownAct {
  readonly action: string;
  readonly args: JsonValue;
  readonly target: string | null;
}

export function actOf(page: TicketPage): ShownAct {
  const read = readJson(page.view_text, { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER });
  const view = read.ok && isObject(read.value) ? read.value : {};
  const proposal: JsonValue = view.proposal ?? null;
  if (proposal === null || !isObject(proposal)) return { action: "", args: null, target: null };
  const output = proposal.output ?? null;
  return {
    action: typeof proposal.action === "string" ? proposal.action : "",
    args: proposal.args ?? null,
    target: output === null ? null : typeof output === "string" ? output : canonicalJson(output),
  };
}

/** A title is cut, never folded: the proposal below has everything. */
const LONGEST_TITLE = 160;

export function TicketTitle({ page }: { readonly page: TicketPage }) {
  const { action, target } = actOf(page);
  if (page.kind === "question" || page.kind === "pause") {
    return (
      <h1 className="ticket-title ticket-title-words">
        {page.kind === "question" ? "Question from " : "Pause of "}
        <Quoted text={page.agent.name} />
      </h1>
    );
  }
  return (
    <h1 className="ticket-title">
      <Quoted text={cut(action)} />
      {target !== null && (
        <>
          <ArrowRight className="icon" aria-label="to" />
          <Quoted text={cut(target)} />
        </>
      )}
    </h1>
  );
}

function cut(text: string): string {
  return text.length > LONGEST_TITLE ? `${text.slice(0, LONGEST_TITLE)}…` : text;
}

const WAITS = {
  permission: "awaiting a decision",
  question: "awaiting an answer",
  pause: "awaiting Continue",
  elsewhere: "answered elsewhere",
} as const;

export function TicketFactsLine({ page, hidden }: { readonly page: TicketPage; readonly hidden: number }) {
  const name = lookName(page);
  const held = page.status === "open" && page.expired_ms !== null;
  return (
    <div className="facts-line mt-2">
      {held && page.deadline_ms !== null ? (
        <Status
          look={TICKET_LOOKS.expired}
          word={
            <>
              Expired <Moment atMs={page.deadline_ms} />, held
            </>
          }
        />
      ) : (
        <Status look={TICKET_LOOKS[name]} {...(name === "open" ? { word: openWord(page) } : {})} />
      )}
      {page.kind === "permission" && <RiskMark risk={page.risk} />}
      {page.status === "open" && !held && page.deadline_ms !== null && (
        <span className="status">
          <Due deadlineMs={page.deadline_ms} expiredMs={null} />
          <span>
            left, until <Moment atMs={page.deadline_ms} />
          </span>
        </span>
      )}
      {page.status === "open" && page.deadline_ms === null && <span>no deadline</span>}
      <span>
        asked <Moment atMs={page.asked_ms} />
      </span>
      {hidden > 0 && (
        <span className={`status ${TONE_CLASS.wait}`}>
          <ScanEye className="icon" aria-hidden="true" />
          Hidden text, {hidden} {hidden === 1 ? "character" : "characters"}
        </span>
      )}
      {page.is_demo && <span className="flag flag-outline tone-off">Demo</span>}
    </div>
  );
}

function openWord(page: TicketPage): string {
  const allowed = page.votes.filter((vote) => vote.verdict === "allow").length;
  if (page.quorum_needed > 1 && allowed > 0) return `${allowed} of ${page.quorum_needed} allowed`;
  return `Open, ${WAITS[page.kind]}`;
}

export function lookName(page: TicketPage): TicketLookName {
  if (page.status !== "answered") return page.status;
  const verdict = page.closed_by?.verdict;
  if (verdict === "allow") return "allowed";
  if (verdict === "deny") return "denied";
  return verdict === "continue" ? "continued" : "answered";
}
