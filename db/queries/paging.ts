import type { Tx } from "@/db/client";

/**
 * A limit in the statement's text. As a parameter it is unknown when a prepared statement's plan is made for good: the planner
 * then takes it for a tenth of the table, and joins and sorts all of that for fifty rows.
 *
 * @throws RangeError when it is not a whole number from 0.
 */
export function fixedLimit({ sql }: Tx, limit: number) {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new RangeError(`not a limit: ${limit}`);
  return sql.unsafe(String(limit));
}

/** What the inbox is sorted by, before the ticket's id: no deadline stands last. Spelt as in the index `tickets_inbox`. */
export function deadlineKey({ sql }: Tx) {
  return sql`case when t.deadline_ms is null then 9223372036854775807 else t.deadline_ms end`;
}
