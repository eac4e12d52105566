import { Quoted } from "@/components/console/pieces";
import { Ago } from "@/components/console/time";
import type { MailboxPage } from "@/lib/protocol/console-mailbox-view";

interface BusyProps {
  readonly rows: MailboxPage["mailboxes"];
  readonly onMailbox: (mailbox: string) => void;
}

/** A mailbox is a thread's: one job of it is worked on at a time, so its others wait for that one. */
export function BusyMailboxes({ rows, onMailbox }: BusyProps) {
  if (rows.length === 0) return null;
  return (
    <section className="border-t border-border" aria-label="Busy mailboxes">
      <h2 className="small-head px-[var(--gutter)] pt-4 pb-1">Busy mailboxes</h2>
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">Mailbox</th>
            <th scope="col">Active job</th>
            <th scope="col" className="num">
              Queued
            </th>
            <th scope="col" className="num">
              Generation
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.mailbox_id}>
              <td className="fill">
                <button
                  type="button"
                  className="mono cut max-w-full align-bottom hover:underline"
                  onClick={() => onMailbox(row.mailbox_id)}
                >
                  <Quoted text={row.mailbox_id} />
                </button>
              </td>
              <td className="mono text-muted-foreground">{row.active === null ? "–" : row.active.slice(-12)}</td>
              <td className="num">{row.queued}</td>
              <td className="num text-muted-foreground">{row.generation}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Our own worker processes; those in other languages claim over HTTP and are seen by what they hold. */
export function Workers({ workers }: { readonly workers: MailboxPage["workers"] }) {
  if (workers.length === 0) return null;
  return (
    <section className="border-t border-border" aria-label="Workers">
      <h2 className="small-head px-[var(--gutter)] pt-4 pb-1">Workers</h2>
      <table className="data-table">
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">State</th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.worker_id}>
              <td className="mono fill">
                <Quoted text={worker.worker_id} />
              </td>
              <td>{worker.polls ? "Polling" : <span className="text-muted-foreground">Gone</span>}</td>
              <td className="text-subtle-foreground">
                <Ago atMs={worker.last_seen_ms} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
