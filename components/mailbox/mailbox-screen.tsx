"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { Mailbox, MailX, Unplug } from "lucide-react";
import { parseAsString, useQueryStates } from "nuqs";
import { pathWith, readConsole } from "@/components/console/read";
import { StaleNotice } from "@/components/console/stale-notice";
import { State, Unread } from "@/components/console/states";
import { TONE_CLASS } from "@/components/console/status";
import { JOB_LOOKS } from "@/components/console/status-table";
import { Ago } from "@/components/console/time";
import { useReader } from "@/components/shell/reader";
import { TopBar } from "@/components/shell/top-bar";
import { Button } from "@/components/ui/button";
import type { JobRow, MailboxPage } from "@/lib/protocol/console-mailbox-view";
import { JOB_SECTIONS } from "@/lib/protocol/mailbox-job";
import { JobTable } from "./job-table";
import { Overview } from "./overview";

const FILTERS = { status: parseAsString, mailbox: parseAsString };
/** A job that fails, or a worker that polls, is no change of a run, so the stream does not tell of it. */
const READ_AGAIN_MS = 5_000;

/** What is queued, who works on it, and what was given up. */
export function MailboxScreen() {
  const [filters, setFilters] = useQueryStates(FILTERS, { history: "replace" });
  const { role } = useReader();
  const query = useInfiniteQuery({
    queryKey: ["mailbox", filters],
    initialPageParam: "",
    enabled: role !== "approver",
    refetchInterval: READ_AGAIN_MS,
    queryFn: ({ pageParam, signal }) =>
      readConsole<MailboxPage>(pathWith("/console/mailbox", { ...filters, cursor: pageParam }), signal),
    getNextPageParam: (page) => page.next_cursor,
  });
  const first = query.data?.pages[0];
  const rows = onceEach(query.data?.pages.flatMap((page) => page.rows) ?? []);
  return (
    <>
      <TopBar>
        <h1>Mailbox</h1>
        {first?.oldest_due_ms != null && (
          <span className="whitespace-nowrap text-subtle-foreground">
            oldest queued <Ago atMs={first.oldest_due_ms} />
          </span>
        )}
        {first && (
          <span className="whitespace-nowrap text-subtle-foreground max-md:hidden">
            · accepted means delivered, not that the run succeeded
          </span>
        )}
      </TopBar>
      {role === "approver" ? (
        <State icon={Mailbox} tone="off" title="Operators and owners read the mailbox">
          <p>Your role decides; what waits for you stands in the inbox.</p>
        </State>
      ) : (
        <>
          <StaleNotice what="mailbox" query={query} />
          {first && <NoWorker page={first} />}
          {first && <Overview page={first} onMailbox={(mailbox) => void setFilters({ mailbox })} />}
          {first && (
            <StatusBar page={first} status={filters.status} onStatus={(status) => void setFilters({ status })} />
          )}
          {first && (
            <JobTable
              rows={rows}
              mailbox={filters.mailbox}
              status={filters.status}
              onMailbox={(mailbox) => void setFilters({ mailbox })}
              onClear={() => void setFilters(null)}
            />
          )}
          {query.hasNextPage && (
            <div className="list-foot">
              <Button onClick={() => void query.fetchNextPage()}>Show more</Button>
            </div>
          )}
          {!first && (
            <Unread
              what="mailbox"
              unknown="This says nothing about what is queued; every job is kept."
              query={query}
              dense
            />
          )}
        </>
      )}
    </>
  );
}

/** A job that moves between the readings of two pages is on both; where it stands later is what was read last. */
function onceEach(rows: readonly JobRow[]): readonly JobRow[] {
  const last = new Map(rows.map((row, place) => [row.job_id, place]));
  return rows.filter((row, place) => last.get(row.job_id) === place);
}

/** The most common answer to "why does nothing move"; while nothing is queued there is no such question. */
function NoWorker({ page }: { readonly page: MailboxPage }) {
  if (page.counts.Queued === 0 || page.workers.some((worker) => worker.polls)) return null;
  const [last] = page.workers;
  return (
    <div className={`notice notice-edge ${TONE_CLASS.bad}`} role="alert">
      <Unplug className="icon" aria-hidden="true" />
      <div>
        <p className="font-medium">No worker is polling.</p>
        <p className="text-muted-foreground">
          {last ? (
            <>
              The last one was seen <Ago atMs={last.last_seen_ms} />.{" "}
            </>
          ) : (
            "None was seen in the last day. "
          )}
          Start one with <code>npm run holdpoint -- worker</code>. What is queued stays queued; nothing is lost.
        </p>
      </div>
    </div>
  );
}

interface StatusBarProps {
  readonly page: MailboxPage;
  readonly status: string | null;
  readonly onStatus: (status: string | null) => void;
}

function StatusBar({ page, status, onStatus }: StatusBarProps) {
  const many = (count: number) => (count >= page.count_cap ? `${page.count_cap}+` : count);
  return (
    <section className="filterbar" aria-label="Filters">
      <button type="button" className="chip" aria-pressed={status === null} onClick={() => onStatus(null)}>
        All
      </button>
      {JOB_SECTIONS.flatMap((section) => section.statuses).map((it) => (
        <button key={it} type="button" className="chip" aria-pressed={status === it} onClick={() => onStatus(it)}>
          {it === "DeadLetter" && page.counts[it] > 0 && (
            <span className={`status ${TONE_CLASS.bad}`}>
              <MailX className="icon icon-sm" aria-hidden="true" />
            </span>
          )}
          {JOB_LOOKS[it].word} <b>{many(page.counts[it])}</b>
        </button>
      ))}
    </section>
  );
}
