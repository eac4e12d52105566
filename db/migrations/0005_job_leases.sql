DROP INDEX "jobs_lease";--> statement-breakpoint
CREATE INDEX "jobs_lease" ON "jobs" USING btree ("lease_until") WHERE "jobs"."status" = 'Claimed';