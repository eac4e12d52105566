-- What the tables alone cannot say: roles, row security, and the guards that hold whatever the code does.

-- Roles. The migration's own role could drop the guards it lives under; the app's cannot.
do $$
begin
  create role holdpoint_app nologin nosuperuser nobypassrls;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then raise notice 'holdpoint_app cannot be created here';
end $$;
--> statement-breakpoint
do $$
begin
  create role holdpoint_worker nologin nosuperuser nobypassrls;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then raise notice 'holdpoint_worker cannot be created here';
end $$;
--> statement-breakpoint

-- Row security on every workspace table: a forgotten filter shows nothing.
create function holdpoint_workspace() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('holdpoint.workspace', true), '')::uuid $$;
--> statement-breakpoint
do $$
declare name text;
begin
  for name in
    select c.relname from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy of_workspace on %I using (workspace_id = holdpoint_workspace())', name);
  end loop;
end $$;
--> statement-breakpoint
alter table workspaces enable row level security;
--> statement-breakpoint
create policy of_workspace on workspaces using (id = holdpoint_workspace());
--> statement-breakpoint

-- A run's open tickets are counted on its locked row: a trigger that counted rows would read its own snapshot
-- and let two decisions each see the other's ticket open.
create function tickets_count_open() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'open' then
      raise exception 'a ticket begins open' using errcode = 'check_violation';
    end if;
    update runs set open_tickets = open_tickets + 1 where workspace_id = new.workspace_id and id = new.run;
  elsif old.status = 'open' and new.status <> 'open' then
    update runs set open_tickets = open_tickets - 1 where workspace_id = new.workspace_id and id = new.run;
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger tickets_count_open after insert or update of status on tickets
  for each row execute function tickets_count_open();
--> statement-breakpoint
create function tickets_closed_stay_closed() returns trigger language plpgsql as $$
begin
  if old.status <> 'open' then
    raise exception 'ticket % is closed and is never written again', old.id using errcode = 'check_violation';
  end if;
  if (new.correlation_id, new.run, new.call_ref, new.target_kind, new.target_reason)
    is distinct from (old.correlation_id, old.run, old.call_ref, old.target_kind, old.target_reason) then
    raise exception 'the identity of ticket % is fixed', old.id using errcode = 'check_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger tickets_closed_stay_closed before update on tickets
  for each row execute function tickets_closed_stay_closed();
--> statement-breakpoint

-- Frozen means frozen.
create function runs_stay_what_they_are() returns trigger language plpgsql as $$
begin
  if old.cause is not null and (new.cause, new.cause_code, new.ended_at, new.ended_by)
    is distinct from (old.cause, old.cause_code, old.ended_at, old.ended_by) then
    raise exception 'run % has ended and keeps its cause', old.run_id using errcode = 'check_violation';
  end if;
  if (new.run_id, new.executor, new.origin, new.principal_id, new.thread_id, new.snapshot_id)
    is distinct from (old.run_id, old.executor, old.origin, old.principal_id, old.thread_id, old.snapshot_id) then
    raise exception 'the identity of run % is fixed', old.run_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger runs_stay_what_they_are before update on runs
  for each row execute function runs_stay_what_they_are();
--> statement-breakpoint
create function calls_completed_stay_completed() returns trigger language plpgsql as $$
begin
  if old.status = 'completed' and (new.status, new.outcome, new.outcome_cause, new.result, new.error)
    is distinct from (old.status, old.outcome, old.outcome_cause, old.result, old.error) then
    raise exception 'call % is completed and keeps its outcome', old.call_ref using errcode = 'check_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger calls_completed_stay_completed before update on calls
  for each row execute function calls_completed_stay_completed();
