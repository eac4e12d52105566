DROP INDEX "runs_stalled";--> statement-breakpoint
DROP INDEX "calls_lease";--> statement-breakpoint
DROP INDEX "jobs_newest";--> statement-breakpoint
DROP INDEX "runs_newest";--> statement-breakpoint
DROP INDEX "tickets_due";--> statement-breakpoint
DROP INDEX "refusals_newest";--> statement-breakpoint
CREATE INDEX "runs_living" ON "runs" USING btree ("workspace_id","created_at","id") WHERE "runs"."cause" is null;--> statement-breakpoint
CREATE INDEX "runs_of_cause" ON "runs" USING btree ("workspace_id","cause","created_at","id") WHERE "runs"."cause" is not null;--> statement-breakpoint
CREATE INDEX "runs_of_agent" ON "runs" USING btree ("workspace_id","agent_id","created_at","id");--> statement-breakpoint
CREATE INDEX "tickets_expired" ON "tickets" USING btree ("workspace_id","run") WHERE "tickets"."status" = 'open' and "tickets"."expired_at" is not null;--> statement-breakpoint
CREATE INDEX "tickets_decided" ON "tickets" USING btree ("workspace_id","tool_id","closed_at") WHERE "tickets"."status" = 'answered' and "tickets"."tool_id" is not null;--> statement-breakpoint
CREATE INDEX "refusals_of_code" ON "refusals" USING btree ("workspace_id","code","at","id");--> statement-breakpoint
CREATE INDEX "refusals_of_actor" ON "refusals" USING btree ("workspace_id","actor","at","id");--> statement-breakpoint
CREATE INDEX "refusals_late" ON "refusals" USING btree ("workspace_id","named_ticket","at") WHERE "refusals"."late_verdict" is not null;--> statement-breakpoint
CREATE INDEX "calls_lease" ON "calls" USING btree ("lease_until") WHERE "calls"."status" = 'executing';--> statement-breakpoint
CREATE INDEX "jobs_newest" ON "jobs" USING btree ("workspace_id","status","created_at","job_id");--> statement-breakpoint
CREATE INDEX "runs_newest" ON "runs" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "tickets_due" ON "tickets" USING btree ("deadline_ms") WHERE "tickets"."status" = 'open' and "tickets"."expired_at" is null and "tickets"."deadline_ms" is not null;--> statement-breakpoint
CREATE INDEX "refusals_newest" ON "refusals" USING btree ("workspace_id","at","id");--> statement-breakpoint
-- The clock is asked once, in front: compared with one that moves on, every open deadline and every lease was read every two seconds.
create or replace function holdpoint_due(most int) returns table (workspace_id uuid, run uuid)
  language sql volatile security definer set search_path = pg_catalog, public as $$
  select due.workspace_id, due.run from (
    (select t.workspace_id, t.run from tickets t
      where t.status = 'open' and t.expired_at is null and t.deadline_ms is not null
        and t.deadline_ms < (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
      order by t.deadline_ms limit most)
    union
    (select c.workspace_id, c.run from calls c
      where c.status = 'executing' and c.lease_until < (select clock_timestamp())
      order by c.lease_until limit most)) due
  limit most
$$;
--> statement-breakpoint
create or replace function holdpoint_lapsed_claims(most int) returns table (workspace_id uuid, job_id uuid)
  language sql volatile security definer set search_path = pg_catalog, public as $$
  select j.workspace_id, j.job_id from jobs j
  where j.status = 'Claimed' and j.lease_until < (select clock_timestamp())
  order by j.lease_until limit most
$$;
--> statement-breakpoint
-- An id's beginning is found in the index that makes it unique, whatever the database's own order of words is.
alter table runs alter column run_id type text collate "C";
