import { inWorkspaceByKey, type Scope } from "@/db/client";
import { readBook } from "@/db/store/read-book";
import type { Book } from "@/lib/protocol/book/book";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import { viewOf } from "@/lib/protocol/book/waits";
import type { TicketView } from "@/lib/protocol/ticket";

const NOBODY = { person: null, display: "" };

export interface TicketReading {
  readonly book: Book;
  readonly ticket: TicketFacts;
}

/** A ticket with its run's book, as committed; null when the workspace has no such ticket. */
export async function readTicketBook(scope: Scope, workspace: string, ticketId: string): Promise<TicketReading | null> {
  return inWorkspaceByKey(scope, workspace, async (tx) => {
    const open = await readBook(tx, NOBODY, { ticket: ticketId }, {}, "look");
    const ticket = open?.book.ticketAt(ticketId);
    return open && ticket ? { book: open.book, ticket } : null;
  });
}

/** Exactly what an approver is shown of it; its hash is what a decision names. */
export async function readTicketView(scope: Scope, workspace: string, ticketId: string): Promise<TicketView | null> {
  const read = await readTicketBook(scope, workspace, ticketId);
  return read && viewOf(read.book, read.ticket);
}

/** A run's book as it stands: everything unfinished, and the named call or step. */
export async function readRunBook(
  scope: Scope,
  workspace: string,
  runId: string,
  wanted: { readonly call?: string; readonly step?: number } = {},
): Promise<Book | null> {
  return inWorkspaceByKey(scope, workspace, async (tx) => {
    const open = await readBook(tx, NOBODY, { run: runId }, wanted, "look");
    return open?.book ?? null;
  });
}
