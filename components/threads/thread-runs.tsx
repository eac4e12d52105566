"use client";

import { MailOpen } from "lucide-react";
import Link from "next/link";
import { Effect } from "@/components/console/effect";
import { Quoted } from "@/components/console/pieces";
import { Sentence } from "@/components/console/sentence";
import { useServerSecond } from "@/components/console/server-clock";
import { Status, TONE_CLASS } from "@/components/console/status";
import { runLook } from "@/components/console/status-table";
import { Ago, Moment } from "@/components/console/time";
import { buttonClass } from "@/components/ui/button";
import { isOfferedToPeople } from "@/lib/protocol/await-target";
import type { OpenTicketFacts, RunFacts } from "@/lib/protocol/console-run-view";
import { judgeRun } from "@/lib/protocol/verdict";

/** What waits for a person on this thread, each with its ticket. What an agent or another run answers does not. */
export function PendingItems({ runs }: { readonly runs: readonly RunFacts[] }) {
  const open = runs.flatMap((run) => run.open_tickets).filter(isOfferedToPeople);
  const unseen = runs.reduce((sum, run) => sum + run.open_in_all - run.open_tickets.length, 0);
  if (open.length === 0) return null;
  return (
    <section className="border-b border-border px-[var(--gutter)] py-4" aria-labelledby="pending">
      <h2 className={`small-head mb-2 ${TONE_CLASS.wait}`} id="pending">
        Waiting for a person
      </h2>
      <ul className="grid gap-2">
        {open.map((ticket) => (
          <Pending key={ticket.ticket_id} ticket={ticket} />
        ))}
      </ul>
      {unseen > 0 && <p className="mt-2 text-muted-foreground">And {unseen} more, in the inbox.</p>}
    </section>
  );
}

function Pending({ ticket }: { readonly ticket: OpenTicketFacts }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Link className={buttonClass("primary")} href={`/tickets/${ticket.ticket_id}`}>
        <MailOpen className="icon icon-sm" aria-hidden="true" />
        Open the ticket
      </Link>
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        <b className="mono font-medium">
          <Quoted text={ticket.action} />
        </b>
        <Effect effect={ticket.effect} />
        <span className="text-subtle-foreground">
          asked <Ago atMs={ticket.opened_ms} />
        </span>
      </span>
    </li>
  );
}

/** The runs of a thread, newest first, each with the sentence on where it stands. */
export function ThreadRuns({ runs }: { readonly runs: readonly RunFacts[] }) {
  return (
    <section className="border-b border-border px-[var(--gutter)] py-4" aria-labelledby="thread-runs">
      <h2 className="small-head mb-2" id="thread-runs">
        {runs.length === 1 ? "Run" : "Runs"}
      </h2>
      {runs.length === 0 && <p className="text-muted-foreground">No run is on this thread.</p>}
      <ul className="grid gap-3">
        {runs.map((run) => (
          <ThreadRun key={run.run_id} run={run} />
        ))}
      </ul>
    </section>
  );
}

function ThreadRun({ run }: { readonly run: RunFacts }) {
  const verdict = judgeRun(run, useServerSecond());
  return (
    <li className="grid max-w-[884px] gap-1">
      <p className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <Status look={runLook(run.state, run.cause)} dense />
        <Link className="mono text-link min-w-0 break-all" href={`/runs/${encodeURIComponent(run.run_id)}`}>
          <Quoted text={run.run_id} />
        </Link>
        <span className="min-w-0 break-words text-muted-foreground">
          <Quoted text={run.agent} />
        </span>
        <span className="text-subtle-foreground">
          <Moment atMs={run.created_ms} />
        </span>
      </p>
      <p className="break-words text-muted-foreground">
        <Sentence parts={verdict.sentence} />
      </p>
    </li>
  );
}
