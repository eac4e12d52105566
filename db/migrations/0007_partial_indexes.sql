ALTER TABLE "tickets" DROP CONSTRAINT "tickets_one_successor";--> statement-breakpoint
DROP INDEX "calls_call_id";--> statement-breakpoint
CREATE UNIQUE INDEX "tickets_one_successor" ON "tickets" USING btree ("workspace_id","supersedes") WHERE "tickets"."supersedes" is not null;--> statement-breakpoint
CREATE INDEX "calls_call_id" ON "calls" USING btree ("workspace_id","run","call_id") WHERE "calls"."call_id" is not null;