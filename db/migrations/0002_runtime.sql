CREATE UNLOGGED TABLE "live_texts" (
	"workspace_id" uuid NOT NULL,
	"run" uuid NOT NULL,
	"step" integer NOT NULL,
	"text" text NOT NULL,
	"updated_at" timestamp (6) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "live_texts_workspace_id_run_pk" PRIMARY KEY("workspace_id","run")
);
--> statement-breakpoint
ALTER TABLE "agent_snapshots" ADD COLUMN "definition" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "started_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "live_texts" ADD CONSTRAINT "live_texts_run" FOREIGN KEY ("workspace_id","run") REFERENCES "public"."runs"("workspace_id","id") ON DELETE no action ON UPDATE no action;