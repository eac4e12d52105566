import { boolean, foreignKey, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { PRINCIPAL_KINDS, ROLES } from "@/lib/protocol/principal";
import { citext, instant, oneOf, workspaceId, writtenAt } from "./columns";

/** The tenant. A suspended one decides nothing. */
export const workspaces = pgTable("workspaces", {
  id: uuid().primaryKey(),
  slug: text().notNull().unique(),
  name: text().notNull(),
  /** Canonical JSON: `forbid_key_owner`, `denied_limit`. */
  settings: text().notNull().default("{}"),
  isDemo: boolean("is_demo").notNull().default(false),
  suspendedAt: instant("suspended_at"),
  createdAt: writtenAt("created_at"),
});

/** Identity is the person: one vote, whatever the sign-in. */
export const people = pgTable("people", {
  id: uuid().primaryKey(),
  email: citext().notNull().unique(),
  name: text().notNull(),
  createdAt: writtenAt("created_at"),
});

/** Read at decision time, never cached. */
export const members = pgTable(
  "members",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    personId: uuid("person_id")
      .notNull()
      .references(() => people.id),
    role: text({ enum: ROLES }).notNull(),
    disabledAt: instant("disabled_at"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.personId] }), oneOf("members_role", table.role, ROLES)],
);

/** Runs belong to principals, so that a new key loses nothing. */
export const principals = pgTable(
  "principals",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    id: uuid().notNull(),
    kind: text({ enum: PRINCIPAL_KINDS }).notNull(),
    name: text().notNull(),
    personId: uuid("person_id").references(() => people.id),
    /** Who made the agent's key; null for keys made on the command line. */
    ownerPersonId: uuid("owner_person_id").references(() => people.id),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("principals_name").on(table.workspaceId, table.kind, table.name),
    unique("principals_person").on(table.workspaceId, table.personId),
    oneOf("principals_kind", table.kind, PRINCIPAL_KINDS),
  ],
);

/** Found by prefix, compared by hash; the key itself is never stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    workspaceId: workspaceId(),
    id: uuid().notNull(),
    principalId: uuid("principal_id").notNull(),
    kind: text({ enum: PRINCIPAL_KINDS }).notNull(),
    prefix: text().notNull().unique(),
    sha256: text().notNull(),
    scopes: text().notNull().default("[]"),
    expiresAt: instant("expires_at"),
    revokedAt: instant("revoked_at"),
    rotatedFrom: uuid("rotated_from"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    foreignKey({
      name: "api_keys_principal",
      columns: [table.workspaceId, table.principalId],
      foreignColumns: [principals.workspaceId, principals.id],
    }),
    oneOf("api_keys_kind", table.kind, PRINCIPAL_KINDS),
  ],
);
