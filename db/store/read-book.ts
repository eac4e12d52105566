import { v7 as newId } from "uuid";
import type { Tx } from "@/db/client";
import { Book } from "@/lib/protocol/book/book";
import type { BatchFacts, RunFacts } from "@/lib/protocol/book/facts";
import type { Sha256 } from "@/lib/protocol/hash";
import { type Instant, nowAt } from "@/lib/protocol/instant";
import type { Caller, Role } from "@/lib/protocol/principal";
import { BOOK_QUERIES, type NamedBy } from "./book-queries";
import { type CallRow, callFacts } from "./call-rows";
import { readPolicy } from "./policies";
import { readOrigin, type TicketRow, ticketFacts } from "./ticket-rows";
import { startOfTrace, type TraceHead } from "./trace";

/** How a verb names its run. */
export type Locator = { readonly run: string } | { readonly ticket: string } | { readonly internal: string };

/** What else a verb needs to see, besides everything unfinished. */
export interface Wanted {
  /** A `call_ref`, or the agent's `call_id`. */
  readonly call?: string | undefined;
  readonly step?: number | undefined;
}

/** A run under its lock, with its book and where its trace ends. */
export interface OpenBook {
  readonly book: Book;
  readonly head: TraceHead;
  /** The highest recorded step, 0 when there is none. */
  readonly highest: number;
  readonly lastSeenAt: Instant | null;
  readonly rights: Rights;
}

/** Read under the lock: a role lost, a person disabled or a tenant suspended a moment ago counts. */
export interface Rights {
  readonly role: Role | null;
  readonly suspended: boolean;
  readonly settings: string;
}

interface RunRow extends Omit<RunFacts, "delegation"> {
  readonly origin: string | null;
  readonly lastSeenAt: Instant | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

interface ClockRow extends Rights {
  readonly at: Instant;
  readonly seq: number;
  readonly hash: Sha256 | null;
  readonly highest: number;
  readonly policyId: string | null;
  readonly policyVersion: number | null;
  readonly policyDocument: string | null;
}

/**
 * Lock the run, then read the clock, then everything a verb may judge: one flight of statements on one connection, each with a
 * snapshot of its own, so that what they see was committed before the lock was ours.
 */
export async function readBook(
  tx: Tx,
  caller: Pick<Caller, "person" | "display">,
  locator: Locator,
  wanted: Wanted,
  /** A screen or an answer reads without the lock; a verb never does. */
  lock: "lock" | "look" = "lock",
): Promise<OpenBook | null> {
  if (namesNothing(locator)) return null;
  const [by, name] = namedBy(locator);
  const queries = BOOK_QUERIES[by];
  const named = [tx.workspace, name, wanted.call ?? null, wanted.step ?? null];
  const [[run], [clock], batches, calls, tickets] = await Promise.all([
    ask<RunRow>(tx, lock === "lock" ? queries.lockRun : queries.lookAtRun, [tx.workspace, name]),
    ask<ClockRow>(tx, queries.clock, [tx.workspace, name, caller.person]),
    ask<BatchFacts>(tx, queries.batches, named),
    ask<CallRow>(tx, queries.calls, named),
    ask<TicketRow>(tx, queries.tickets, named),
  ]);
  if (!run || !clock) return null;
  const { origin, lastSeenAt, ...facts } = run;
  const { role, suspended, settings, policyId, policyVersion, policyDocument } = clock;
  const book = new Book({
    run: { ...facts, delegation: readOrigin(origin) },
    now: nowAt(clock.at),
    newId,
    actor: caller.display,
    batches,
    calls: calls.map(callFacts),
    tickets: tickets.map(ticketFacts),
    policy: readPolicy(tx.workspace, { policyId, version: policyVersion, document: policyDocument }),
  });
  const head = clock.hash === null ? startOfTrace(book.run) : { seq: clock.seq, hash: clock.hash };
  return { book, head, highest: clock.highest, lastSeenAt, rights: { role, suspended, settings } };
}

/** An id that no ticket can have; asked before it reaches the database, which would take it for a fault. */
export function namesNothing(locator: Locator): boolean {
  return "ticket" in locator && !UUID.test(locator.ticket);
}

function namedBy(locator: Locator): [NamedBy, string] {
  if ("internal" in locator) return ["internal", locator.internal];
  return "run" in locator ? ["run", locator.run] : ["ticket", locator.ticket];
}

/** Sent when it is called, prepared once a connection. */
async function ask<Row extends object>(
  tx: Tx,
  text: string,
  parameters: readonly (string | number | null)[],
): Promise<readonly Row[]> {
  return await tx.sql.unsafe<Row[]>(text, [...parameters], { prepare: true });
}
