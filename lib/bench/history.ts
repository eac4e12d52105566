import { performance } from "node:perf_hooks";
import type { Scope } from "@/db/client";
import { readAgents } from "@/db/queries/agents";
import { readNewestEvent } from "@/db/queries/change-feed";
import { findByText } from "@/db/queries/find";
import { readInbox } from "@/db/queries/inbox";
import { listJobs } from "@/db/queries/job-list";
import { busyMailboxes, countJobs } from "@/db/queries/mailbox";
import { type RefusalFilter, readRefusals } from "@/db/queries/refusals";
import { readRunPage } from "@/db/queries/run-page";
import { type RunsFilter, readRuns } from "@/db/queries/runs-list";
import { readThreadPage } from "@/db/queries/thread-page";
import { readTicketPage } from "@/db/queries/ticket-page";
import { dueRuns } from "@/db/store/workers";
import { median } from "./load";
import { type Bench, openBenchRun, parkOne } from "./verbs";

/** What the console and the workers read, over so many runs that are over: medians in ms, by what is read. */
export type Readings = ReadonlyMap<string, number>;

const PAGE = 50;
const ROUNDS = 12;
const WARM_UP = 4;
const NO_RUNS_FILTER: RunsFilter = { state: null, agent: null, stuck: false, expired: false, text: null };
const NO_REFUSALS_FILTER = { verbs: null, code: null, actor: null, surface: null };

/**
 * Lay down runs that are over until there are `upTo`, each with its call, ticket, decision, trace, messages and job, of the agent that
 * the open ones are of too; then read each page over them. `from`: how many lie there already.
 */
export async function measureHistory(bench: Bench, from: number, upTo: number): Promise<Readings> {
  const open = await parkOne(bench, await openBenchRun(bench, "client"));
  await layDown(bench, from, upTo);
  const { workspace } = bench.agent;
  const readings = new Map<string, number>();
  for (const [name, read] of pagesOver(bench, open)) readings.set(name, await timed(() => read(bench.db)));
  readings.set("the newest change", await timed(() => readNewestEvent(bench.db, workspace)));
  readings.set("a worker's look for what is due", await timed(() => dueRuns(bench.db)));
  return readings;
}

type Open = Awaited<ReturnType<typeof parkOne>>;
type Read = (scope: Scope) => Promise<unknown>;

/** What the console's pages read, of one open ticket and of lists. */
export function pagesOver(
  { agent, approver }: Pick<Bench, "agent" | "approver">,
  { runId, ticket }: Open,
): readonly (readonly [string, Read])[] {
  const { workspace, principal } = agent;
  const reader = { person: approver.person ?? "", role: "approver" } as const;
  const inbox = { mine: true, agent: null, action: null, risk: null, kind: null };
  const runs = (over: Partial<RunsFilter>) => (db: Scope) =>
    readRuns(db, workspace, { ...NO_RUNS_FILTER, ...over }, PAGE, null);
  const refusals = (over: Partial<RefusalFilter>) => (db: Scope) =>
    readRefusals(db, workspace, { ...NO_REFUSALS_FILTER, ...over }, PAGE, null);
  return [
    ["inbox", (db) => readInbox(db, workspace, reader, inbox, PAGE, null)],
    ["a ticket's page", (db) => readTicketPage(db, workspace, ticket.id)],
    ["a run's page", (db) => readRunPage(db, workspace, runId)],
    ["its thread's page", (db) => readThreadPage(db, workspace, runId, principal)],
    ["runs", runs({})],
    ["runs that are stuck", runs({ stuck: true })],
    ["runs that wait", runs({ state: "awaiting" })],
    ["runs with an expired ticket", runs({ expired: true })],
    ["runs of a cause that is rare", runs({ state: "indeterminate" })],
    ["runs of an agent that has few", runs({ agent: "bench-rare" })],
    ["runs with a text that none has", runs({ text: "no such words" })],
    ["refusals", refusals({})],
    ["refusals of a code that is rare", refusals({ code: "state_tampered" })],
    ["refusals of an actor who has few", refusals({ actor: "nobody" })],
    ["the mailbox's jobs", (db) => listJobs(db, workspace, {}, PAGE)],
    ["the mailbox's counts", (db) => countJobs(db, workspace)],
    ["busy mailboxes", (db) => busyMailboxes(db, workspace, PAGE)],
    ["agents", (db) => readAgents(db, workspace, principal)],
    ["the palette, of what is nowhere", (db) => findByText(db, workspace, "zzz")],
  ];
}

