import type { Tx } from "@/db/client";
import type { Book } from "@/lib/protocol/book/book";
import type { BatchFacts } from "@/lib/protocol/book/facts";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { callChanges, newCallRow } from "./call-rows";
import { keepContents } from "./contents";
import { enqueueNotices, enqueueResumes } from "./mailbox/enqueue";
import { newTicketRow, ticketChanges } from "./ticket-rows";

/**
 * Write what a verb changed. The statements go out in one flight, in an order that every trigger and constraint can live with:
 * batches and calls, then tickets (closed before opened), then what hangs on them, then the run. Each function sends its first
 * statement when it is called (a query of the driver's waits until somebody awaits it), so the list's order is the order sent.
 */
export async function writeBook(tx: Tx, book: Book, caller: Caller): Promise<void> {
  const { run } = book;
  if (book.changed) tx.touched.add(run.id);
  await Promise.all([
    ...book.newBatches.map((batch) => insertBatch(tx, run.id, batch)),
    insertCalls(tx, book),
    ...[...book.changedTickets].map((id) => updateTicket(tx, book, id)),
    insertTickets(tx, book),
    ...[...book.changedCalls].map((ref) => updateCall(tx, book, ref)),
    insertDecisions(tx, book, caller),
    ...book.voidedDecisions.map((id) => voidDecision(tx, book, id)),
    updateRun(tx, book),
    keepContents(tx, book.contents),
    enqueueResumes(tx, run, book.jobs),
  ]);
}

async function insertBatch(tx: Tx, run: string, batch: BatchFacts): Promise<void> {
  await tx.sql`insert into batches ${tx.sql({ workspaceId: tx.workspace, run, ...batch })}`;
}

async function voidDecision(tx: Tx, book: Book, ticketId: string): Promise<void> {
  await tx.sql`update decisions set voided_at = ${book.now.at} where workspace_id = ${tx.workspace} and ticket_id = ${ticketId}`;
}

async function insertCalls(tx: Tx, book: Book): Promise<void> {
  const rows = [...book.newCalls].map((ref) => newCallRow(tx.workspace, book.run.id, book.call(ref)));
  if (rows.length > 0) await tx.sql`insert into calls ${tx.sql(rows)}`;
}

async function updateCall(tx: Tx, book: Book, ref: Parameters<Book["call"]>[0]): Promise<void> {
  await tx.sql`update calls set ${tx.sql(callChanges(book.call(ref)))}
    where workspace_id = ${tx.workspace} and run = ${book.run.id} and call_ref = ${ref}`;
}

async function insertTickets(tx: Tx, book: Book): Promise<void> {
  const tickets = book.tickets().filter((ticket) => book.newTickets.has(ticket.id));
  const rows = tickets.map((ticket) => newTicketRow(tx.workspace, book.run.id, ticket));
  if (rows.length > 0) await tx.sql`insert into tickets ${tx.sql(rows)}`;
  // A ticket that one verb both opens and closes begins open, as the database wants it.
  for (const ticket of tickets) if (ticket.status !== "open") await updateTicket(tx, book, ticket.id);
}

async function updateTicket(tx: Tx, book: Book, id: string): Promise<void> {
  const ticket = book.ticketAt(id);
  if (!ticket) throw new Error(`ticket ${id} is not in the book`);
  await tx.sql`update tickets set ${tx.sql(ticketChanges(ticket))} where workspace_id = ${tx.workspace} and id = ${id}`;
}

async function insertDecisions(tx: Tx, book: Book, caller: Caller): Promise<void> {
  const rows = book.decisions.map((decision) => ({
    workspaceId: tx.workspace,
    ticketId: decision.ticketId,
    via: decision.via,
    verdict: decision.verdict,
    actor: caller.display,
    personId: caller.person,
    approvalRequestId: decision.requestId,
    approvalHash: decision.approvalHash,
    result: decision.result === undefined ? null : canonicalJson(decision.result),
    reason: decision.reason,
    note: decision.note,
    decidedAt: book.now.at,
    effectiveAt: decision.effectiveAt,
  }));
  if (rows.length > 0) await tx.sql`insert into decisions ${tx.sql(rows)}`;
}

async function updateRun(tx: Tx, book: Book): Promise<void> {
  const { run } = book;
  if (run.cause !== null && run.endedAt === book.now.at) {
    await tx.sql`update runs set ${tx.sql({
      cause: run.cause,
      causeCode: run.causeCode,
      endedBy: run.endedBy,
      endedAt: run.endedAt,
      output: book.output === undefined ? null : canonicalJson(book.output),
    })} where workspace_id = ${tx.workspace} and id = ${run.id}`;
  }
  if (book.resumeFailed !== undefined) {
    await tx.sql`update runs set resume_failed = ${book.resumeFailed} where workspace_id = ${tx.workspace} and id = ${run.id}`;
  }
  if (book.cancelsQueuedJobs) {
    await tx.sql`update jobs set status = 'Cancelled', updated_at = clock_timestamp()
      where workspace_id = ${tx.workspace} and run = ${run.id} and status = 'Queued'`;
    await enqueueNotices(tx, run);
  }
}
