import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { readInbox, readInboxSummary } from "@/db/queries/inbox";
import { median } from "./load";
import type { Bench } from "./verbs";

const PAGE = 50;

/** So many open tickets, put there as the owner: how fast a person's first page is, one at 90 % depth, and the counts beside it. */
export async function measureInbox(bench: Bench, tickets: number) {
  await fill(bench, tickets);
  const { workspace } = bench.agent;
  const reader = { person: bench.approver.person ?? "", role: "approver" } as const;
  const filter = { mine: true, agent: null, action: null, risk: null, kind: null };
  const page = (cursor: string | null) => readInbox(bench.db, workspace, reader, filter, PAGE, cursor);
  const deep = `${DEADLINE + Math.floor(tickets * 0.9) * 1_000}.${randomUUID()}`;
  return {
    first: await timed(() => page(null)),
    deep: await timed(() => page(deep)),
    counts: await timed(() => readInboxSummary(bench.db, workspace, reader, filter)),
    byHand: await timed(
      () => bench.admin`
        select id, deadline_ms from tickets where workspace_id = ${bench.agent.workspace} and status = 'open'
        order by case when deadline_ms is null then 9223372036854775807 else deadline_ms end, id limit ${PAGE}`,
    ),
  };
}

const DEADLINE = 4_000_000_000_000;

const AGENTS = 20;
const ACTIONS = 40;

/** Spread over agents and actions, and laid down in another order than the deadlines', as the rows of a real day are. */
async function fill({ admin, agent }: Bench, tickets: number): Promise<void> {
  await admin.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`
      insert into agents (workspace_id, id, name, owner_principal_id)
      select workspace_id, gen_random_uuid(), 'bench-agent-' || n, owner_principal_id
      from generate_series(1, ${AGENTS}) n, (select * from agents where workspace_id = ${agent.workspace} limit 1) a`;
    await sql`
      insert into runs (workspace_id, id, run_id, agent_id, snapshot_id, thread_id, executor, principal_id, open_tickets)
      select ${agent.workspace}, gen_random_uuid(), 'bench-' || n, a.id, r.snapshot_id, r.thread_id, 'client', r.principal_id, 1
      from generate_series(1, ${tickets}) n, (select * from runs where workspace_id = ${agent.workspace} limit 1) r,
        (select id, row_number() over (order by name) as place from agents where name like 'bench-agent-%') a
      where a.place = 1 + n % ${AGENTS}`;
    await sql`
      insert into batches (workspace_id, run, step, mode, coupling, content_hash)
      select workspace_id, id, 1, 'parallel', 'independent', '' from runs where run_id like 'bench-%'`;
    await sql`
      insert into calls (workspace_id, run, step, batch_index, call_ref, action, args, target, proposal_hash, effective_class,
        resume_mode, on_deny, wait_terms, status)
      select workspace_id, id, 1, 0, 's1.0', 'action_' || (hashtext(run_id) & 1023) % ${ACTIONS}, '{"amount":1}', '"x"', '', 'none', 'replay_tool_call', 'continue', '{}', 'awaiting'
      from runs where run_id like 'bench-%'`;
    await sql`
      insert into tickets (workspace_id, id, correlation_id, run, call_ref, target_kind, target_reason, tool_id, snapshot_id,
        catalog_fingerprint, deadline_ms, on_expiry, risk, on_deny)
      select workspace_id, gen_random_uuid(), gen_random_uuid()::text, id, 's1.0', 'tool_call', 'permission',
        'action_' || (hashtext(run_id) & 1023) % ${ACTIONS}, snapshot_id,
        '', ${DEADLINE}::bigint + 1000 * row_number() over (order by hashtext(run_id)), 'hold', 'medium', 'continue'
      from runs where run_id like 'bench-%'`;
  });
  await admin`analyze`;
}

async function timed(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 25; round += 1) {
    const began = performance.now();
    await read();
    times.push(performance.now() - began);
  }
  return median(times.slice(5));
}
