CREATE UNLOGGED TABLE "live_texts" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"step" integer NOT NULL,
	"text" text NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "live_texts_workspace_id_run_pk" PRIMARY KEY("workspace_id","run")
);
--> statement-breakpoint
DROP INDEX "jobs_claim_order";--> statement-breakpoint
ALTER TABLE "agent_snapshots" ADD COLUMN "definition" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "outside" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "started_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "live_texts" ADD CONSTRAINT "live_texts_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "jobs_newest" ON "jobs" USING btree ("workspace_id","status","created_at" DESC NULLS LAST,"job_id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "runs_of_parent" ON "runs" USING btree ("workspace_id","parent_run") WHERE "runs"."parent_run" is not null;--> statement-breakpoint
CREATE INDEX "jobs_claim_order" ON "jobs" USING btree ("workspace_id","outside","priority","created_at","job_id") WHERE "jobs"."status" = 'Queued';