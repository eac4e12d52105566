import type { InboxRow } from "@/lib/protocol/console-inbox-view";

/** A list that stands still: rows keep their place until the reader asks for the new ones. */
export interface SteadyRows {
  readonly rows: readonly SteadyRow[];
  /** Rows that are committed and not shown yet. */
  readonly fresh: number;
}

export interface SteadyRow {
  readonly row: InboxRow;
  /** It left the list since: decided, replaced, cancelled or filtered out. */
  readonly gone: boolean;
}

/**
 * What is shown, made of the rows as they stood when the list was last laid out and the rows as they are committed now.
 * Known rows follow their facts in place; a row that is gone stays, marked; a new one waits above.
 */
export function steadyRows(laidOut: readonly InboxRow[], committed: readonly InboxRow[], more: boolean): SteadyRows {
  const now = new Map(committed.map((row) => [row.ticket_id, row]));
  const shown = new Set(laidOut.map((row) => row.ticket_id));
  const last = committed.at(-1);
  const rows = laidOut.map((row) => {
    const current = now.get(row.ticket_id);
    // Past the last row that was read nothing is known: a new ticket above may have pushed it to the next page.
    const beyond = more && last !== undefined && comesAfter(row, last);
    return { row: current ?? row, gone: current === undefined && !beyond };
  });
  return { rows, fresh: committed.filter((row) => !shown.has(row.ticket_id)).length };
}

/** The inbox's order: deadline, soonest first, none last; then the id. */
function comesAfter(row: InboxRow, last: InboxRow): boolean {
  const a = row.deadline_ms ?? Number.POSITIVE_INFINITY;
  const b = last.deadline_ms ?? Number.POSITIVE_INFINITY;
  return a === b ? row.ticket_id > last.ticket_id : a > b;
}

/** Rows that a further page brought belong to the layout: asking for them was the reader's own move. */
export function extendLayout(laidOut: readonly InboxRow[], page: readonly InboxRow[]): readonly InboxRow[] {
  const shown = new Set(laidOut.map((row) => row.ticket_id));
  return [...laidOut, ...page.filter((row) => !shown.has(row.ticket_id))];
}
