"use client";

import { Ban, CircleCheck, PencilLine, TriangleAlert } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Avatar } from "@/components/console/avatar";
import { Effect } from "@/components/console/effect";
import { ShortHash } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { Status, TONE_CLASS } from "@/components/console/status";
import { TICKET_LOOKS } from "@/components/console/status-table";
import { Moment } from "@/components/console/time";
import type { TicketPage, Verdict } from "@/lib/protocol/console-view";
import { OperatorButtons } from "./operator-buttons";

/** Everything around the proposal that an approver may need, none of it needed to read the proposal. */
export function ContextRail({ page }: { readonly page: TicketPage }) {
  return (
    <aside className="context-rail" aria-label="Context">
      <WhyItAsks page={page} />
      <RunFacts page={page} />
      <LastMessages page={page} />
      <EarlierDecisions page={page} />
      <WhoMayDecide page={page} />
      <Operate page={page} />
    </aside>
  );
}

function RailSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2 className="small-head">{title}</h2>
      {children}
    </section>
  );
}

/** What an operator may do beside the decision; where nothing can be decided, it stands in the bar instead. */
function Operate({ page }: { readonly page: TicketPage }) {
  if (!page.may.operate || !page.may.decide || page.call === null) return null;
  return (
    <RailSection title="As an operator">
      <div className="flex flex-wrap gap-2">
        <OperatorButtons page={page} />
      </div>
      {page.kind === "permission" && (
        <p className="mt-2 text-meta text-subtle-foreground">
          To cancel is not to deny: the model is told “cancelled”. Deny tells it that a person blocked the call, with
          the reason.
        </p>
      )}
    </RailSection>
  );
}

const WITHOUT_RULE: Readonly<Record<TicketPage["kind"], string>> = {
  permission: "No rule allows it, so a person is asked.",
  question: "The agent asks a person, and goes on with the answer.",
  pause: "The run was paused, and goes on when a person continues it.",
  elsewhere: "Nobody is asked: what it waits for comes from elsewhere.",
};

function WhyItAsks({ page }: { readonly page: TicketPage }) {
  const { rule } = page;
  return (
    <RailSection title="Why it asks">
      {rule === null ? (
        <p>{WITHOUT_RULE[page.kind]}</p>
      ) : (
        <>
          <p className="font-medium">
            <Quoted text={rule.words} />
          </p>
          <p className="mono mt-1 text-muted-foreground">
            <Quoted text={rule.id} />
            {rule.version !== null && `, version ${rule.version}`}
          </p>
        </>
      )}
      {page.denied_before > 0 && (
        <p className={`status ${TONE_CLASS.bad} mt-2`}>
          <Ban className="icon icon-sm" aria-hidden="true" />
          Denied before ×{page.denied_before} in this run
        </p>
      )}
    </RailSection>
  );
}

const AT_EXPIRY = {
  hold: "Hold, shown as expired",
  deny: "Denied",
  cancel: "The call is cancelled",
  end_run: "The run ends",
} as const;

function RunFacts({ page }: { readonly page: TicketPage }) {
  const { agent, call } = page;
  return (
    <RailSection title="Run">
      <dl className="pairs">
        <Pair name="Agent">
          <Quoted text={agent.name} />
          {agent.last_seen_ms !== null && (
            <span className="block text-subtle-foreground">
              last seen <Moment atMs={agent.last_seen_ms} />
            </span>
          )}
        </Pair>
        <Pair name="Run">
          <Link className="mono text-link" href={`/runs/${encodeURIComponent(page.run_id)}`}>
            <Quoted text={page.run_id} />
          </Link>
        </Pair>
        {page.works_for && (
          <Pair name="Works for">
            call <span className="mono">{page.works_for.call_ref}</span> of{" "}
            <Link className="mono text-link" href={`/runs/${encodeURIComponent(page.works_for.run_id)}`}>
              <Quoted text={page.works_for.run_id} />
            </Link>
          </Pair>
        )}
        {call && <Pair name="Step">{`${call.step}, call ${call.index + 1} of ${call.of}`}</Pair>}
        {agent.provider && (
          <Pair name="Provider">
            <Quoted text={agent.provider} />
          </Pair>
        )}
        {agent.model && (
          <Pair name="Model">
            <Quoted text={agent.model} />
          </Pair>
        )}
        {agent.mcp_server && (
          <Pair name="MCP">
            <Quoted text={agent.mcp_server} />
          </Pair>
        )}
        <Pair name="Snapshot">
          <span className="mono">
            {agent.snapshot_id.length > 20 ? (
              <ShortHash value={agent.snapshot_id} />
            ) : (
              <Quoted text={agent.snapshot_id} />
            )}
          </span>
        </Pair>
        <Pair name="Catalogue">
          <ShortHash value={agent.catalog_fingerprint} />{" "}
          <span className={`status ${agent.catalog_changed ? TONE_CLASS.wait : TONE_CLASS.ok}`}>
            {agent.catalog_changed ? (
              <PencilLine className="icon icon-sm" aria-hidden="true" />
            ) : (
              <CircleCheck className="icon icon-sm" aria-hidden="true" />
            )}
            {agent.catalog_changed ? "changed since" : "unchanged"}
          </span>
        </Pair>
        {page.deadline_ms !== null && <Pair name="At expiry">{AT_EXPIRY[page.on_expiry]}</Pair>}
      </dl>
      {call?.coupling === "all_or_nothing" && <AllOrNothing page={page} />}
    </RailSection>
  );
}

