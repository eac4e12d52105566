"use client";

import { type ReactNode, useId, useState } from "react";
import { Quoted } from "@/components/console/pieces";
import { Status } from "@/components/console/status";
import { JOB_LOOKS, WORKER_LOOKS } from "@/components/console/status-table";
import { Ago } from "@/components/console/time";
import { Button } from "@/components/ui/button";
import type { MailboxPage, MailboxRow } from "@/lib/protocol/console-mailbox-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";

interface OverviewProps {
  readonly page: MailboxPage;
  readonly onMailbox: (mailbox: string) => void;
}

/** Who works and on what, above the jobs: the first question of somebody who was woken up. */
export function Overview({ page, onMailbox }: OverviewProps) {
  const { workers, mailboxes, mailboxes_in_all: inAll } = page;
  if (workers.length === 0 && mailboxes.length === 0) return null;
  return (
    <div className="overview">
      <Workers workers={workers} />
      <Panel
        title="Busy mailboxes"
        says={inAll === 0 ? "none" : `${inAll}, the longest wait first`}
        all={inAll}
        rows={mailboxes.map((box) => <BusyMailbox key={box.mailbox_id} box={box} onMailbox={onMailbox} />)}
      />
    </div>
  );
}

/** Our own worker processes; those in other languages claim over HTTP and are seen by what they hold. */
function Workers({ workers }: Pick<MailboxPage, "workers">) {
  const polling = workers.filter((worker) => worker.polls).length;
  const gone = workers.length - polling;
  return (
    <Panel
      title="Workers"
      all={workers.length}
      says={
        workers.length === 0 ? "none seen in the last day" : `${polling} polling${gone > 0 ? `, ${gone} gone` : ""}`
      }
      rows={workers.map((worker) => (
        <li key={worker.worker_id}>
          <span className="mono cut" title={drawnAsText(worker.worker_id)}>
            <Quoted text={worker.worker_id} />
          </span>
          <Status look={WORKER_LOOKS[worker.polls ? "polling" : "gone"]} dense />
          <span className="text-right whitespace-nowrap text-subtle-foreground">
            <Ago atMs={worker.last_seen_ms} />
          </span>
        </li>
      ))}
    />
  );
}

/** A mailbox is a thread's: one job of it is worked on at a time, so its others wait for that one. */
function BusyMailbox({ box, onMailbox }: { readonly box: MailboxRow; readonly onMailbox: OverviewProps["onMailbox"] }) {
  return (
    <li title={`${drawnAsText(box.mailbox_id)}, generation ${box.generation}`}>
      <button type="button" className="mono cut text-left hover:underline" onClick={() => onMailbox(box.mailbox_id)}>
        <Quoted text={box.mailbox_id} />
      </button>
      <span>{box.active !== null && <Status look={JOB_LOOKS.Claimed} dense />}</span>
      <span className="text-right text-muted-foreground">{box.queued} queued</span>
    </li>
  );
}

const FEW = 3;

interface PanelProps {
  readonly title: string;
  readonly says: ReactNode;
  /** How many there are; more than `rows` where not all were read. */
  readonly all: number;
  readonly rows: readonly ReactNode[];
}

/** The first few rows; the rest, and on a phone all of them, by a press: the jobs must not slip off the screen. */
function Panel({ title, says, all, rows }: PanelProps) {
  const [open, setOpen] = useState(false);
  const list = useId();
  return (
    <section aria-label={title}>
      <h2 className="small-head">
        {title} <span className="font-normal text-subtle-foreground">{says}</span>
        {rows.length > 0 && (
          <Button
            look="quiet"
            className={rows.length > FEW ? "ml-auto" : "ml-auto md:hidden"}
            aria-expanded={open}
            aria-controls={list}
            onClick={() => setOpen(!open)}
          >
            {open ? "Fewer" : rows.length < all ? `First ${rows.length}` : rows.length > FEW ? `All ${all}` : "Show"}
            <span className="sr-only"> {title.toLowerCase()}</span>
          </Button>
        )}
      </h2>
      <ul id={list} className={open ? undefined : "max-md:hidden"}>
        {open ? rows : rows.slice(0, FEW)}
      </ul>
    </section>
  );
}
