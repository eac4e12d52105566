CREATE EXTENSION IF NOT EXISTS citext;--> statement-breakpoint
CREATE TABLE "agent_owners" (
	"workspace_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"principal_id" uuid NOT NULL,
	CONSTRAINT "agent_owners_workspace_id_agent_id_principal_id_pk" PRIMARY KEY("workspace_id","agent_id","principal_id")
);
--> statement-breakpoint
CREATE TABLE "agent_snapshots" (
	"workspace_id" uuid NOT NULL,
	"snapshot_id" text NOT NULL,
	"agent_id" uuid NOT NULL,
	"content_hash" text NOT NULL,
	"catalog_fingerprint" text NOT NULL,
	"catalog" text NOT NULL,
	"provider" text,
	"model" text,
	"mcp_servers" text,
	"build" text,
	"policy_version" integer,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "agent_snapshots_workspace_id_snapshot_id_pk" PRIMARY KEY("workspace_id","snapshot_id"),
	CONSTRAINT "agent_snapshots_content" UNIQUE("workspace_id","agent_id","content_hash")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"name" text NOT NULL,
	"owner_principal_id" uuid NOT NULL,
	"is_demo" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "agents_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "agents_name" UNIQUE("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "policies" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"current_version" integer NOT NULL,
	CONSTRAINT "policies_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "policies_agent" UNIQUE("workspace_id","agent_id")
);
--> statement-breakpoint
CREATE TABLE "policy_versions" (
	"workspace_id" uuid NOT NULL,
	"policy_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"document" text NOT NULL,
	"content_hash" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "policy_versions_workspace_id_policy_id_version_pk" PRIMARY KEY("workspace_id","policy_id","version")
);
--> statement-breakpoint
CREATE TABLE "auth_accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp (6) with time zone,
	"refresh_token_expires_at" timestamp (6) with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "auth_links" (
	"token_sha256" text PRIMARY KEY NOT NULL,
	"person_id" uuid,
	"expires_at" timestamp (6) with time zone NOT NULL,
	"used_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "auth_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	"token" text NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"user_id" text NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "auth_sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "auth_users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"person_id" uuid,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "auth_users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "auth_verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "batches" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"step" integer NOT NULL,
	"mode" text NOT NULL,
	"coupling" text NOT NULL,
	"content_hash" text NOT NULL,
	"state_sha256" text,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "batches_workspace_id_run_step_pk" PRIMARY KEY("workspace_id","run","step"),
	CONSTRAINT "batches_mode" CHECK ("batches"."mode" in ('parallel', 'sequential', 'parallel_streaming')),
	CONSTRAINT "batches_coupling" CHECK ("batches"."coupling" in ('independent', 'all_or_nothing')),
	CONSTRAINT "batches_step" CHECK ("batches"."step" >= 1)
);
--> statement-breakpoint
CREATE TABLE "calls" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"step" integer NOT NULL,
	"batch_index" integer NOT NULL,
	"edit_no" integer DEFAULT 0 NOT NULL,
	"call_ref" text NOT NULL,
	"call_id" text,
	"action" text NOT NULL,
	"args" text NOT NULL,
	"target" text NOT NULL,
	"proposal_hash" text NOT NULL,
	"mcp_server" text,
	"why" text,
	"declared_class" text,
	"effective_class" text NOT NULL,
	"resume_mode" text NOT NULL,
	"on_deny" text NOT NULL,
	"wait_terms" text NOT NULL,
	"rule_id" text,
	"status" text NOT NULL,
	"outcome" text,
	"outcome_cause" text,
	"attempt" integer DEFAULT 0 NOT NULL,
	"unreported" boolean DEFAULT false NOT NULL,
	"claim_key" text,
	"claim_token" uuid,
	"claimed_by" text,
	"claim_job" uuid,
	"lease_until" timestamp (6) with time zone,
	"effect_key" text,
	"authorised_by" text,
	"approval_request_id" text,
	"approval_hash" text,
	"policy_version" integer,
	"authorised_at" timestamp (6) with time zone,
	"allow_valid_until" bigint,
	"note" text,
	"result" text,
	"result_hash" text,
	"error" text,
	"late" boolean DEFAULT false NOT NULL,
	"settled_by" text,
	"evidence" text,
	"edited_from" text,
	"rebound_from" text,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp (6) with time zone,
	CONSTRAINT "calls_workspace_id_run_step_batch_index_edit_no_pk" PRIMARY KEY("workspace_id","run","step","batch_index","edit_no"),
	CONSTRAINT "calls_call_ref" UNIQUE("workspace_id","run","call_ref"),
	CONSTRAINT "calls_status" CHECK ("calls"."status" in ('requested', 'queued', 'awaiting', 'approved', 'executing', 'indeterminate', 'completed')),
	CONSTRAINT "calls_effective_class" CHECK ("calls"."effective_class" in ('create_new', 'idempotency_key', 'read_only', 'none')),
	CONSTRAINT "calls_resume_mode" CHECK ("calls"."resume_mode" in ('replay_tool_call', 'use_decision_as_tool_result', 'pass_decision_to_tool')),
	CONSTRAINT "calls_on_deny" CHECK ("calls"."on_deny" in ('continue', 'stop_run')),
	CONSTRAINT "calls_outcome" CHECK (("calls"."status" = 'completed') = ("calls"."outcome" is not null)
        and ("calls"."outcome" is null) = ("calls"."outcome_cause" is null)
        and ("calls"."outcome" is null or "calls"."outcome" in ('succeeded', 'failed', 'blocked', 'cancelled'))),
	CONSTRAINT "calls_executing_under_a_lease" CHECK (("calls"."status" = 'executing') = ("calls"."lease_until" is not null and "calls"."claim_token" is not null)),
	CONSTRAINT "calls_no_effect_without_an_authorisation" CHECK (("calls"."status" not in ('approved', 'executing', 'indeterminate')
          and "calls"."outcome_cause" is distinct from 'executed')
        or ("calls"."authorised_by" is not null and "calls"."approval_request_id" is not null
          and "calls"."approval_hash" is not null and "calls"."authorised_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"workspace_id" uuid NOT NULL,
	"principal_id" uuid NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"key" text NOT NULL,
	"body_sha256" text NOT NULL,
	"status" integer NOT NULL,
	"response" text NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (6) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_workspace_id_principal_id_method_path_key_pk" PRIMARY KEY("workspace_id","principal_id","method","path","key")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"workspace_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"mailbox_id" text NOT NULL,
	"agent_id" uuid,
	"kind" text NOT NULL,
	"run" uuid,
	"ticket_id" uuid,
	"messages" text,
	"origin" text NOT NULL,
	"sender_id" text,
	"parent_run_id" text,
	"request_extras" text,
	"priority" smallint DEFAULT 128 NOT NULL,
	"dedupe_key" text,
	"generation" integer NOT NULL,
	"status" text DEFAULT 'Queued' NOT NULL,
	"available_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"max_attempts" integer DEFAULT 5 NOT NULL,
	"last_error" text,
	"claim_token" uuid,
	"claimed_by" text,
	"lease_until" timestamp (6) with time zone,
	"result" text,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "jobs_workspace_id_job_id_pk" PRIMARY KEY("workspace_id","job_id"),
	CONSTRAINT "jobs_status" CHECK ("jobs"."status" in ('Queued', 'Claimed', 'Accepted', 'DeadLetter', 'Cancelled', 'Superseded')),
	CONSTRAINT "jobs_kind" CHECK ("jobs"."kind" in ('request', 'resume', 'cancel', 'notice')),
	CONSTRAINT "jobs_origin" CHECK ("jobs"."origin" in ('User', 'A2A', 'Internal')),
	CONSTRAINT "jobs_priority" CHECK ("jobs"."priority" between 0 and 255),
	CONSTRAINT "jobs_claimed_under_a_lease" CHECK (("jobs"."status" = 'Claimed') = ("jobs"."claim_token" is not null and "jobs"."lease_until" is not null))
);
--> statement-breakpoint
CREATE TABLE "mailboxes" (
	"workspace_id" uuid NOT NULL,
	"mailbox_id" text NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "mailboxes_workspace_id_mailbox_id_pk" PRIMARY KEY("workspace_id","mailbox_id")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"worker_id" text PRIMARY KEY NOT NULL,
	"started_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"last_seen_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_states" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"sha256" text NOT NULL,
	"format" text,
	"version" text,
	"bytes" "bytea",
	"ref" text,
	"bound_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "run_states_workspace_id_run_sha256_pk" PRIMARY KEY("workspace_id","run","sha256"),
	CONSTRAINT "run_states_held_or_named" CHECK ("run_states"."bytes" is not null or "run_states"."ref" is not null)
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"run_id" text NOT NULL,
	"agent_id" uuid NOT NULL,
	"snapshot_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"session_id" uuid,
	"executor" text NOT NULL,
	"principal_id" uuid NOT NULL,
	"on_behalf_of" uuid,
	"parent_run" uuid,
	"parent_call" text,
	"root_run" uuid,
	"depth" integer DEFAULT 0 NOT NULL,
	"origin" text,
	"cause" text,
	"cause_code" text,
	"ended_by" text,
	"ended_at" timestamp (6) with time zone,
	"output" text,
	"open_tickets" integer DEFAULT 0 NOT NULL,
	"state" text GENERATED ALWAYS AS (case when cause is not null then 'ended' when open_tickets > 0 then 'awaiting' else 'running' end) STORED NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"rejected_signals" integer DEFAULT 0 NOT NULL,
	"stalled_reason" text,
	"resume_failed" text,
	"last_seen_at" timestamp (6) with time zone,
	"is_demo" boolean DEFAULT false NOT NULL,
	"archived_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "runs_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "runs_run_id" UNIQUE("workspace_id","run_id"),
	CONSTRAINT "runs_executor" CHECK ("runs"."executor" in ('worker', 'client', 'cli')),
	CONSTRAINT "runs_cause" CHECK ("runs"."cause" is null or "runs"."cause" in ('completed', 'cancelled', 'stopped', 'failed', 'budget_exhausted', 'indeterminate')),
	CONSTRAINT "runs_open_tickets_counted" CHECK ("runs"."open_tickets" >= 0),
	CONSTRAINT "runs_ended_has_no_open_ticket" CHECK ("runs"."cause" is null or "runs"."open_tickets" = 0),
	CONSTRAINT "runs_ended_when" CHECK (("runs"."cause" is null) = ("runs"."ended_at" is null))
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"workspace_id" uuid NOT NULL,
	"thread_id" text NOT NULL,
	"seq" integer NOT NULL,
	"source_id" text NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"wire" text NOT NULL,
	"at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "messages_workspace_id_thread_id_seq_pk" PRIMARY KEY("workspace_id","thread_id","seq"),
	CONSTRAINT "messages_source" UNIQUE("workspace_id","thread_id","source_id")
);
--> statement-breakpoint
CREATE TABLE "session_credentials" (
	"workspace_id" uuid NOT NULL,
	"session_id" uuid NOT NULL,
	"credential_id" text NOT NULL,
	"revision" integer NOT NULL,
	"usage" text NOT NULL,
	"holder_policy" text,
	"admitted_at" timestamp (6) with time zone,
	CONSTRAINT "session_credentials_workspace_id_session_id_credential_id_pk" PRIMARY KEY("workspace_id","session_id","credential_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"environment" text,
	"sandbox_policy" text DEFAULT 'on_tool_use' NOT NULL,
	"protocol" text,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "sessions_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "sessions_sandbox_policy" CHECK ("sessions"."sandbox_policy" in ('eager', 'on_tool_use'))
);
--> statement-breakpoint
CREATE TABLE "threads" (
	"workspace_id" uuid NOT NULL,
	"thread_id" text NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "threads_workspace_id_thread_id_pk" PRIMARY KEY("workspace_id","thread_id")
);
--> statement-breakpoint
CREATE TABLE "decisions" (
	"workspace_id" uuid NOT NULL,
	"ticket_id" uuid NOT NULL,
	"via" text NOT NULL,
	"verdict" text NOT NULL,
	"actor" text NOT NULL,
	"person_id" uuid,
	"approval_request_id" text NOT NULL,
	"approval_hash" text,
	"result" text,
	"reason" text,
	"note" text,
	"policy_version" integer,
	"decided_at" timestamp (6) with time zone NOT NULL,
	"effective_at" timestamp (6) with time zone NOT NULL,
	"undone_at" timestamp (6) with time zone,
	"voided_at" timestamp (6) with time zone,
	CONSTRAINT "decisions_workspace_id_ticket_id_pk" PRIMARY KEY("workspace_id","ticket_id"),
	CONSTRAINT "decisions_via" CHECK ("decisions"."via" in ('person', 'rule', 'break_glass', 'expiry', 'agent', 'system', 'cli'))
);
--> statement-breakpoint
CREATE TABLE "tickets" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"correlation_id" text NOT NULL,
	"run" uuid NOT NULL,
	"call_ref" text,
	"target_kind" text NOT NULL,
	"target_reason" text NOT NULL,
	"tool_id" text,
	"snapshot_id" text NOT NULL,
	"catalog_fingerprint" text NOT NULL,
	"delegation_origin" text,
	"revision" integer DEFAULT 1 NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"supersedes" uuid,
	"opened_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"deadline_ms" bigint,
	"expired_at" timestamp (6) with time zone,
	"on_expiry" text NOT NULL,
	"allow_valid_ms" bigint,
	"undo_ms" bigint DEFAULT 0 NOT NULL,
	"quorum_needed" integer DEFAULT 1 NOT NULL,
	"group" text,
	"assignee" uuid,
	"prompt" text,
	"schema" text,
	"options" text,
	"risk" text NOT NULL,
	"on_deny" text NOT NULL,
	"rule_id" text,
	"rule_version" integer,
	"closed_by_kind" text,
	"closed_by_actor" text,
	"closed_by_verdict" text,
	"closed_at" timestamp (6) with time zone,
	CONSTRAINT "tickets_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "tickets_correlation" UNIQUE("workspace_id","correlation_id"),
	CONSTRAINT "tickets_one_successor" UNIQUE("workspace_id","supersedes"),
	CONSTRAINT "tickets_status" CHECK ("tickets"."status" in ('open', 'answered', 'expired', 'superseded', 'cancelled')),
	CONSTRAINT "tickets_on_expiry" CHECK ("tickets"."on_expiry" in ('hold', 'deny', 'cancel', 'end_run')),
	CONSTRAINT "tickets_on_deny" CHECK ("tickets"."on_deny" in ('continue', 'stop_run')),
	CONSTRAINT "tickets_risk" CHECK ("tickets"."risk" in ('low', 'medium', 'high')),
	CONSTRAINT "tickets_target_pair" CHECK (("tickets"."target_kind", "tickets"."target_reason") in (('tool_call', 'permission'), ('tool_call', 'client_execution'), ('tool_call', 'scheduled_action'), ('tool_call', 'delegation'), ('remote_input', 'user_input'), ('remote_input', 'external_event'), ('pause', 'manual'), ('pause', 'rate_limit'), ('pause', 'budget_reached'))),
	CONSTRAINT "tickets_target_parts" CHECK (("tickets"."call_ref" is not null) = ("tickets"."target_kind" in ('tool_call', 'remote_input'))
        and ("tickets"."tool_id" is not null) = ("tickets"."target_kind" = 'tool_call')),
	CONSTRAINT "tickets_closed_says_how" CHECK (("tickets"."status" = 'open') = ("tickets"."closed_by_kind" is null) and ("tickets"."status" = 'open') = ("tickets"."closed_at" is null)),
	CONSTRAINT "tickets_quorum" CHECK ("tickets"."quorum_needed" >= 1)
);
--> statement-breakpoint
CREATE TABLE "votes" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"ticket_id" uuid NOT NULL,
	"principal_id" uuid NOT NULL,
	"person_id" uuid,
	"decision_id" text NOT NULL,
	"verdict" text NOT NULL,
	"reason" text,
	"note" text,
	"payload" text,
	"proposal_hash" text,
	"view_digest" text,
	"surface" text NOT NULL,
	"body_sha256" text NOT NULL,
	"first_answer" text NOT NULL,
	"delegated_for" uuid,
	"auth_method" text,
	"credential_ref" text,
	"signature" text,
	"at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "votes_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "votes_one_a_person" UNIQUE("workspace_id","ticket_id","person_id"),
	CONSTRAINT "votes_one_a_decision_id" UNIQUE("workspace_id","principal_id","decision_id"),
	CONSTRAINT "votes_verdict" CHECK ("votes"."verdict" in ('allow', 'deny', 'answer', 'continue'))
);
--> statement-breakpoint
CREATE TABLE "contents" (
	"workspace_id" uuid NOT NULL,
	"sha256" text NOT NULL,
	"kind" text NOT NULL,
	"bytes" "bytea",
	"size" integer NOT NULL,
	"sealed" boolean DEFAULT false NOT NULL,
	"key_id" text,
	"erased_at" timestamp (6) with time zone,
	CONSTRAINT "contents_workspace_id_sha256_kind_pk" PRIMARY KEY("workspace_id","sha256","kind")
);
--> statement-breakpoint
CREATE TABLE "refusals" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"code" text NOT NULL,
	"verb" text NOT NULL,
	"actor" text NOT NULL,
	"principal_id" uuid,
	"surface" text NOT NULL,
	"named_run" text,
	"named_call" text,
	"named_ticket" text,
	"supplied_hash" text,
	"current_hash" text,
	"stored_hash" text,
	"approval_hash" text,
	"late_verdict" text,
	"run" uuid,
	"seq" integer,
	"at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "refusals_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "refusals_surface" CHECK ("refusals"."surface" in ('console', 'api', 'cli', 'worker', 'system'))
);
--> statement-breakpoint
CREATE TABLE "trace_events" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"seq" integer NOT NULL,
	"prev_hash" text NOT NULL,
	"event_text" text NOT NULL,
	"hash" text NOT NULL,
	"type" text NOT NULL,
	"at" timestamp (6) with time zone NOT NULL,
	"refusal_code" text,
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"event_id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "trace_events_event_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "trace_events_workspace_id_run_seq_pk" PRIMARY KEY("workspace_id","run","seq"),
	CONSTRAINT "trace_events_no_fork" UNIQUE("workspace_id","run","prev_hash")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"principal_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"prefix" text NOT NULL,
	"sha256" text NOT NULL,
	"scopes" text DEFAULT '[]' NOT NULL,
	"expires_at" timestamp (6) with time zone,
	"revoked_at" timestamp (6) with time zone,
	"rotated_from" uuid,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "api_keys_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "api_keys_prefix_unique" UNIQUE("prefix"),
	CONSTRAINT "api_keys_kind" CHECK ("api_keys"."kind" in ('person', 'agent', 'operator', 'worker', 'system', 'cli'))
);
--> statement-breakpoint
CREATE TABLE "members" (
	"workspace_id" uuid NOT NULL,
	"person_id" uuid NOT NULL,
	"role" text NOT NULL,
	"disabled_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "members_workspace_id_person_id_pk" PRIMARY KEY("workspace_id","person_id"),
	CONSTRAINT "members_role" CHECK ("members"."role" in ('approver', 'operator', 'owner'))
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" "citext" NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "people_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "principals" (
	"workspace_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"person_id" uuid,
	"owner_person_id" uuid,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "principals_workspace_id_id_pk" PRIMARY KEY("workspace_id","id"),
	CONSTRAINT "principals_name" UNIQUE("workspace_id","kind","name"),
	CONSTRAINT "principals_person" UNIQUE("workspace_id","person_id"),
	CONSTRAINT "principals_kind" CHECK ("principals"."kind" in ('person', 'agent', 'operator', 'worker', 'system', 'cli'))
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"settings" text DEFAULT '{}' NOT NULL,
	"is_demo" boolean DEFAULT false NOT NULL,
	"suspended_at" timestamp (6) with time zone,
	"created_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "workspaces_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
ALTER TABLE "agent_owners" ADD CONSTRAINT "agent_owners_agent" FOREIGN KEY ("workspace_id","agent_id") REFERENCES "public"."agents"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_owners" ADD CONSTRAINT "agent_owners_principal" FOREIGN KEY ("workspace_id","principal_id") REFERENCES "public"."principals"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_snapshots" ADD CONSTRAINT "agent_snapshots_agent" FOREIGN KEY ("workspace_id","agent_id") REFERENCES "public"."agents"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_owner" FOREIGN KEY ("workspace_id","owner_principal_id") REFERENCES "public"."principals"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_agent_fk" FOREIGN KEY ("workspace_id","agent_id") REFERENCES "public"."agents"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policy_versions" ADD CONSTRAINT "policy_versions_policy" FOREIGN KEY ("workspace_id","policy_id") REFERENCES "public"."policies"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_accounts" ADD CONSTRAINT "auth_accounts_user_id_auth_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."auth_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_links" ADD CONSTRAINT "auth_links_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_sessions" ADD CONSTRAINT "auth_sessions_user_id_auth_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."auth_users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_users" ADD CONSTRAINT "auth_users_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "batches" ADD CONSTRAINT "batches_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "calls" ADD CONSTRAINT "calls_batch" FOREIGN KEY ("workspace_id","run","step") REFERENCES "public"."batches"("workspace_id","run","step") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_mailbox" FOREIGN KEY ("workspace_id","mailbox_id") REFERENCES "public"."mailboxes"("workspace_id","mailbox_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mailboxes" ADD CONSTRAINT "mailboxes_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_states" ADD CONSTRAINT "run_states_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_on_behalf_of_people_id_fk" FOREIGN KEY ("on_behalf_of") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_agent" FOREIGN KEY ("workspace_id","agent_id") REFERENCES "public"."agents"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_snapshot" FOREIGN KEY ("workspace_id","snapshot_id") REFERENCES "public"."agent_snapshots"("workspace_id","snapshot_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_thread" FOREIGN KEY ("workspace_id","thread_id") REFERENCES "public"."threads"("workspace_id","thread_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_principal" FOREIGN KEY ("workspace_id","principal_id") REFERENCES "public"."principals"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_parent" FOREIGN KEY ("workspace_id","parent_run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_thread" FOREIGN KEY ("workspace_id","thread_id") REFERENCES "public"."threads"("workspace_id","thread_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_credentials" ADD CONSTRAINT "session_credentials_session" FOREIGN KEY ("workspace_id","session_id") REFERENCES "public"."sessions"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "threads" ADD CONSTRAINT "threads_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_ticket" FOREIGN KEY ("workspace_id","ticket_id") REFERENCES "public"."tickets"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_assignee_people_id_fk" FOREIGN KEY ("assignee") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_call" FOREIGN KEY ("workspace_id","run","call_ref") REFERENCES "public"."calls"("workspace_id","run","call_ref") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_supersedes" FOREIGN KEY ("workspace_id","supersedes") REFERENCES "public"."tickets"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_delegated_for_people_id_fk" FOREIGN KEY ("delegated_for") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_ticket" FOREIGN KEY ("workspace_id","ticket_id") REFERENCES "public"."tickets"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_principal" FOREIGN KEY ("workspace_id","principal_id") REFERENCES "public"."principals"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contents" ADD CONSTRAINT "contents_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refusals" ADD CONSTRAINT "refusals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refusals" ADD CONSTRAINT "refusals_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trace_events" ADD CONSTRAINT "trace_events_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_principal" FOREIGN KEY ("workspace_id","principal_id") REFERENCES "public"."principals"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "principals" ADD CONSTRAINT "principals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "principals" ADD CONSTRAINT "principals_person_id_people_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "principals" ADD CONSTRAINT "principals_owner_person_id_people_id_fk" FOREIGN KEY ("owner_person_id") REFERENCES "public"."people"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calls_unfinished" ON "calls" USING btree ("workspace_id","run") WHERE "calls"."status" <> 'completed';--> statement-breakpoint
CREATE INDEX "calls_lease" ON "calls" USING btree ("workspace_id","lease_until") WHERE "calls"."status" = 'executing';--> statement-breakpoint
CREATE INDEX "calls_call_id" ON "calls" USING btree ("workspace_id","run","call_id");--> statement-breakpoint
CREATE INDEX "calls_proposal_hash" ON "calls" USING btree ("workspace_id","run","proposal_hash");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_one_claimed_a_mailbox" ON "jobs" USING btree ("workspace_id","mailbox_id") WHERE "jobs"."status" = 'Claimed';--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_live_dedupe" ON "jobs" USING btree ("workspace_id","mailbox_id","dedupe_key") WHERE "jobs"."status" in ('Queued', 'Claimed');--> statement-breakpoint
CREATE INDEX "jobs_claim_order" ON "jobs" USING btree ("workspace_id","priority","created_at","job_id") WHERE "jobs"."status" = 'Queued';--> statement-breakpoint
CREATE INDEX "jobs_lease" ON "jobs" USING btree ("workspace_id","lease_until") WHERE "jobs"."status" = 'Claimed';--> statement-breakpoint
CREATE INDEX "jobs_of_run" ON "jobs" USING btree ("workspace_id","run");--> statement-breakpoint
CREATE INDEX "runs_newest" ON "runs" USING btree ("workspace_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "runs_stalled" ON "runs" USING btree ("workspace_id","stalled_reason") WHERE "runs"."stalled_reason" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tickets_one_wait_a_call" ON "tickets" USING btree ("workspace_id","run","call_ref") WHERE "tickets"."status" = 'open' and "tickets"."call_ref" is not null;--> statement-breakpoint
CREATE INDEX "tickets_due" ON "tickets" USING btree ("workspace_id","deadline_ms") WHERE "tickets"."status" = 'open' and "tickets"."expired_at" is null and "tickets"."deadline_ms" is not null;--> statement-breakpoint
CREATE INDEX "tickets_inbox" ON "tickets" USING btree ("workspace_id",coalesce("deadline_ms", 9223372036854775807),"id") WHERE "tickets"."status" = 'open';--> statement-breakpoint
CREATE INDEX "tickets_of_call" ON "tickets" USING btree ("workspace_id","run","call_ref","opened_at");--> statement-breakpoint
CREATE INDEX "refusals_newest" ON "refusals" USING btree ("workspace_id","at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "refusals_of_run" ON "refusals" USING btree ("workspace_id","run","seq");--> statement-breakpoint
CREATE INDEX "trace_events_feed" ON "trace_events" USING btree ("workspace_id","xid","event_id");