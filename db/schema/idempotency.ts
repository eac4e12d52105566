import { index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant, workspaceId, writtenAt } from "./columns";
import { workspaces } from "./workspaces";

/** Scoped to the principal, so that nobody replays another's answer. Only 2xx answers are kept, for a day. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    principalId: uuid("principal_id").notNull(),
    method: text().notNull(),
    path: text().notNull(),
    key: text().notNull(),
    bodySha256: text("body_sha256").notNull(),
    status: integer().notNull(),
    response: text().notNull(),
    createdAt: writtenAt("created_at"),
    expiresAt: instant("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.principalId, table.method, table.path, table.key] }),
    index("idempotency_keys_expiry").on(table.expiresAt),
  ],
);
