import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { AWAIT_PAIRS } from "@/lib/protocol/await-target";
import { ON_DENY, ON_EXPIRY, RISKS } from "@/lib/protocol/call";
import { SURFACES } from "@/lib/protocol/principal";
import { CLOSED_BY_KINDS, TICKET_STATUSES } from "@/lib/protocol/ticket";
import { calls } from "./calls";
import { instant, oneOf, workspaceId, writtenAt } from "./columns";
import { runs } from "./runs";
import { people, principals } from "./workspaces";

/** The committed, unique identity of one wait. Once closed it is never written again. */
export const tickets = pgTable(
  "tickets",
  {
    workspaceId: workspaceId(),
    id: uuid().notNull(),
    correlationId: text("correlation_id").notNull(),
    run: uuid().notNull(),
    callRef: text("call_ref"),
    targetKind: text("target_kind").notNull(),
    targetReason: text("target_reason").notNull(),
    toolId: text("tool_id"),
    snapshotId: text("snapshot_id").notNull(),
    catalogFingerprint: text("catalog_fingerprint").notNull(),
    delegationOrigin: text("delegation_origin"),
    revision: integer().notNull().default(1),
    status: text({ enum: TICKET_STATUSES }).notNull().default("open"),
    supersedes: uuid(),
    openedAt: writtenAt("opened_at"),
    deadlineMs: bigint("deadline_ms", { mode: "number" }),
    /** Set while open under `hold`: the run still waits, and nobody's answer counts any more. */
    expiredAt: instant("expired_at"),
    onExpiry: text("on_expiry", { enum: ON_EXPIRY }).notNull(),
    allowValidMs: bigint("allow_valid_ms", { mode: "number" }),
    undoMs: bigint("undo_ms", { mode: "number" }).notNull().default(0),
    quorumNeeded: integer("quorum_needed").notNull().default(1),
    group: text(),
    assignee: uuid().references(() => people.id),
    prompt: text(),
    schema: text(),
    options: text(),
    risk: text({ enum: RISKS }).notNull(),
    onDeny: text("on_deny", { enum: ON_DENY }).notNull(),
    ruleId: text("rule_id"),
    ruleVersion: integer("rule_version"),
    closedByKind: text("closed_by_kind", { enum: CLOSED_BY_KINDS }),
    closedByActor: text("closed_by_actor"),
    closedByVerdict: text("closed_by_verdict"),
    closedAt: instant("closed_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("tickets_correlation").on(table.workspaceId, table.correlationId),
    foreignKey({
      name: "tickets_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    foreignKey({
      name: "tickets_call",
      columns: [table.workspaceId, table.run, table.callRef],
      foreignColumns: [calls.workspaceId, calls.run, calls.callRef],
    }),
    foreignKey({
      name: "tickets_supersedes",
      columns: [table.workspaceId, table.supersedes],
      foreignColumns: [table.workspaceId, table.id],
    }),
    oneOf("tickets_status", table.status, TICKET_STATUSES),
    oneOf("tickets_on_expiry", table.onExpiry, ON_EXPIRY),
    oneOf("tickets_on_deny", table.onDeny, ON_DENY),
    oneOf("tickets_risk", table.risk, RISKS),
    check(
      "tickets_target_pair",
      sql`(${table.targetKind}, ${table.targetReason}) in (${sql.raw(AWAIT_PAIRS.map(([k, r]) => `('${k}', '${r}')`).join(", "))})`,
    ),
    check(
      "tickets_target_parts",
      sql`(${table.callRef} is not null) = (${table.targetKind} in ('tool_call', 'remote_input'))
        and (${table.toolId} is not null) = (${table.targetKind} = 'tool_call')`,
    ),
    check(
      "tickets_closed_says_how",
      sql`(${table.status} = 'open') = (${table.closedByKind} is null) and (${table.status} = 'open') = (${table.closedAt} is null)`,
    ),
    check("tickets_quorum", sql`${table.quorumNeeded} >= 1`),
    // Only of those that do: with every ticket in it, a plan made while the tables were small could read a whole workspace here.
    uniqueIndex("tickets_one_successor")
      .on(table.workspaceId, table.supersedes)
      .where(sql`${table.supersedes} is not null`),
    uniqueIndex("tickets_one_wait_a_call")
      .on(table.workspaceId, table.run, table.callRef)
      .where(sql`${table.status} = 'open' and ${table.callRef} is not null`),
    // Without the workspace: the sweep looks over all of them.
    index("tickets_due")
      .on(table.deadlineMs)
      .where(sql`${table.status} = 'open' and ${table.expiredAt} is null and ${table.deadlineMs} is not null`),
    // Never `coalesce`: PostgreSQL does not count it among what cannot leak a row, so that under row security no condition on it
    // would use the index, and a deep page would read all that stands before it.
    index("tickets_inbox")
      .on(
        table.workspaceId,
        sql`(case when ${table.deadlineMs} is null then 9223372036854775807 else ${table.deadlineMs} end)`,
        table.id,
      )
      .where(sql`${table.status} = 'open'`),
    index("tickets_expired")
      .on(table.workspaceId, table.run)
      .where(sql`${table.status} = 'open' and ${table.expiredAt} is not null`),
    index("tickets_decided")
      .on(table.workspaceId, table.toolId, table.closedAt)
      .where(sql`${table.status} = 'answered' and ${table.toolId} is not null`),
    index("tickets_of_call").on(table.workspaceId, table.run, table.callRef, table.openedAt),
  ],
);

export const VERDICTS = ["allow", "deny", "answer", "continue"] as const;

/** One person's verdict. Insert only. A resend gets the first answer, and only its own person does. */
export const votes = pgTable(
  "votes",
  {
    workspaceId: workspaceId(),
    id: uuid().notNull(),
    ticketId: uuid("ticket_id").notNull(),
    principalId: uuid("principal_id").notNull(),
    /** Null for the command line, which is never shown as a person. */
    personId: uuid("person_id").references(() => people.id),
    decisionId: text("decision_id").notNull(),
    verdict: text({ enum: VERDICTS }).notNull(),
    reason: text(),
    note: text(),
    payload: text(),
    proposalHash: text("proposal_hash"),
    viewDigest: text("view_digest"),
    surface: text({ enum: SURFACES }).notNull(),
    bodySha256: text("body_sha256").notNull(),
    firstAnswer: text("first_answer").notNull(),
    delegatedFor: uuid("delegated_for").references(() => people.id),
    authMethod: text("auth_method"),
    credentialRef: text("credential_ref"),
    signature: text(),
    at: writtenAt("at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    unique("votes_one_a_person").on(table.workspaceId, table.ticketId, table.personId),
    unique("votes_one_a_decision_id").on(table.workspaceId, table.principalId, table.decisionId),
    foreignKey({
      name: "votes_ticket",
      columns: [table.workspaceId, table.ticketId],
      foreignColumns: [tickets.workspaceId, tickets.id],
    }),
    foreignKey({
      name: "votes_principal",
      columns: [table.workspaceId, table.principalId],
      foreignColumns: [principals.workspaceId, principals.id],
    }),
    oneOf("votes_verdict", table.verdict, VERDICTS),
  ],
);

export const DECIDED_VIA = ["person", "rule", "break_glass", "expiry", "agent", "system", "cli"] as const;

/** The ticket's one outcome, however many votes. Insert only, but for `undone_at` and `voided_at`, each set once. */
export const decisions = pgTable(
  "decisions",
  {
    workspaceId: workspaceId(),
    ticketId: uuid("ticket_id").notNull(),
    via: text({ enum: DECIDED_VIA }).notNull(),
    verdict: text().notNull(),
    actor: text().notNull(),
    personId: uuid("person_id").references(() => people.id),
    approvalRequestId: text("approval_request_id").notNull(),
    approvalHash: text("approval_hash"),
    /** The answer, payload or result as canonical JSON. */
    result: text(),
    reason: text(),
    note: text(),
    policyVersion: integer("policy_version"),
    decidedAt: instant("decided_at").notNull(),
    effectiveAt: instant("effective_at").notNull(),
    undoneAt: instant("undone_at"),
    voidedAt: instant("voided_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.ticketId] }),
    foreignKey({
      name: "decisions_ticket",
      columns: [table.workspaceId, table.ticketId],
      foreignColumns: [tickets.workspaceId, tickets.id],
    }),
    oneOf("decisions_via", table.via, DECIDED_VIA),
  ],
);