--> statement-breakpoint
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is kept as it was written', tg_table_name using errcode = 'insufficient_privilege';
end $$;
--> statement-breakpoint
do $$
declare name text;
begin
  foreach name in array array['trace_events', 'refusals', 'votes', 'policy_versions', 'agent_snapshots'] loop
    execute format('create trigger refuse_change before update or delete on %I
      for each row execute function refuse_change()', name);
    execute format('create trigger refuse_truncate before truncate on %I
      for each statement execute function refuse_change()', name);
  end loop;
  execute 'create trigger refuse_delete before delete on decisions for each row execute function refuse_change()';
  execute 'create trigger refuse_truncate before truncate on decisions for each statement execute function refuse_change()';
end $$;
--> statement-breakpoint
create function decisions_marked_once() returns trigger language plpgsql as $$
begin
  if (new.workspace_id, new.ticket_id, new.via, new.verdict, new.actor, new.person_id, new.approval_request_id,
      new.approval_hash, new.result, new.reason, new.note, new.policy_version, new.decided_at, new.effective_at)
    is distinct from (old.workspace_id, old.ticket_id, old.via, old.verdict, old.actor, old.person_id,
      old.approval_request_id, old.approval_hash, old.result, old.reason, old.note, old.policy_version,
      old.decided_at, old.effective_at)
    or (old.undone_at is not null and new.undone_at is distinct from old.undone_at)
    or (old.voided_at is not null and new.voided_at is distinct from old.voided_at) then
    raise exception 'a decision is kept as it was made' using errcode = 'check_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger decisions_marked_once before update on decisions
  for each row execute function decisions_marked_once();
--> statement-breakpoint

-- What is verified is the text: no other column may say something else than it.
create function trace_events_match_their_text() returns trigger language plpgsql as $$
declare event json := new.event_text::json;
begin
  if new.hash <> encode(sha256(convert_to(new.event_text, 'UTF8')), 'hex')
    or new.seq <> (event ->> 'seq')::int
    or new.prev_hash <> event ->> 'prev_hash'
    or new.type <> event ->> 'type'
    or new.at <> (event ->> 'at')::timestamptz
    or new.workspace_id <> (event ->> 'workspace_id')::uuid then
    raise exception 'trace event % does not match its text', new.seq using errcode = 'check_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger trace_events_match_their_text before insert on trace_events
  for each row execute function trace_events_match_their_text();
--> statement-breakpoint

-- The few questions that are asked before a workspace is known. Each gives ids and what the door needs, no content.
create function holdpoint_find_key(wanted text)
  returns table (workspace_id uuid, key_id uuid, principal_id uuid, kind text, sha256 text, name text,
    person_id uuid, person_name text, role text, suspended boolean)
  language sql stable security definer set search_path = pg_catalog, public as $$
  select k.workspace_id, k.id, k.principal_id, k.kind, k.sha256, p.name, p.person_id, person.name,
    case when m.disabled_at is null then m.role end, w.suspended_at is not null
  from api_keys k
  join workspaces w on w.id = k.workspace_id
  join principals p on p.workspace_id = k.workspace_id and p.id = k.principal_id
  left join people person on person.id = p.person_id
  left join members m on m.workspace_id = k.workspace_id and m.person_id = p.person_id
  where k.prefix = wanted and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())
$$;
--> statement-breakpoint
create function holdpoint_memberships(of_person uuid)
  returns table (workspace_id uuid, slug text, workspace_name text, role text, principal_id uuid, suspended boolean)
  language sql stable security definer set search_path = pg_catalog, public as $$
  select m.workspace_id, w.slug, w.name, m.role, p.id, w.suspended_at is not null
  from members m
  join workspaces w on w.id = m.workspace_id
  left join principals p on p.workspace_id = m.workspace_id and p.person_id = m.person_id
  where m.person_id = of_person and m.disabled_at is null
  order by w.created_at
$$;
--> statement-breakpoint
create function holdpoint_find_workspace(wanted text) returns uuid
  language sql stable security definer set search_path = pg_catalog, public as
$$ select id from workspaces where slug = wanted $$;
--> statement-breakpoint
create function holdpoint_owner_exists() returns boolean
  language sql stable security definer set search_path = pg_catalog, public as
$$ select exists (
     select from members m join auth_users u on u.person_id = m.person_id
     where m.role = 'owner' and m.disabled_at is null) $$;
--> statement-breakpoint

-- The sweeper and the worker look over all workspaces, for ids alone; what they then do is scoped like everything.
create function holdpoint_due(most int) returns table (workspace_id uuid, run uuid)
  language sql volatile security definer set search_path = pg_catalog, public as $$
  select due.workspace_id, due.run from (
    (select t.workspace_id, t.run from tickets t
      where t.status = 'open' and t.expired_at is null and t.deadline_ms is not null
        and t.deadline_ms < floor(extract(epoch from clock_timestamp()) * 1000)
      order by t.deadline_ms limit most)
    union
    (select c.workspace_id, c.run from calls c
      where c.status = 'executing' and c.lease_until < clock_timestamp()
      order by c.lease_until limit most)) due
  limit most
$$;
--> statement-breakpoint
create function holdpoint_claimable(most int) returns table (workspace_id uuid, job_id uuid)
  language sql volatile security definer set search_path = pg_catalog, public as $$
  select j.workspace_id, j.job_id from jobs j
  where j.status = 'Queued' and j.available_at <= clock_timestamp()
    and not exists (select from jobs other where other.workspace_id = j.workspace_id
      and other.mailbox_id = j.mailbox_id and other.status = 'Claimed')
  order by j.priority, j.created_at, j.job_id limit most
$$;
--> statement-breakpoint
create function holdpoint_lapsed_claims(most int) returns table (workspace_id uuid, job_id uuid)
  language sql volatile security definer set search_path = pg_catalog, public as $$
  select j.workspace_id, j.job_id from jobs j
  where j.status = 'Claimed' and j.lease_until < clock_timestamp()
  order by j.lease_until limit most
$$;
--> statement-breakpoint
create function holdpoint_purge_idempotency_keys() returns bigint
  language sql volatile security definer set search_path = pg_catalog, public as $$
  with gone as (delete from idempotency_keys where expires_at < clock_timestamp() returning 1) select count(*) from gone
$$;
--> statement-breakpoint

-- Rights. History is inserted and read; what may move is named.
do $$
begin
  if not exists (select from pg_roles where rolname = 'holdpoint_app')
    or not exists (select from pg_roles where rolname = 'holdpoint_worker') then
    return;
  end if;
  revoke all on function
    holdpoint_workspace(), holdpoint_find_key(text), holdpoint_memberships(uuid), holdpoint_find_workspace(text),
    holdpoint_owner_exists(), holdpoint_due(int), holdpoint_claimable(int), holdpoint_lapsed_claims(int),
    holdpoint_purge_idempotency_keys() from public;
  grant usage on schema public to holdpoint_app;
  grant select, insert, update on
    workspaces, people, members, principals, api_keys, agents, agent_owners, policies, sessions, session_credentials,
    threads, messages, runs, run_states, batches, calls, tickets, contents, mailboxes, jobs, workers
    to holdpoint_app;
  grant select, insert on trace_events, refusals, votes, policy_versions, agent_snapshots to holdpoint_app;
  grant select, insert, update (undone_at, voided_at) on decisions to holdpoint_app;
  grant select, insert, update, delete on
    idempotency_keys, auth_users, auth_sessions, auth_accounts, auth_verifications, auth_links to holdpoint_app;
  grant delete on run_states to holdpoint_app;
  grant execute on function
    holdpoint_workspace(), holdpoint_find_key(text), holdpoint_memberships(uuid), holdpoint_find_workspace(text),
    holdpoint_owner_exists() to holdpoint_app;
  grant execute on function
    holdpoint_due(int), holdpoint_claimable(int), holdpoint_lapsed_claims(int), holdpoint_purge_idempotency_keys()
    to holdpoint_worker;
  grant holdpoint_app to holdpoint_worker;
end $$;
