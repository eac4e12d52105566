import { boolean, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, writtenAt } from "./columns";
import { people } from "./workspaces";

/** Sign-in's own tables. The JS keys are the field names the sign-in library looks up. */
export const authUsers = pgTable("auth_users", {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean("email_verified").notNull().default(false),
  image: text(),
  personId: uuid("person_id").references(() => people.id),
  createdAt: writtenAt("created_at"),
  updatedAt: writtenAt("updated_at"),
});

export const authSessions = pgTable("auth_sessions", {
  id: text().primaryKey(),
  expiresAt: instant("expires_at").notNull(),
  token: text().notNull().unique(),
  ipAddress: text("ip_address"),
  userAgent: text("user_agent"),
  userId: text("user_id")
    .notNull()
    .references(() => authUsers.id, { onDelete: "cascade" }),
  createdAt: writtenAt("created_at"),
  updatedAt: writtenAt("updated_at"),
});

export const authAccounts = pgTable("auth_accounts", {
  id: text().primaryKey(),
  accountId: text("account_id").notNull(),
  providerId: text("provider_id").notNull(),
  userId: text("user_id")
    .notNull()
    .references(() => authUsers.id, { onDelete: "cascade" }),
  accessToken: text("access_token"),
  refreshToken: text("refresh_token"),
  idToken: text("id_token"),
  accessTokenExpiresAt: instant("access_token_expires_at"),
  refreshTokenExpiresAt: instant("refresh_token_expires_at"),
  scope: text(),
  password: text(),
  createdAt: writtenAt("created_at"),
  updatedAt: writtenAt("updated_at"),
});

export const authVerifications = pgTable("auth_verifications", {
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  expiresAt: instant("expires_at").notNull(),
  createdAt: writtenAt("created_at"),
  updatedAt: writtenAt("updated_at"),
});

/** One-time sign-in links: only the token's hash is kept. */
export const authLinks = pgTable("auth_links", {
  tokenSha256: text("token_sha256").primaryKey(),
  /** Null for the first owner's link: whoever claims it becomes that person. */
  personId: uuid("person_id").references(() => people.id),
  expiresAt: instant("expires_at").notNull(),
  usedAt: instant("used_at"),
  createdAt: writtenAt("created_at"),
});
