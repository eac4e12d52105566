import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import {
  JOB_KINDS,
  JOB_MAX_ATTEMPTS,
  JOB_ORIGINS,
  JOB_PRIORITY_DEFAULT,
  JOB_STATUSES,
} from "@/lib/protocol/mailbox-job";
import { instant, oneOf, workspaceId, writtenAt } from "./columns";
import { runs } from "./runs";
import { workspaces } from "./workspaces";

/** One a thread. A claim older than the generation can neither renew, start nor ack. */
export const mailboxes = pgTable(
  "mailboxes",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    mailboxId: text("mailbox_id").notNull(),
    generation: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.mailboxId] })],
);

/** A durable run request. Source: protocol §10. */
export const jobs = pgTable(
  "jobs",
  {
    workspaceId: workspaceId(),
    jobId: uuid("job_id").notNull(),
    mailboxId: text("mailbox_id").notNull(),
    agentId: uuid("agent_id"),
    kind: text({ enum: JOB_KINDS }).notNull(),
    /** For workers that call over HTTP: no worker of ours can run its agent. */
    outside: boolean().notNull().default(false),
    run: uuid(),
    ticketId: uuid("ticket_id"),
    messages: text(),
    origin: text({ enum: JOB_ORIGINS }).notNull(),
    senderId: text("sender_id"),
    parentRunId: text("parent_run_id"),
    requestExtras: text("request_extras"),
    priority: smallint().notNull().default(JOB_PRIORITY_DEFAULT),
    dedupeKey: text("dedupe_key"),
    generation: integer().notNull(),
    status: text({ enum: JOB_STATUSES }).notNull().default("Queued"),
    availableAt: writtenAt("available_at"),
    attemptCount: integer("attempt_count").notNull().default(0),
    maxAttempts: integer("max_attempts").notNull().default(JOB_MAX_ATTEMPTS),
    lastError: text("last_error"),
    claimToken: uuid("claim_token"),
    claimedBy: text("claimed_by"),
    leaseUntil: instant("lease_until"),
    /** When the holder of the claim said that it had begun; a new claim clears it, and the result of the last one. */
    startedAt: instant("started_at"),
    result: text(),
    createdAt: writtenAt("created_at"),
    updatedAt: writtenAt("updated_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.jobId] }),
    foreignKey({
      name: "jobs_mailbox",
      columns: [table.workspaceId, table.mailboxId],
      foreignColumns: [mailboxes.workspaceId, mailboxes.mailboxId],
    }),
    foreignKey({
      name: "jobs_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    oneOf("jobs_status", table.status, JOB_STATUSES),
    oneOf("jobs_kind", table.kind, JOB_KINDS),
    oneOf("jobs_origin", table.origin, JOB_ORIGINS),
    check("jobs_priority", sql`${table.priority} between 0 and 255`),
    check(
      "jobs_claimed_under_a_lease",
      sql`(${table.status} = 'Claimed') = (${table.claimToken} is not null and ${table.leaseUntil} is not null)`,
    ),
    uniqueIndex("jobs_one_claimed_a_mailbox")
      .on(table.workspaceId, table.mailboxId)
      .where(sql`${table.status} = 'Claimed'`),
    uniqueIndex("jobs_live_dedupe")
      .on(table.workspaceId, table.mailboxId, table.dedupeKey)
      .where(sql`${table.status} in ('Queued', 'Claimed')`),
    index("jobs_claim_order")
      .on(table.workspaceId, table.outside, table.priority, table.createdAt, table.jobId)
      .where(sql`${table.status} = 'Queued'`),
    // Without the workspace: the sweep looks for lapses across all of them, and a claim that asks whether a mailbox is taken would
    // as soon read every lease of the workspace here as the one row of `jobs_one_claimed_a_mailbox`.
    index("jobs_lease").on(table.leaseUntil).where(sql`${table.status} = 'Claimed'`),
    index("jobs_of_run").on(table.workspaceId, table.run),
    index("jobs_newest").on(table.workspaceId, table.status, table.createdAt, table.jobId),
  ],
);

/** Processes that poll, and when they were last seen; not of any workspace. */
export const workers = pgTable("workers", {
  workerId: text("worker_id").primaryKey(),
  startedAt: writtenAt("started_at"),
  lastSeenAt: writtenAt("last_seen_at"),
});
