-- Row security and rights of what the runtime and the mailbox added.
alter table live_texts enable row level security;
--> statement-breakpoint
create policy of_workspace on live_texts using (workspace_id = holdpoint_workspace());
--> statement-breakpoint

-- Take one job that is due. Of any number of claimers one wins: the mailbox is locked before the job, a mailbox has one claimed
-- job, and who does not get the lock at once goes on to the next. The attempt counts here, so that a job that kills its worker is
-- counted too. Gives the claim's token, or null. The clock is read at each statement: a transaction may be older than a lease.
create function holdpoint_take(of_workspace uuid, wanted uuid, of_mailbox text, claimer text, lease_ms int, even_early boolean)
  returns uuid language plpgsql volatile set search_path = pg_catalog, public as $$
declare
  token uuid := gen_random_uuid();
begin
  perform from mailboxes m where m.workspace_id = of_workspace and m.mailbox_id = of_mailbox for update skip locked;
  if not found then
    return null;
  end if;
  update jobs j set status = 'Claimed', claim_token = token, claimed_by = claimer,
    lease_until = clock_timestamp() + lease_ms * interval '1 millisecond',
    attempt_count = j.attempt_count + 1, started_at = null, result = null, updated_at = clock_timestamp()
  where j.workspace_id = of_workspace and j.job_id = wanted and j.status = 'Queued'
    and (even_early or j.available_at <= clock_timestamp())
    and not exists (select from jobs o
      where o.workspace_id = of_workspace and o.mailbox_id = of_mailbox and o.status = 'Claimed');
  return case when found then token end;
end $$;
--> statement-breakpoint

-- The worker's claim: up to `most` jobs of one workspace, by priority and then age. The workspaces that wait come in random order,
-- so that no tenant's flood starves another; suspended ones rest.
create function holdpoint_claim(claimer text, lease_ms int, most int)
  returns table (workspace_id uuid, job_id uuid, token uuid)
  language plpgsql volatile security definer set search_path = pg_catalog, public as $$
#variable_conflict use_column
declare
  tenant uuid;
  due record;
  got int := 0;
begin
  for tenant in
    with recursive waiting as (
      (select j.workspace_id from jobs j where j.status = 'Queued' and not j.outside order by j.workspace_id limit 1)
      union all
      select (select j.workspace_id from jobs j
        where j.status = 'Queued' and not j.outside and j.workspace_id > w.workspace_id order by j.workspace_id limit 1)
      from waiting w where w.workspace_id is not null)
    select w.id from waiting join workspaces w on w.id = waiting.workspace_id
    where w.suspended_at is null order by random()
  loop
    for due in
      select j.job_id, j.mailbox_id from jobs j
      where j.workspace_id = tenant and not j.outside and j.status = 'Queued' and j.available_at <= clock_timestamp()
        and not exists (select from jobs o
          where o.workspace_id = j.workspace_id and o.mailbox_id = j.mailbox_id and o.status = 'Claimed')
      order by j.priority, j.created_at, j.job_id
      limit most * 4 + 4
    loop
      token := holdpoint_take(tenant, due.job_id, due.mailbox_id, claimer, lease_ms, false);
      if token is not null then
        workspace_id := tenant;
        job_id := due.job_id;
        return next;
        got := got + 1;
        exit when got >= most;
      end if;
    end loop;
    exit when got > 0;
  end loop;
end $$;
--> statement-breakpoint
drop function holdpoint_claimable(int);
--> statement-breakpoint
create function holdpoint_purge_jobs(older_than interval) returns bigint
  language sql volatile security definer set search_path = pg_catalog, public as $$
  with gone as (
    delete from jobs where status in ('Accepted', 'Cancelled', 'Superseded') and updated_at < clock_timestamp() - older_than
    returning 1)
  select count(*) from gone
$$;
--> statement-breakpoint
do $$
begin
  if not exists (select from pg_roles where rolname = 'holdpoint_app')
    or not exists (select from pg_roles where rolname = 'holdpoint_worker') then
    return;
  end if;
  grant select, insert, update, delete on live_texts to holdpoint_app;
  grant delete on jobs to holdpoint_app;
  revoke all on function holdpoint_take(uuid, uuid, text, text, int, boolean), holdpoint_claim(text, int, int),
    holdpoint_purge_jobs(interval) from public;
  grant execute on function holdpoint_take(uuid, uuid, text, text, int, boolean) to holdpoint_app;
  grant execute on function holdpoint_claim(text, int, int), holdpoint_purge_jobs(interval) to holdpoint_worker;
end $$;
