import { foreignKey, integer, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { instant, oneOf, workspaceId, writtenAt } from "./columns";
import { workspaces } from "./workspaces";

export const SANDBOX_POLICIES = ["eager", "on_tool_use"] as const;

/** One conversation space [S3]. No secret is ever here. */
export const sessions = pgTable(
  "sessions",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    id: uuid().notNull(),
    environment: text(),
    sandboxPolicy: text("sandbox_policy", { enum: SANDBOX_POLICIES }).notNull().default("on_tool_use"),
    protocol: text(),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    oneOf("sessions_sandbox_policy", table.sandboxPolicy, SANDBOX_POLICIES),
  ],
);

/** A credential's revision is pinned before the run. */
export const sessionCredentials = pgTable(
  "session_credentials",
  {
    workspaceId: workspaceId(),
    sessionId: uuid("session_id").notNull(),
    credentialId: text("credential_id").notNull(),
    revision: integer().notNull(),
    usage: text().notNull(),
    holderPolicy: text("holder_policy"),
    admittedAt: instant("admitted_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.sessionId, table.credentialId] }),
    foreignKey({
      name: "session_credentials_session",
      columns: [table.workspaceId, table.sessionId],
      foreignColumns: [sessions.workspaceId, sessions.id],
    }),
  ],
);

/** One history, whatever protocol wrote it [S3]. */
export const threads = pgTable(
  "threads",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    threadId: text("thread_id").notNull(),
    createdAt: writtenAt("created_at"),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.threadId] })],
);

/** A resent message is the same one: `source_id` is unique in its thread. */
export const messages = pgTable(
  "messages",
  {
    workspaceId: workspaceId(),
    threadId: text("thread_id").notNull(),
    seq: integer().notNull(),
    sourceId: text("source_id").notNull(),
    role: text().notNull(),
    content: text().notNull(),
    wire: text().notNull(),
    at: writtenAt("at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.threadId, table.seq] }),
    unique("messages_source").on(table.workspaceId, table.threadId, table.sourceId),
    foreignKey({
      name: "messages_thread",
      columns: [table.workspaceId, table.threadId],
      foreignColumns: [threads.workspaceId, threads.threadId],
    }),
  ],
);