function AllOrNothing({ page }: { readonly page: TicketPage }) {
  const siblings = page.call?.siblings ?? [];
  if (siblings.length === 0) return null;
  return (
    <div className={`notice ${TONE_CLASS.wait} mt-3`}>
      <TriangleAlert className="icon" aria-hidden="true" />
      <div className="min-w-0">
        <p className="font-medium">
          All or nothing: denying one cancels the {siblings.length === 1 ? "other" : `other ${siblings.length}`}.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard. */}
        <ul className="mt-1 grid max-h-64 gap-1 overflow-auto" tabIndex={0} aria-label="The other calls of the batch">
          {siblings.map((sibling) => (
            <li key={sibling.call_ref} className="min-w-0 [overflow-wrap:anywhere]">
              <span className="mono font-medium">
                <Quoted text={sibling.action} />
              </span>
              <Effect effect={sibling.effect} whole />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Pair({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const ROLES: Readonly<Record<string, string>> = {
  user: "The user’s last message",
  assistant: "The model’s last message",
};

function LastMessages({ page }: { readonly page: TicketPage }) {
  return page.last_messages.map((message) => (
    <RailSection key={message.seq} title={ROLES[message.role] ?? `Last message, ${message.role}`}>
      <div className="frame max-h-64 overflow-auto px-3 py-2">
        <p className="quoted-text">
          <Quoted text={message.text} lines="shown" />
        </p>
      </div>
      {message.bytes > new TextEncoder().encode(message.text).length && (
        <p className="mt-1 text-meta text-subtle-foreground">
          The first part of {message.bytes.toLocaleString("en-US")} bytes; whole in the run.
        </p>
      )}
    </RailSection>
  ));
}

const VERDICT_LOOKS: Readonly<Record<Verdict, keyof typeof TICKET_LOOKS>> = {
  allow: "allowed",
  deny: "denied",
  answer: "answered",
  continue: "continued",
};

function EarlierDecisions({ page }: { readonly page: TicketPage }) {
  if (page.earlier_decisions.length === 0 && page.votes.length === 0) return null;
  return (
    <RailSection title={page.votes.length > 0 ? "Votes and earlier decisions" : "Earlier decisions"}>
      <ul className="grid gap-1.5">
        {page.votes.map((vote) => (
          <li key={vote.person} className="flex flex-wrap gap-x-2">
            <Status look={TICKET_LOOKS[VERDICT_LOOKS[vote.verdict]]} />
            <span className="text-muted-foreground">
              this, by {vote.by_reader ? "you" : <Quoted text={vote.person} />}, <Moment atMs={vote.at_ms} />
            </span>
          </li>
        ))}
        {page.earlier_decisions.map((decision) => (
          <li key={decision.ticket_id} className="flex min-w-0 flex-wrap gap-x-2">
            <Status look={TICKET_LOOKS[VERDICT_LOOKS[decision.verdict]]} />
            <Link className="text-link min-w-0 text-muted-foreground" href={`/tickets/${decision.ticket_id}`}>
              {decision.by_reader ? (
                "by you"
              ) : (
                <>
                  by <Quoted text={decision.actor} />
                </>
              )}
              , <Moment atMs={decision.at_ms} />
            </Link>
            <span className="cut basis-full">
              <Effect effect={decision.effect} />
            </span>
          </li>
        ))}
      </ul>
    </RailSection>
  );
}

function WhoMayDecide({ page }: { readonly page: TicketPage }) {
  if (page.status !== "open" || page.who_may_decide.length === 0 || page.kind === "elsewhere") return null;
  return (
    <RailSection title="Who else may decide">
      <ul className="grid gap-1.5">
        {page.who_may_decide.map((person) => (
          <li key={person.person} className="status">
            <Avatar name={person.name} />
            <Quoted text={person.name} />
            {person.role === "owner" && <span className="text-subtle-foreground">owner</span>}
          </li>
        ))}
      </ul>
      {page.more_may_decide > 0 && <p className="mt-1.5 text-muted-foreground">and {page.more_may_decide} more</p>}
    </RailSection>
  );
}
