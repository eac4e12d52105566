-- A worker of ours begins what it claims, so its claim is the start: to say so in a transaction of its own cost every job one more
-- commit, between the click and the effect. Else this is what 0006 made.
create or replace function holdpoint_take_first(of_workspace uuid, claimer text, lease_ms int, most int) returns setof jobs
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
        attempt_count = j.attempt_count + 1, started_at = clock_timestamp(), result = null, updated_at = clock_timestamp()
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
