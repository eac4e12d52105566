-- Row security and rights of what the runtime and the mailbox added.
alter table live_texts enable row level security;
--> statement-breakpoint
create policy of_workspace on live_texts using (workspace_id = holdpoint_workspace());
--> statement-breakpoint
do $$
begin
  if not exists (select from pg_roles where rolname = 'holdpoint_app') then
    return;
  end if;
  grant select, insert, update, delete on live_texts to holdpoint_app;
end $$;
