import { ok, type Result, refuse } from "@/lib/result";
import type { Refusal } from "../refusals";
import type { SignalSource, SignalType } from "../signal";
import type { Book } from "./book";
import type { TicketFacts } from "./facts";
import { runEnded } from "./refusing";
import { openTicket, pauseTerms } from "./waits";

/** An accepted signal, as the trace names it. */
export interface SignalNote {
  readonly source: SignalSource;
  readonly type: SignalType;
}

/** Where a signal came from, and that the runtime took it; before what it changes. Source: protocol §9. */
export function noteSignal(book: Book, { source, type }: SignalNote): void {
  book.note("signal_received", { signal: type, source });
  book.note("runtime_validated", { signal: type, verdict: "accepted" });
}

/** The budget is spent and the definition wants a person to say whether the run may go on. Source: protocol §3. */
export function pauseAtBudget(book: Book, spent: number): Result<TicketFacts, Refusal> {
  if (book.run.cause !== null) return refuse(runEnded(book));
  const open = book.openPause();
  if (open) return ok(open);
  const terms = {
    ...pauseTerms(`${spent} model calls are made, which is the budget`),
    reason: "budget_reached",
  } as const;
  const ticket = openTicket(book, null, terms);
  book.note("pending_recorded", {
    ticket_id: ticket.id,
    request_id: ticket.correlationId,
    target: { kind: ticket.kind, reason: ticket.reason },
    spent,
  });
  return ok(ticket);
}
