"use client";

import { MailCheck, X } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { useActions } from "@/components/console/actions";
import { OperatorDialog } from "@/components/console/operator-dialog";
import { Quoted } from "@/components/console/pieces";
import { NoMatch, State } from "@/components/console/states";
import { Status } from "@/components/console/status";
import { JOB_LOOKS } from "@/components/console/status-table";
import { Ago, Moment } from "@/components/console/time";
import { Button } from "@/components/ui/button";
import type { JobRow } from "@/lib/protocol/console-mailbox-view";
import { JOB_PRIORITY_DEFAULT, JOB_SECTIONS, type JobSection } from "@/lib/protocol/mailbox-job";

type Asked = { readonly act: "requeue" | "cancel" | "interrupt"; readonly row: JobRow } | null;

interface JobTableProps {
  readonly rows: readonly JobRow[];
  readonly mailbox: string | null;
  /** The filter's; null shows all, under the heads of their sections. */
  readonly status: string | null;
  readonly onMailbox: (mailbox: string) => void;
  readonly onClear: () => void;
}

export function JobTable({ rows, mailbox, status, onMailbox, onClear }: JobTableProps) {
  const [asked, setAsked] = useState<Asked>(null);
  return (
    <>
      {mailbox !== null && (
        <p className="flex flex-wrap items-center gap-2 px-[var(--gutter)] py-2 text-muted-foreground">
          Mailbox <span className="mono min-w-0 break-all">{<Quoted text={mailbox} />}</span>
          <Button onClick={onClear}>
            <X className="icon icon-sm" aria-hidden="true" />
            All mailboxes
          </Button>
        </p>
      )}
      {rows.length === 0 ? (
        <NoJobs filtered={status !== null || mailbox !== null} onClear={onClear} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard.
        <section className="scroll-x" aria-label="Jobs table" tabIndex={0}>
          <table className="data-table roomy stack-md jobs-table">
            <thead>
              <tr>
                <th scope="col">Status</th>
                <th scope="col">Job</th>
                <th scope="col">Agent</th>
                <th scope="col">Run or mailbox</th>
                <th scope="col" className="num">
                  Attempts
                </th>
                <th scope="col">What is known</th>
                <th scope="col">Made</th>
                <th scope="col">
                  <span className="sr-only">Acts</span>
                </th>
              </tr>
            </thead>
            {JOB_SECTIONS.map((section) => (
              <Section
                key={section.word}
                section={section}
                headed={status === null}
                rows={rows.filter((row) => section.statuses.includes(row.status))}
                onMailbox={onMailbox}
                onAsk={setAsked}
              />
            ))}
          </table>
        </section>
      )}
      {asked && <JobDialog asked={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function NoJobs({ filtered, onClear }: { readonly filtered: boolean; readonly onClear: () => void }) {
  if (!filtered) {
    return (
      <State icon={MailCheck} tone="off" title="No job yet">
        <p>A decision on a run that our worker executes makes a job; so does every run that starts here.</p>
      </State>
    );
  }
  return <NoMatch what="job" onClear={onClear} />;
}

interface SectionProps extends Omit<JobLineProps, "row"> {
  readonly section: JobSection;
  readonly headed: boolean;
  readonly rows: readonly JobRow[];
}

function Section({ section, headed, rows, ...acts }: SectionProps) {
  if (rows.length === 0) return null;
  return (
    <tbody>
      {headed && (
        <tr className="job-section">
          <th scope="rowgroup" colSpan={8}>
            {section.word}
          </th>
        </tr>
      )}
      {rows.map((row) => (
        <JobLine key={row.job_id} row={row} {...acts} />
      ))}
    </tbody>
  );
}

interface JobLineProps {
  readonly row: JobRow;
  readonly onMailbox: (mailbox: string) => void;
  readonly onAsk: (asked: Asked) => void;
}

function JobLine({ row, onMailbox, onAsk }: JobLineProps) {
  return (
    <tr>
      <td>
        <Status look={JOB_LOOKS[row.status]} dense />
      </td>
      <td title={`${row.job_id}, generation ${row.generation}`}>
        <button
          type="button"
          className="hover:underline"
          aria-label={`${row.kind}, show its mailbox alone`}
          onClick={() => onMailbox(row.mailbox_id)}
        >
          {row.kind}
        </button>
        <span className="text-subtle-foreground">
          {" "}
          {row.origin}
          {row.outside && ", over HTTP"}
        </span>
        {row.priority !== JOB_PRIORITY_DEFAULT && (
          <span className="flag flag-outline tone-off ml-2" title="0 is first, 255 last">
            Priority {row.priority}
          </span>
        )}
      </td>
      <td className="agent edge text-muted-foreground">
        {row.agent !== null && (
          <span className="inline-block max-w-[18ch] overflow-hidden text-ellipsis align-bottom">
            <Quoted text={row.agent} />
          </span>
        )}
      </td>
      <td className="run">
        {row.run_id === null ? (
          <button
            type="button"
            className="mono cut max-w-[18ch] align-bottom hover:underline"
            onClick={() => onMailbox(row.mailbox_id)}
          >
            <Quoted text={row.mailbox_id} />
          </button>
        ) : (
          <Link
            className="mono inline-block max-w-[18ch] overflow-hidden text-ellipsis align-bottom hover:underline"
            href={`/runs/${encodeURIComponent(row.run_id)}`}
          >
            <Quoted text={row.run_id} />
          </Link>
        )}
      </td>
      <td className="num tries edge">
        <span className="text-subtle-foreground md:hidden">attempt </span>
        {row.attempts} of {row.max_attempts}
      </td>
      <td className="fill text-muted-foreground">
        <Known row={row} />
      </td>
      <td className="age edge text-subtle-foreground">
        <Ago atMs={row.created_at_ms} />
      </td>
      <td className="acts text-right">
        <span className="inline-flex gap-1.5">
          {row.status === "DeadLetter" && <Button onClick={() => onAsk({ act: "requeue", row })}>Requeue</Button>}
          {row.status === "Queued" && <Button onClick={() => onAsk({ act: "cancel", row })}>Cancel job</Button>}
          {(row.status === "Queued" || row.status === "Claimed") && (
            <Button onClick={() => onAsk({ act: "interrupt", row })}>Interrupt</Button>
          )}
        </span>
      </td>
    </tr>
  );
}

/** Who holds it and until when, when it is due, and what was said last. */
function Known({ row }: { readonly row: JobRow }) {
  return (
    <>
      {row.status === "Queued" && row.available_at_ms === null && "ready "}
      {row.status === "Accepted" && "delivered "}
      {row.claimed_by !== null && (
        <>
          held by <Quoted text={row.claimed_by} />{" "}
        </>
      )}
      {row.lease_until_ms !== null && (
        <>
          until <Moment atMs={row.lease_until_ms} />{" "}
        </>
      )}
      {row.available_at_ms !== null && (
        <>
          not before <Moment atMs={row.available_at_ms} />{" "}
        </>
      )}
      {row.last_error !== null && <LastError text={row.last_error} />}
    </>
  );
}

const LONG_ERROR = 240;

/** The cause is read whole, in place: a long one scrolls in its cell. */
function LastError({ text }: { readonly text: string }) {
  if (text.length <= LONG_ERROR && !text.includes("\n")) return <Quoted text={text} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <div className="quoted-text max-h-24 overflow-auto" tabIndex={0}>
      <Quoted text={text.trimEnd()} lines="shown" />
    </div>
  );
}

function JobDialog({
  asked: { act, row },
  onClose,
}: {
  readonly asked: NonNullable<Asked>;
  readonly onClose: () => void;
}) {
  const { requeueJob, cancelJob, interruptMailbox } = useActions();
  const touched = row.run_id === null ? [["mailbox"]] : [["mailbox"], ["run", row.run_id]];
  switch (act) {
    case "requeue":
      return (
        <OperatorDialog
          open
          onClose={onClose}
          title="Requeue"
          says={
            <>
              Puts the dead letter back into mailbox <Quoted text={row.mailbox_id} /> with its attempts at zero. A
              worker takes it up at once; an effect that has happened is not repeated.
            </>
          }
          touched={touched}
          act={(reason) => requeueJob({ job_id: row.job_id, reason })}
        />
      );
    case "cancel":
      return (
        <OperatorDialog
          open
          onClose={onClose}
          title="Cancel job"
          says={
            <>
              Takes the job out of mailbox <Quoted text={row.mailbox_id} />. The run is not ended by it; it goes on when
              another job wakes it.
            </>
          }
          touched={touched}
          act={(reason) => cancelJob({ job_id: row.job_id, reason })}
        />
      );
    default:
      return (
        <OperatorDialog
          open
          onClose={onClose}
          title="Interrupt"
          says={
            <>
              Supersedes the requests and resumes that are queued in mailbox <Quoted text={row.mailbox_id} />, takes the
              job that is claimed now from its holder, and cancels the runs of both.
            </>
          }
          touched={touched}
          act={(reason) => interruptMailbox({ mailbox_id: row.mailbox_id, reason })}
        />
      );
  }
}
