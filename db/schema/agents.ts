import { boolean, foreignKey, integer, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { workspaceId, writtenAt } from "./columns";
import { principals, workspaces } from "./workspaces";

/** A named definition. The name belongs to the first principal that uses it, or to those an owner names. */
export const agents = pgTable(
  "agents",
  {
    workspaceId: workspaceId().references(() => workspaces.id),
    id: uuid().notNull(),
    name: text().notNull(),
    ownerPrincipalId: uuid("owner_principal_id").notNull(),
    isDemo: boolean("is_demo").notNull().default(false),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("agents_name").on(table.workspaceId, table.name),
    foreignKey({
      name: "agents_owner",
      columns: [table.workspaceId, table.ownerPrincipalId],
      foreignColumns: [principals.workspaceId, principals.id],
    }),
  ],
);

export const agentOwners = pgTable(
  "agent_owners",
  { workspaceId: workspaceId(), agentId: uuid("agent_id").notNull(), principalId: uuid("principal_id").notNull() },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.agentId, table.principalId] }),
    foreignKey({
      name: "agent_owners_agent",
      columns: [table.workspaceId, table.agentId],
      foreignColumns: [agents.workspaceId, agents.id],
    }),
    foreignKey({
      name: "agent_owners_principal",
      columns: [table.workspaceId, table.principalId],
      foreignColumns: [principals.workspaceId, principals.id],
    }),
  ],
);

/** A frozen agent: which provider, model, tools and MCP connections a run was opened with. Refuses update. */
export const agentSnapshots = pgTable(
  "agent_snapshots",
  {
    workspaceId: workspaceId(),
    snapshotId: text("snapshot_id").notNull(),
    agentId: uuid("agent_id").notNull(),
    contentHash: text("content_hash").notNull(),
    catalogFingerprint: text("catalog_fingerprint").notNull(),
    /** The tools, sorted by name, as canonical JSON; `[]` names none. */
    catalog: text().notNull(),
    provider: text(),
    model: text(),
    mcpServers: text("mcp_servers"),
    build: text(),
    /** How an agent of the worker goes on, as canonical JSON: controller, instructions, budget. Null: it runs elsewhere. */
    definition: text(),
    policyVersion: integer("policy_version"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.snapshotId] }),
    unique("agent_snapshots_content").on(table.workspaceId, table.agentId, table.contentHash),
    foreignKey({
      name: "agent_snapshots_agent",
      columns: [table.workspaceId, table.agentId],
      foreignColumns: [agents.workspaceId, agents.id],
    }),
  ],
);

/** One policy an agent; the row points at its newest version. */
export const policies = pgTable(
  "policies",
  {
    workspaceId: workspaceId(),
    id: uuid().notNull(),
    agentId: uuid("agent_id").notNull(),
    currentVersion: integer("current_version").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("policies_agent").on(table.workspaceId, table.agentId),
    foreignKey({
      name: "policies_agent_fk",
      columns: [table.workspaceId, table.agentId],
      foreignColumns: [agents.workspaceId, agents.id],
    }),
  ],
);

/** What a call was judged by stays what it was: rows refuse update. */
export const policyVersions = pgTable(
  "policy_versions",
  {
    workspaceId: workspaceId(),
    policyId: uuid("policy_id").notNull(),
    version: integer().notNull(),
    /** Canonical JSON `{default, rules}`. */
    document: text().notNull(),
    contentHash: text("content_hash").notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.policyId, table.version] }),
    foreignKey({
      name: "policy_versions_policy",
      columns: [table.workspaceId, table.policyId],
      foreignColumns: [policies.workspaceId, policies.id],
    }),
  ],
);
