import { sql } from "drizzle-orm";
import { type AnyPgColumn, check, customType, type PgColumn, timestamp, uuid } from "drizzle-orm/pg-core";

/** Case-insensitive text: one person whatever the case of the e-mail. */
export const citext = customType<{ data: string }>({ dataType: () => "citext" });

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** The transaction that wrote a row; feeds over several runs read in its order. */
export const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

export const workspaceId = () => uuid("workspace_id").notNull();

/** `clock_timestamp()`, never `now()`: the latter stands still inside a transaction. */
export const writtenAt = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 6 }).notNull().default(sql`clock_timestamp()`);

export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 6 });

/** A check made from the protocol's own list, so that there is one list. */
export function oneOf(name: string, column: AnyPgColumn | PgColumn, values: readonly string[]) {
  return check(name, sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(", "))})`);
}
