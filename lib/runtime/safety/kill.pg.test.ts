import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { figure } from "@/db/testing/figure";
import { aCall, allow, newWorld, openTestRun, park, traceTypes, verdict, type World } from "@/db/testing/world";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import { Worker } from "@/lib/runtime/worker";

let world: World;
let admin: postgres.Sql;
let folder: string;
let worker: ChildProgram;
let decider: ChildProgram;

beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 3, onnotice: () => undefined });
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-kill-"));
  worker = await childProgram(`
    import { runWorker } from "@/lib/runtime/worker";
    const [databaseUrl, root, failpoint] = process.argv.slice(2);
    await runWorker({ databaseUrl, writeRoots: [root], stop: new AbortController().signal, failpoint: failpoint || null });
  `);
  decider = await childProgram(`
    import { connect } from "@/db/client";
    import { decideTicket } from "@/db/store/decide";
    const [databaseUrl, caller, ticket, attempt] = process.argv.slice(2);
    const db = await connect(databaseUrl, { role: "holdpoint_app", max: 1 });
    await decideTicket(db, JSON.parse(caller), ticket, JSON.parse(attempt));
  `);
  await admin.unsafe(GATE);
});
afterAll(async () => {
  worker.remove();
  decider.remove();
  await admin.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A gate inside the database: while the test holds its lock, the statement (or the commit) that passes it stands still, so that the
 * process can be killed exactly there.
 */
const GATE = `
  create function gate() returns trigger language plpgsql as $$
  begin
    if exists (select from gates where name = tg_argv[0]) then perform pg_advisory_xact_lock(4711); end if;
    return new;
  end $$;
  create table gates (name text primary key);
  grant select on gates to public;
  create trigger gate_trace before insert on trace_events for each row when (new.type = 'action_executed') execute function gate('trace');
  create trigger gate_claim before update on jobs for each row when (new.status = 'Claimed') execute function gate('claim');
  create trigger gate_decision before insert on decisions for each row execute function gate('decision');
  create constraint trigger gate_commit after update of outcome on calls deferrable initially deferred
    for each row when (new.outcome = 'succeeded') execute function gate('commit');
`;

const ROUNDS = 20;

interface Point {
  readonly name: string;
  readonly failpoint?: string;
  /** Its row in the list of interleavings, where it has one. */
  readonly row?: number;
  readonly gate?: "claim" | "trace" | "decision" | "commit";
  /** The backend dies with its process; otherwise the commit that was sent goes through unheard. */
  readonly backendToo?: boolean;
  /** Its job is over already: nobody has to find it again. */
  readonly acked?: boolean;
}

const POINTS: readonly Point[] = [
  { name: "before the claim", row: 4, gate: "claim", backendToo: true },
  { name: "after the claim", row: 5, failpoint: "after_claim:1" },
  { name: "before the effect", row: 6, failpoint: "before_effect:1" },
  { name: "after the effect, before its record", row: 6, failpoint: "after_effect:1" },
  { name: "after the record, before its commit", gate: "commit", backendToo: true },
  { name: "after the commit, before its answer", gate: "commit" },
  { name: "after the record, with the ack that rides in it", row: 7, failpoint: "after_commit:1", acked: true },
  { name: "in the trace insert", gate: "trace" },
  { name: "in the decision", gate: "decision" },
];

const TITLED = POINTS.map((point) => ({
  ...point,
  title: `${point.row ? `${point.row}. ` : ""}killed ${point.name}, ${ROUNDS} times: nothing lost, nothing doubled`,
}));

test.each(TITLED)("$title", { timeout: 600_000 }, async (point) => {
  let hits = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `${placeOf(point)}-${round}`;
    const { runId, ticket } = await parkFile(name);
    if (point.gate === "decision") hits += await killDecider(ticket);
    else {
      await allow(world, ticket);
      hits += point.gate ? await killInDatabase(point) : await killAtFailpoint(point.failpoint ?? "");
    }
    if (point.acked) expect(await jobsOf(runId)).toEqual(["Accepted"]);
    await recover(ticket);
    expect(readFileSync(path.join(folder, `${name}.txt`), "utf8")).toBe(name);
    expect(await outcomeOf(runId)).toEqual({ outcome: "succeeded", decisions: 1, done: 1 });
    await traceTypes(world, runId);
  }
  expect(hits).toBe(ROUNDS);
  const files = readdirSync(folder).filter((file) => file.startsWith(`${placeOf(point)}-`));
  expect(files).toHaveLength(ROUNDS);
  figure("killed", `${point.name}: ${hits} of ${ROUNDS} kills hit, ${files.length} effects, 0 lost, 0 doubled`);
});

function placeOf({ name }: Point): number {
  return POINTS.findIndex((point) => point.name === name);
}

async function parkFile(name: string): Promise<{ runId: string; ticket: TicketFacts }> {
  const runId = await openTestRun(world, world.agent, "worker");
  const call = aCall({ action: "write_file", args: { content: name }, output: path.join(folder, `${name}.txt`) });
  const ticket = (await park(world, runId, [call])).calls[0]?.ticket;
  if (!ticket) throw new Error("the call did not park");
  return { runId, ticket };
}

async function killAtFailpoint(failpoint: string): Promise<number> {
  const child = worker.start(world.appUrl, folder, failpoint);
  return (await ended(child)) === "SIGKILL" ? 1 : 0;
}

async function killInDatabase({ gate, backendToo }: Point): Promise<number> {
  return atGate(gate ?? "", () => worker.start(world.appUrl, folder, ""), backendToo ?? false);
}

/** The verdict's own process is killed with the decision half written; the person clicks again afterwards. */
async function killDecider(ticket: TicketFacts): Promise<number> {
  const attempt = await verdict(world, ticket, "allow");
  const start = () => decider.start(world.appUrl, JSON.stringify(world.approver), ticket.id, JSON.stringify(attempt));
  return atGate("decision", start, false);
}

/** Start a process, wait until it stands at the gate, kill it there, and open the gate. */
async function atGate(gate: string, start: () => ChildProcess, backendToo: boolean): Promise<number> {
  await admin`insert into gates values (${gate}) on conflict do nothing`;
  const holder = postgres(world.adminUrl, { max: 1 });
  await holder`select pg_advisory_lock(4711)`;
  const child = start();
  const pid = await backendAtGate();
  child.kill("SIGKILL");
  const signal = await ended(child);
  if (backendToo) await admin`select pg_terminate_backend(${pid})`;
  await holder.end();
  await admin`delete from gates`;
  await untilGone(pid);
  return signal === "SIGKILL" ? 1 : 0;
}

async function backendAtGate(): Promise<number> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const [row] = await admin<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    if (row) return row.pid;
    await sleep(10);
  }
  throw new Error("nobody came to the gate");
}

