"use client";

import { CircleCheck, Fingerprint, OctagonX, Quote } from "lucide-react";
import { useRouter } from "next/navigation";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { CopyButton } from "@/components/console/copy-button";
import { Hash } from "@/components/console/hash";
import { useShortcuts } from "@/components/console/keyboard";
import { Quoted } from "@/components/console/pieces";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoSuch, Unread } from "@/components/console/states";
import { TONE_CLASS } from "@/components/console/status";
import { Crumb, TopBar } from "@/components/shell/top-bar";
import type { TicketPage } from "@/lib/protocol/console-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { findings, hiddenCount, proposalFields } from "@/lib/protocol/proposal-fields";
import { ContextRail } from "./context-rail";
import { DecisionBar } from "./decision-bar";
import { EarlierCalls } from "./earlier-calls";
import { isLong, number } from "./field-value";
import { FindingsTable } from "./findings-table";
import { argumentsToEdit, PayloadSection, payloadKind } from "./payload-section";
import { ProposalSection } from "./proposal-section";
import { QuestionSection, useAnswerDraft } from "./question-section";
import { TicketFactsLine, TicketTitle } from "./ticket-title";
import { useDecision } from "./use-decision";
import { useShownTicket, useTicketQuery } from "./use-ticket";
import { useViewSettled } from "./use-view-settled";
import { hashOfDrawn, type VerifiedView } from "./verify-view";
import { ExpiredNotice, NotVerified, StaleView } from "./view-notices";

export function TicketScreen({ ticketId }: { readonly ticketId: string }) {
  const query = useTicketQuery(ticketId);
  return (
    <>
      <TopBar>
        <Crumb to="Inbox" />
        <span className="mono cut text-muted-foreground" title={drawnAsText(ticketId)}>
          {ticketId.slice(0, 8)}
          <span className="text-subtle-foreground">…</span>
          {ticketId.slice(-4)}
        </span>
        <CopyButton text={ticketId} label="Copy ticket id" />
      </TopBar>
      <StaleNotice what="ticket" query={query} />
      {query.data ? (
        <ShownTicketBody key={ticketId} fresh={query.data} />
      ) : (
        <Unread
          what="ticket"
          unknown="This says nothing about whether it is open; its deadline is running."
          query={query}
          missing={<NoSuch what="ticket" list="inbox" />}
        />
      )}
    </>
  );
}

function ShownTicketBody({ fresh }: { readonly fresh: TicketPage }) {
  const { page, verified, viewToken, newer, showNewer } = useShownTicket(fresh);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const frame = useRef<HTMLDivElement>(null);
  const found = useMemo(() => findings(verified.fields), [verified.fields]);
  const hidden = hiddenCount(found);
  const isAct = page.kind === "permission" || page.kind === "elsewhere";
  // A question is drawn as its words and its form, a pause as its reason: both are whole.
  const folded = isAct ? verified.fields.find((field) => isLong(field) && !opened.has(field.path)) : undefined;
  const drawnHash = useDrawnHash(frame, verified, opened, isAct);
  const decision = useDecision({ ticketId: page.ticket_id, viewDigest: verified.viewDigest, viewToken });
  const settled = useViewSettled(verified.viewDigest);
  const withAllow = payloadKind(page);
  const question = useAnswerDraft(page, withAllow === "arguments" ? argumentsToEdit(page) : null);
  const before = useMemo(
    () => (page.compared ? (proposalFields(page.compared.proposal_text) ?? []) : []),
    [page.compared],
  );
  useTicketKeys(frame);

  const isTrue = verified.ok && (drawnHash === null || drawnHash === verified.storedHash);
  const closedBecause = newer
    ? "The ticket changed. Allow returns with its newest revision."
    : !isTrue
      ? "This page does not hash to the stored proposal."
      : folded
        ? `Allow opens once ${folded.path} has been opened to its last byte.`
        : isAct && drawnHash === null
          ? "The page is being hashed."
          : null;

  return (
    <>
      <div className="ticket-split">
        <article className="ticket-body">
          <div className="ticket-column">
            <TicketTitle page={page} />
            <TicketFactsLine page={page} hidden={hidden} />
            {newer && verified.view && (
              <StaleView read={verified.view} now={newer.verified} revision={newer.page.revision} onShow={showNewer} />
            )}
            {!isTrue && <NotVerified drawn={drawnHash ?? verified.hash} stored={verified.storedHash} />}
            <ExpiredNotice page={page} />
            {found.length > 0 && <FindingsTable found={found} />}
            {!isAct && <QuestionSection page={page} verified={verified} question={question} />}
            {isAct && (
              <ProposalSection
                page={page}
                verified={verified}
                before={before}
                frame={frame}
                opened={opened}
                onOpen={(path) => setOpened((now) => new Set(now).add(path))}
              />
            )}
            <HashLine verified={verified} isTrue={isTrue} />
            {withAllow !== null && page.status === "open" && page.expired_ms === null && page.may.decide && (
              <PayloadSection kind={withAllow} page={page} payload={question} />
            )}
            {page.claim !== null && <Claim words={page.claim} />}
            <EarlierCalls page={page} />
          </div>
        </article>
        <ContextRail page={page} />
      </div>
      <DecisionBar
        page={page}
        decision={decision}
        gate={{ closedBecause, hiddenText: hidden > 0, settled }}
        viewKey={verified.viewDigest}
        answer={question.text}
        onInvalidAnswer={question.showFaults}
      />
    </>
  );
}

