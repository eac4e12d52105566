-- A worker's claim as one statement, that reads what waits once and gives the jobs whole.
--
-- The jobs that come first in a workspace, by priority and then age. Mailboxes are locked in that order and those that others hold
-- are skipped, however many: what waits behind them is found. The job is taken under its mailbox's lock and by a new snapshot, which
-- sees what a claim committed meanwhile; who finds the mailbox taken then looks again. The attempt counts here, so that a job that
-- kills its worker is counted too.
--
-- Whether a mailbox has a claimed job is asked per row (`limit 1` keeps it a subplan): joined, it would read every claim that an old
-- snapshot keeps from being cleaned up. The settings hold the plan to the index that is in the order of claims, and keep it.
create function holdpoint_take_first(of_workspace uuid, claimer text, lease_ms int, most int) returns setof jobs
  language plpgsql volatile
  set search_path = pg_catalog, public set plan_cache_mode = force_generic_plan
  set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  due record;
  taken jobs;
  found_any boolean;
  got int := 0;
begin
  for turn in 1..3 loop
    found_any := false;
    for due in
      select j.job_id, j.mailbox_id from jobs j
      join mailboxes m on m.workspace_id = j.workspace_id and m.mailbox_id = j.mailbox_id
      where j.workspace_id = of_workspace and not j.outside and j.status = 'Queued' and j.available_at <= clock_timestamp()
        and (select true from jobs o
          where o.workspace_id = j.workspace_id and o.mailbox_id = j.mailbox_id and o.status = 'Claimed' limit 1) is null
      order by j.priority, j.created_at, j.job_id
      limit most
      for update of m skip locked
    loop
      found_any := true;
      update jobs j set status = 'Claimed', claim_token = gen_random_uuid(), claimed_by = claimer,
        lease_until = clock_timestamp() + lease_ms * interval '1 millisecond',
        attempt_count = j.attempt_count + 1, started_at = null, result = null, updated_at = clock_timestamp()
      where j.workspace_id = of_workspace and j.job_id = due.job_id and j.status = 'Queued'
        and j.available_at <= clock_timestamp()
        and (select true from jobs o
          where o.workspace_id = of_workspace and o.mailbox_id = due.mailbox_id and o.status = 'Claimed' limit 1) is null
      returning j.* into taken;
      if found then
        return next taken;
        got := got + 1;
      end if;
    end loop;
    exit when got > 0 or not found_any;
  end loop;
end $$;
--> statement-breakpoint
drop function holdpoint_claim(text, int, int);
--> statement-breakpoint

-- Up to `most` jobs of one workspace that waits, each such workspace as likely as the next, so that no tenant's flood starves
-- another; suspended ones rest. A workspace drawn from all of them is tried first: where there are few, that spares the search.
create function holdpoint_claim(claimer text, lease_ms int, most int)
  returns table (
    workspace_id uuid, token uuid, job_id uuid, mailbox_id text, agent text, kind text, outside boolean, run_id text, run uuid,
    ticket_id uuid, messages text, origin text, sender_id text, parent_run_id text, request_extras text, priority smallint,
    dedupe_key text, generation int, status text, available_at timestamptz, attempt_count int, max_attempts int, last_error text,
    claim_token uuid, claimed_by text, lease_until timestamptz, started_at timestamptz, result text, created_at timestamptz,
    updated_at timestamptz)
  language plpgsql volatile security definer set search_path = pg_catalog, public set lock_timeout = '2s' as $$
#variable_conflict use_column
declare
  tenant uuid := (select w.id from workspaces w where w.suspended_at is null order by random() limit 1);
  waiting uuid[];
begin
  loop
    return query
      select j.workspace_id, j.claim_token, j.job_id, j.mailbox_id,
        (select a.name from agents a where a.workspace_id = j.workspace_id and a.id = j.agent_id), j.kind, j.outside,
        (select r.run_id from runs r where r.workspace_id = j.workspace_id and r.id = j.run), j.run,
        j.ticket_id, j.messages, j.origin, j.sender_id, j.parent_run_id, j.request_extras, j.priority,
        j.dedupe_key, j.generation, j.status, j.available_at, j.attempt_count, j.max_attempts, j.last_error,
        j.claim_token, j.claimed_by, j.lease_until, j.started_at, j.result, j.created_at, j.updated_at
      from holdpoint_take_first(tenant, claimer, lease_ms, most) j;
    exit when found;
    if waiting is null then
      waiting := array(
        with recursive queued as (
          (select j.workspace_id from jobs j where j.status = 'Queued' and not j.outside order by j.workspace_id limit 1)
          union all
          select (select j.workspace_id from jobs j
            where j.status = 'Queued' and not j.outside and j.workspace_id > q.workspace_id order by j.workspace_id limit 1)
          from queued q where q.workspace_id is not null)
        select w.id from queued join workspaces w on w.id = queued.workspace_id
        where w.suspended_at is null order by random());
    end if;
    exit when cardinality(waiting) = 0;
    tenant := waiting[1];
    waiting := waiting[2:];
  end loop;
end $$;
--> statement-breakpoint
do $$
begin
  if not exists (select from pg_roles where rolname = 'holdpoint_worker') then
    return;
  end if;
  revoke all on function holdpoint_take_first(uuid, text, int, int), holdpoint_claim(text, int, int) from public;
  grant execute on function holdpoint_claim(text, int, int) to holdpoint_worker;
end $$;