async function untilGone(pid: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const [row] = await admin`select from pg_stat_activity where pid = ${pid}`;
    if (!row) return;
    await sleep(5);
  }
  throw new Error("the dead process's backend never left");
}

function ended(child: ChildProcess): Promise<NodeJS.Signals | null> {
  return new Promise((resolve) => {
    if (child.signalCode !== null) resolve(child.signalCode);
    else child.once("exit", (_code, signal) => resolve(signal));
  });
}

/** Time passes (every lease is over), the person clicks if they have to, and another worker takes up what was left. */
async function recover(ticket: TicketFacts): Promise<void> {
  await admin`update jobs set lease_until = clock_timestamp() - interval '1 second' where status = 'Claimed'`;
  await admin`update calls set lease_until = clock_timestamp() - interval '1 second' where status = 'executing'`;
  await allow(world, ticket);
  const other = new Worker(world.db, { writeRoots: [folder], stop: new AbortController().signal });
  await other.sweep();
  while (await other.tick());
}

async function jobsOf(runId: string): Promise<readonly string[]> {
  const rows = await admin<{ status: string }[]>`
    select status from jobs where run = (select id from runs where run_id = ${runId})`;
  return rows.map(({ status }) => status);
}

async function outcomeOf(runId: string) {
  const [row] = await admin<{ outcome: string; decisions: number; done: number }[]>`
    select c.outcome,
      (select count(*)::int from decisions d join tickets t on t.id = d.ticket_id where t.run = c.run) as decisions,
      (select count(*)::int from trace_events e where e.run = c.run and e.type in ('action_executed', 'action_recovered')) as done
    from calls c where c.run = (select id from runs where run_id = ${runId})`;
  return row;
}
