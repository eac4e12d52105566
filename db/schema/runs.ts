import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { EXECUTORS, RUN_CAUSES, RUN_STATES } from "@/lib/protocol/run";
import { agentSnapshots, agents } from "./agents";
import { bytea, instant, oneOf, workspaceId, writtenAt } from "./columns";
import { threads } from "./threads";
import { people, principals } from "./workspaces";

/**
 * One execution on a thread. Every verb that touches a run locks this row first.
 * `state` is derived, so that "awaiting exactly when a ticket is open" is a fact and not a habit.
 */
export const runs = pgTable(
  "runs",
  {
    workspaceId: workspaceId(),
    id: uuid().notNull(),
    runId: text("run_id").notNull(),
    agentId: uuid("agent_id").notNull(),
    snapshotId: text("snapshot_id").notNull(),
    threadId: text("thread_id").notNull(),
    sessionId: uuid("session_id"),
    executor: text({ enum: EXECUTORS }).notNull(),
    principalId: uuid("principal_id").notNull(),
    onBehalfOf: uuid("on_behalf_of").references(() => people.id),
    parentRun: uuid("parent_run"),
    parentCall: text("parent_call"),
    rootRun: uuid("root_run"),
    depth: integer().notNull().default(0),
    /** The delegation origin as canonical JSON; frozen. */
    origin: text(),
    cause: text({ enum: RUN_CAUSES }),
    causeCode: text("cause_code"),
    endedBy: text("ended_by"),
    endedAt: instant("ended_at"),
    output: text(),
    openTickets: integer("open_tickets").notNull().default(0),
    state: text({ enum: RUN_STATES })
      .notNull()
      .generatedAlwaysAs(
        sql`case when cause is not null then 'ended' when open_tickets > 0 then 'awaiting' else 'running' end`,
      ),
    generation: integer().notNull().default(0),
    rejectedSignals: integer("rejected_signals").notNull().default(0),
    stalledReason: text("stalled_reason"),
    resumeFailed: text("resume_failed"),
    lastSeenAt: instant("last_seen_at"),
    isDemo: boolean("is_demo").notNull().default(false),
    archivedAt: instant("archived_at"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("runs_run_id").on(table.workspaceId, table.runId),
    foreignKey({
      name: "runs_agent",
      columns: [table.workspaceId, table.agentId],
      foreignColumns: [agents.workspaceId, agents.id],
    }),
    foreignKey({
      name: "runs_snapshot",
      columns: [table.workspaceId, table.snapshotId],
      foreignColumns: [agentSnapshots.workspaceId, agentSnapshots.snapshotId],
    }),
    foreignKey({
      name: "runs_thread",
      columns: [table.workspaceId, table.threadId],
      foreignColumns: [threads.workspaceId, threads.threadId],
    }),
    foreignKey({
      name: "runs_principal",
      columns: [table.workspaceId, table.principalId],
      foreignColumns: [principals.workspaceId, principals.id],
    }),
    foreignKey({
      name: "runs_parent",
      columns: [table.workspaceId, table.parentRun],
      foreignColumns: [table.workspaceId, table.id],
    }),
    oneOf("runs_executor", table.executor, EXECUTORS),
    check(
      "runs_cause",
      sql`${table.cause} is null or ${table.cause} in (${sql.raw(RUN_CAUSES.map((cause) => `'${cause}'`).join(", "))})`,
    ),
    check("runs_open_tickets_counted", sql`${table.openTickets} >= 0`),
    check("runs_ended_has_no_open_ticket", sql`${table.cause} is null or ${table.openTickets} = 0`),
    check("runs_ended_when", sql`(${table.cause} is null) = (${table.endedAt} is null)`),
    // Ascending, and read backwards: what Drizzle calls `desc()` is an index with its nulls last, which `order by … desc` cannot use.
    index("runs_newest").on(table.workspaceId, table.createdAt, table.id),
    index("runs_living").on(table.workspaceId, table.createdAt, table.id).where(sql`${table.cause} is null`),
    index("runs_of_cause")
      .on(table.workspaceId, table.cause, table.createdAt, table.id)
      .where(sql`${table.cause} is not null`),
    index("runs_of_agent").on(table.workspaceId, table.agentId, table.createdAt, table.id),
    index("runs_of_thread").on(table.workspaceId, table.threadId),
    index("runs_of_parent").on(table.workspaceId, table.parentRun).where(sql`${table.parentRun} is not null`),
  ],
);

/** The agent's own state, bound in the ticket's transaction; `bytes` or a `ref` to where it lies. */
export const runStates = pgTable(
  "run_states",
  {
    workspaceId: workspaceId(),
    run: uuid().notNull(),
    sha256: text().notNull(),
    format: text(),
    version: text(),
    bytes: bytea(),
    ref: text(),
    /** Set when a step named it; an upload that no step named is not the run's state. */
    boundAt: instant("bound_at"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.run, table.sha256] }),
    foreignKey({
      name: "run_states_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    check("run_states_held_or_named", sql`${table.bytes} is not null or ${table.ref} is not null`),
  ],
);

/**
 * What a running agent's model is just saying, for the eye alone: what counts is the thread's committed messages. Unlogged, so a
 * crash of the database empties it.
 */
export const liveTexts = pgTable(
  "live_texts",
  {
    workspaceId: workspaceId(),
    run: uuid().notNull(),
    step: integer().notNull(),
    text: text().notNull(),
    updatedAt: writtenAt("updated_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.run] }),
    foreignKey({
      name: "live_texts_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
  ],
);
