import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { SURFACES } from "@/lib/protocol/principal";
import { bytea, instant, oneOf, workspaceId, writtenAt, xid8 } from "./columns";
import { runs } from "./runs";
import { workspaces } from "./workspaces";

/** The chain holds hashes; what they name lies here and can be sealed or erased without breaking it. */
export const contents = pgTable(
  "contents",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    sha256: text().notNull(),
    kind: text().notNull(),
    bytes: bytea(),
    size: integer().notNull(),
    sealed: boolean().notNull().default(false),
    keyId: text("key_id"),
    erasedAt: instant("erased_at"),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.sha256, table.kind] })],
);

/**
 * The append-only, hash-chained record of a run. `event_text` is what was hashed and what is verified; a
 * trigger compares every other column with it. Two events with one `prev_hash` are an error, not a finding.
 */
export const traceEvents = pgTable(
  "trace_events",
  {
    workspaceId: workspaceId(),
    run: uuid().notNull(),
    seq: integer().notNull(),
    prevHash: text("prev_hash").notNull(),
    eventText: text("event_text").notNull(),
    hash: text().notNull(),
    type: text().notNull(),
    at: instant("at").notNull(),
    refusalCode: text("refusal_code"),
    xid: xid8().notNull().default(sql`pg_current_xact_id()`),
    eventId: bigint("event_id", { mode: "number" }).generatedAlwaysAsIdentity(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.run, table.seq] }),
    unique("trace_events_no_fork").on(table.workspaceId, table.run, table.prevHash),
    foreignKey({
      name: "trace_events_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    index("trace_events_feed").on(table.workspaceId, table.xid, table.eventId),
  ],
);

/** Every refusal of the workspace, also those that name no known run (`run` and `seq` null). */
export const refusals = pgTable(
  "refusals",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    id: uuid().notNull(),
    code: text().notNull(),
    verb: text().notNull(),
    actor: text().notNull(),
    principalId: uuid("principal_id"),
    surface: text({ enum: SURFACES }).notNull(),
    /** As the caller named them. */
    namedRun: text("named_run"),
    namedCall: text("named_call"),
    namedTicket: text("named_ticket"),
    suppliedHash: text("supplied_hash"),
    currentHash: text("current_hash"),
    storedHash: text("stored_hash"),
    approvalHash: text("approval_hash"),
    lateVerdict: text("late_verdict"),
    run: uuid(),
    seq: integer(),
    at: writtenAt("at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    foreignKey({
      name: "refusals_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    oneOf("refusals_surface", table.surface, SURFACES),
    index("refusals_newest").on(table.workspaceId, table.at, table.id),
    index("refusals_of_code").on(table.workspaceId, table.code, table.at, table.id),
    index("refusals_of_actor").on(table.workspaceId, table.actor, table.at, table.id),
    index("refusals_late")
      .on(table.workspaceId, table.namedTicket, table.at)
      .where(sql`${table.lateVerdict} is not null`),
    index("refusals_of_run").on(table.workspaceId, table.run, table.seq),
  ],
);
