import type postgres from "postgres";

/**
 * Have this database's clock stand still, for whoever connects from now on: every `clock_timestamp()` of a statement or a function is
 * looked for in the schema `clock` first. What would take luck to meet, an instant that equals a lease's end, is then always there.
 * Defaults of columns keep the real clock, so that ages stay apart.
 */
export async function stopClock(admin: postgres.Sql): Promise<void> {
  await admin.unsafe(`
    create schema clock;
    create table clock.stands (at timestamptz not null);
    insert into clock.stands values (pg_catalog.clock_timestamp());
    create function clock.clock_timestamp() returns timestamptz language sql volatile as 'select at from clock.stands';
    grant usage on schema clock to public;
    grant select on clock.stands to public;
    do $$
    declare
      reader regprocedure;
    begin
      execute format('alter database %I set search_path = clock, pg_catalog, public', current_database());
      for reader in
        select oid from pg_proc where pronamespace = 'public'::regnamespace and prosrc like '%clock_timestamp%' and proconfig is not null
      loop
        execute format('alter function %s set search_path = clock, pg_catalog, public', reader);
      end loop;
    end $$`);
}