async function timed(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await read();
    times.push(performance.now() - began);
  }
  return median(times.slice(WARM_UP));
}

/** Runs `from` + 1 to `upTo`. As the owner, past the triggers: what is laid down is read, never moved. One run in five left a refusal. */
export async function layDown(
  { admin, agent: { workspace } }: Pick<Bench, "admin" | "agent">,
  from: number,
  upTo: number,
): Promise<void> {
  await admin.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`
      insert into agents (workspace_id, id, name, owner_principal_id)
      select workspace_id, gen_random_uuid(), 'bench-rare', owner_principal_id from agents
      where workspace_id = ${workspace} and name = 'bench' on conflict do nothing`;
    await sql`
      create temporary table made on commit drop as
      select n, gen_random_uuid() as id, 'past-' || n as run_id, gen_random_uuid() as ticket,
        clock_timestamp() - interval '60 days' * (1 - n::float8 / ${upTo}) as at
      from generate_series(${from}::int + 1, ${upTo}::int) n`;
    await sql`insert into threads (workspace_id, thread_id) select ${workspace}, run_id from made`;
    await sql`insert into mailboxes (workspace_id, mailbox_id) select ${workspace}, run_id from made`;
    await sql`
      insert into runs (workspace_id, id, run_id, agent_id, snapshot_id, thread_id, executor, principal_id, cause, ended_by, ended_at, created_at)
      select ${workspace}, m.id, m.run_id, r.agent_id, r.snapshot_id, m.run_id, 'worker', r.principal_id, 'completed', 'bench', m.at, m.at
      from made m, (select * from runs where workspace_id = ${workspace} limit 1) r`;
    await sql`
      insert into messages (workspace_id, thread_id, seq, source_id, role, content, wire, at)
      select ${workspace}, run_id, s, 'm' || s, case s when 1 then 'user' else 'assistant' end, 'A bill is due.', 'holdpoint', at
      from made, generate_series(1, 2) s`;
    await sql`
      insert into batches (workspace_id, run, step, mode, coupling, content_hash)
      select ${workspace}, id, 1, 'parallel', 'independent', '' from made`;
    await sql`
      insert into calls (workspace_id, run, step, batch_index, call_ref, action, args, target, proposal_hash, effective_class,
        resume_mode, on_deny, wait_terms, status, outcome, outcome_cause, result, ended_at, attempt,
        authorised_by, approval_request_id, approval_hash, authorised_at)
      select ${workspace}, id, 1, 0, 's1.0', 'send_money', '{"amount":' || n || ',"recipient":"DH5939281092"}', '"account"', '', 'none',
        'replay_tool_call', 'continue', '{}', 'completed', 'succeeded', 'executed', '"done"', at, 1,
        'person', ticket::text, '', at
      from made`;
    await sql`
      insert into tickets (workspace_id, id, correlation_id, run, call_ref, target_kind, target_reason, tool_id, snapshot_id,
        catalog_fingerprint, on_expiry, risk, on_deny, status, opened_at, closed_by_kind, closed_by_actor, closed_at)
      select ${workspace}, ticket, ticket::text, id, 's1.0', 'tool_call', 'permission', 'send_money', '', '', 'hold', 'medium',
        'continue', 'answered', at, 'decision', 'bench', at
      from made`;
    await sql`
      insert into decisions (workspace_id, ticket_id, via, verdict, actor, approval_request_id, approval_hash, decided_at, effective_at)
      select ${workspace}, ticket, 'person', 'allow', 'bench', ticket::text, '', at, at from made`;
    await sql`
      insert into trace_events (workspace_id, run, seq, prev_hash, event_text, hash, type, at)
      select ${workspace}, id, s, s::text, repeat('x', 620), s::text, 'state_transition', at from made, generate_series(1, 6) s`;
    await sql`
      insert into jobs (workspace_id, job_id, mailbox_id, kind, run, origin, generation, status, created_at, updated_at)
      select ${workspace}, gen_random_uuid(), run_id, 'resume', id, 'Internal', 0, 'Accepted', at, at from made`;
    await sql`
      insert into refusals (workspace_id, id, code, verb, actor, surface, named_run, named_ticket, run, seq, at)
      select ${workspace}, gen_random_uuid(), 'not_awaiting', 'decide', 'bench', 'api', run_id, ticket::text, id, 1, at
      from made where n % 100 < 20`;
  });
  await admin`analyze`;
}