/** Read back from the page itself, after each drawing: what is hashed is what stands there. Null while a part is folded. */
function useDrawnHash(
  frame: RefObject<HTMLDivElement | null>,
  verified: VerifiedView,
  opened: ReadonlySet<string>,
  isTable: boolean,
): string | null {
  const [hash, setHash] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn changes with these two, and is read from the page.
  useEffect(() => {
    setHash(isTable && frame.current ? hashOfDrawn(frame.current) : null);
  }, [verified, opened, frame, isTable]);
  return hash;
}

function HashLine({ verified, isTrue }: { readonly verified: VerifiedView; readonly isTrue: boolean }) {
  const Icon = isTrue ? CircleCheck : OctagonX;
  return (
    <div className="hash-line">
      <Fingerprint className="icon icon-sm" aria-hidden="true" />
      <span>proposal_hash</span>
      <Hash value={verified.storedHash} />
      <span className="flex items-center gap-1">
        <span className={`status font-medium ${isTrue ? TONE_CLASS.ok : TONE_CLASS.bad}`}>
          <Icon className="icon icon-sm" aria-hidden="true" />
          {isTrue ? "Verified in this browser" : "Not verified"}
        </span>
        <CopyButton text={verified.storedHash} label="Copy proposal hash" />
      </span>
    </div>
  );
}

function Claim({ words }: { readonly words: string }) {
  const long = words.length > 1_200;
  return (
    <section className="section" aria-label="The agent’s claim">
      <div className="claim">
        <h2 className="small-head mb-1">
          <Quote className="icon icon-sm" aria-hidden="true" />
          The agent’s claim
          <span className="font-normal text-subtle-foreground">
            written by the model, not checked{long && `, ${number(words.length)} characters`}
          </span>
        </h2>
        <p className={long ? "quoted-text max-h-60 overflow-auto" : "quoted-text"}>
          <Quoted text={words} lines="shown" />
        </p>
      </div>
    </section>
  );
}

/** V, O, H and Escape; A, D and R belong to the decision bar. */
function useTicketKeys(frame: RefObject<HTMLDivElement | null>): void {
  const router = useRouter();
  // Escape leaves the armed state first.
  const leave = () => document.querySelector(".armed") === null && router.push("/inbox");
  const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
  useShortcuts({
    v: () => press('[data-view-switch] button[aria-pressed="false"]'),
    o: () => frame.current?.querySelector<HTMLElement>("[data-fold-button]")?.click(),
    h: () => press('[aria-label="Copy proposal hash"]'),
    Escape: leave,
  });
}
