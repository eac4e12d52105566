import { sql } from "drizzle-orm";
import {
  bigint,
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
import {
  BATCH_MODES,
  CALL_OUTCOMES,
  CALL_STATUSES,
  COUPLINGS,
  IDEMPOTENCY_CLASSES,
  ON_DENY,
  OUTCOME_CAUSES,
  RESUME_MODES,
} from "@/lib/protocol/call";
import { instant, oneOf, workspaceId, writtenAt } from "./columns";
import { runs } from "./runs";

/** The calls of one model step; a resubmitted step is known by its content hash. */
export const batches = pgTable(
  "batches",
  {
    workspaceId: workspaceId(),
    run: uuid().notNull(),
    step: integer().notNull(),
    mode: text({ enum: BATCH_MODES }).notNull(),
    coupling: text({ enum: COUPLINGS }).notNull(),
    contentHash: text("content_hash").notNull(),
    stateSha256: text("state_sha256"),
    createdAt: writtenAt("created_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.run, table.step] }),
    foreignKey({
      name: "batches_run",
      columns: [table.workspaceId, table.run],
      foreignColumns: [runs.workspaceId, runs.id],
    }),
    oneOf("batches_mode", table.mode, BATCH_MODES),
    oneOf("batches_coupling", table.coupling, COUPLINGS),
    check("batches_step", sql`${table.step} >= 1`),
  ],
);

export const AUTHORISED_BY = ["person", "rule", "break_glass"] as const;

/**
 * One tool call at its place in a batch. `args` and `target` are canonical JSON text: what was hashed is
 * what is stored, shown and executed. `claimed_by` (the process) and `claim_key` (its idempotency key)
 * together, and only together, get a live grant again.
 */
export const calls = pgTable(
  "calls",
  {
    workspaceId: workspaceId(),
    run: uuid().notNull(),
    step: integer().notNull(),
    batchIndex: integer("batch_index").notNull(),
    editNo: integer("edit_no").notNull().default(0),
    callRef: text("call_ref").notNull(),
    callId: text("call_id"),
    action: text().notNull(),
    args: text().notNull(),
    target: text().notNull(),
    proposalHash: text("proposal_hash").notNull(),
    mcpServer: text("mcp_server"),
    why: text(),
    declaredClass: text("declared_class", { enum: IDEMPOTENCY_CLASSES }),
    effectiveClass: text("effective_class", { enum: IDEMPOTENCY_CLASSES }).notNull(),
    resumeMode: text("resume_mode", { enum: RESUME_MODES }).notNull(),
    onDeny: text("on_deny", { enum: ON_DENY }).notNull(),
    /** How its ticket is to be opened, as canonical JSON: a queued call's deadline counts from its opening. */
    waitTerms: text("wait_terms").notNull(),
    ruleId: text("rule_id"),
    status: text({ enum: CALL_STATUSES }).notNull(),
    outcome: text({ enum: CALL_OUTCOMES }),
    outcomeCause: text("outcome_cause", { enum: OUTCOME_CAUSES }),
    attempt: integer().notNull().default(0),
    /** An attempt was granted and has not reported: the effect may or may not have happened. */
    unreported: boolean().notNull().default(false),
    claimKey: text("claim_key"),
    claimToken: uuid("claim_token"),
    claimedBy: text("claimed_by"),
    claimJob: uuid("claim_job"),
    leaseUntil: instant("lease_until"),
    effectKey: text("effect_key"),
    authorisedBy: text("authorised_by", { enum: AUTHORISED_BY }),
    approvalRequestId: text("approval_request_id"),
    approvalHash: text("approval_hash"),
    policyVersion: integer("policy_version"),
    authorisedAt: instant("authorised_at"),
    allowValidUntil: bigint("allow_valid_until", { mode: "number" }),
    /** The approver's own words to the executor. */
    note: text(),
    result: text(),
    resultHash: text("result_hash"),
    error: text(),
    late: boolean().notNull().default(false),
    settledBy: text("settled_by"),
    evidence: text(),
    editedFrom: text("edited_from"),
    reboundFrom: text("rebound_from"),
    createdAt: writtenAt("created_at"),
    endedAt: instant("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.run, table.step, table.batchIndex, table.editNo] }),
    unique("calls_call_ref").on(table.workspaceId, table.run, table.callRef),
    foreignKey({
      name: "calls_batch",
      columns: [table.workspaceId, table.run, table.step],
      foreignColumns: [batches.workspaceId, batches.run, batches.step],
    }),
    oneOf("calls_status", table.status, CALL_STATUSES),
    oneOf("calls_effective_class", table.effectiveClass, IDEMPOTENCY_CLASSES),
    oneOf("calls_resume_mode", table.resumeMode, RESUME_MODES),
    oneOf("calls_on_deny", table.onDeny, ON_DENY),
    check(
      "calls_outcome",
      sql`(${table.status} = 'completed') = (${table.outcome} is not null)
        and (${table.outcome} is null) = (${table.outcomeCause} is null)
        and (${table.outcome} is null or ${table.outcome} in (${sql.raw(CALL_OUTCOMES.map((o) => `'${o}'`).join(", "))}))`,
    ),
    check(
      "calls_executing_under_a_lease",
      sql`(${table.status} = 'executing') = (${table.leaseUntil} is not null and ${table.claimToken} is not null)`,
    ),
    check(
      "calls_no_effect_without_an_authorisation",
      sql`(${table.status} not in ('approved', 'executing', 'indeterminate')
          and ${table.outcomeCause} is distinct from 'executed')
        or (${table.authorisedBy} is not null and ${table.approvalRequestId} is not null
          and ${table.approvalHash} is not null and ${table.authorisedAt} is not null)`,
    ),
    index("calls_unfinished").on(table.workspaceId, table.run).where(sql`${table.status} <> 'completed'`),
    index("calls_lease").on(table.leaseUntil).where(sql`${table.status} = 'executing'`),
    index("calls_call_id").on(table.workspaceId, table.run, table.callId).where(sql`${table.callId} is not null`),
    index("calls_proposal_hash").on(table.workspaceId, table.run, table.proposalHash),
  ],
);
