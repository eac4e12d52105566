import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Busy } from "@/db/client";
import { decideTicket } from "@/db/store/decide";
import { requeueJob } from "@/db/store/mailbox/operate";
import { settle } from "@/db/store/operate";
import { figure } from "@/db/testing/figure";
import { startAgentRun } from "@/db/testing/start-agent";
import { type TcpProxy, tcpProxy } from "@/db/testing/tcp-proxy";
import { newWorld, traceTypes, verdict, type World } from "@/db/testing/world";
import { type TargetServer, targetServer } from "@/lib/runtime/gateway/testing/target-server";
import { MortalWorkers } from "@/lib/runtime/testing/mortal-workers";

let world: World;
let admin: postgres.Sql;
let line: TcpProxy;
let sink: TargetServer;
let folder: string;
let workers: MortalWorkers;

const SECONDS = inject("soakSeconds");
const WORKERS = 8;
const LEASE_MS = 2_000;
/** Runs under way at a time. */
const RUNS = 40;
const DENIED = 0.3;

beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 3, onnotice: () => undefined });
  line = await tcpProxy(world.appUrl);
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-soak-"));
  // It takes its time, so that its callers die while they wait for it.
  sink = await targetServer((response) => setTimeout(() => response.end("done"), Math.random() * 200));
  workers = await MortalWorkers.start(WORKERS, line.url, `http://127.0.0.1:${sink.port}`, folder, String(LEASE_MS));
});
afterAll(async () => {
  await workers.remove();
  await line.close();
  await sink.close();
  await admin.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What was done to them, and how often it hit somebody at work. */
const done = { kills: 0, hits: 0, acting: 0, sessions: 0, inTransaction: 0, cut: 0, requeued: 0 };

/** Every other time one that is in an act, if any is. Whoever has not polled yet is spared: with nobody there nothing can be hit. */
async function killWorker(): Promise<void> {
  const polled = await admin<{ name: string }[]>`select worker_id as name from workers`;
  const acting = await admin<{ name: string }[]>`select claimed_by as name from calls where status = 'executing'`;
  const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);
  const victim = (Math.random() < 0.5 && workers.pick(namesOf(acting))) || workers.pick(namesOf(polled));
  if (!victim) return;
  const [held] = await admin<{ jobs: number; calls: number }[]>`
    select (select count(*)::int from jobs where status = 'Claimed' and claimed_by = ${victim.name}) as jobs,
      (select count(*)::int from calls where status = 'executing' and claimed_by = ${victim.name}) as calls`;
  victim.child.kill("SIGKILL");
  done.kills += 1;
  if (held && held.jobs > 0) done.hits += 1;
  if (held && held.calls > 0) done.acting += 1;
}

/** Of the workers alone: the test is no part of what it tests. */
async function endSession(): Promise<void> {
  const [ended] = await admin<{ busy: boolean }[]>`
    select pg_terminate_backend(pid), xact_start is not null as busy from pg_stat_activity
    where datname = current_database() and client_port in ${admin([0, ...line.ports()])} order by random() limit 1`;
  if (!ended) return;
  done.sessions += 1;
  if (ended.busy) done.inTransaction += 1;
}

async function cutLine(): Promise<void> {
  done.cut += line.cut(Math.random() < 0.5 ? "ended" : "broken", () => Math.random() < 0.3);
}

const names: string[] = [];

async function startRun(): Promise<void> {
  const name = `run-${names.length}`;
  const tools = ["http_request", "run_command"].map((tool) => ({ name: tool }));
  const definition = { controller: "react", instructions: "Work." };
  const agent = {
    name: "soak",
    provider: "scripted:soak",
    model: "m",
    mcpServers: null,
    tools,
    build: null,
    definition,
  };
  const started = await startAgentRun(world.db, world.agent, { agent, input: name, runId: name });
  if (!started.ok) throw new Error(started.refusal.code);
  names.push(name);
}

/** What people do meanwhile: decide, settle by what the far end says, and requeue what was given up. */
async function atTheDesk(): Promise<void> {
  const tickets = await admin<{ id: string }[]>`select id from tickets where status = 'open'`;
  for (const ticket of tickets) {
    const attempt = await verdict(world, ticket, Math.random() < DENIED ? "deny" : "allow", "not this one");
    await decideTicket(world.db, world.approver, ticket.id, attempt);
  }
  const unknown = await admin<{ runId: string; ref: string; action: string }[]>`
    select r.run_id as "runId", c.call_ref as ref, c.action from calls c join runs r on r.id = c.run where c.status = 'indeterminate'`;
  for (const { runId, ref, action } of unknown) {
    const happened = effectsOf(runId, action) > 0;
    await settle(world.db, world.operator, runId, ref, {
      verdict: happened ? "happened" : "did_not_happen",
      output: null,
      evidence: "the far end was asked",
    });
  }
  const givenUp = await admin<{ id: string }[]>`select job_id as id from jobs where status = 'DeadLetter'`;
  for (const { id } of givenUp) {
    const requeued = await requeueJob(world.db, world.operator, id, "its workers were killed");
    if (requeued.ok) done.requeued += 1;
  }
}

/** A run that a worker holds is looked at again later, by people too. */
function unlessBusy(error: unknown): void {
  if (!(error instanceof Busy)) throw error;
}

/** At the far end: requests by their effect key, as a target that honours it counts them; and lines in a file, which takes no key. */
function effectsOf(name: string, action: string): number {
  if (action === "http_request") {
    const asked = sink.asked.filter(({ url }) => url === `/${name}`);
    return new Set(asked.map(({ headers }) => headers["idempotency-key"])).size;
  }
  const file = path.join(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

async function unfinished(): Promise<number> {
  const [left] = await admin<{ count: number }[]>`select count(*)::int as count from runs where cause is null`;
  return left?.count ?? 0;
}

/** Every so often until it is over. */
async function every(ms: number, isOver: () => boolean, act: () => Promise<unknown>): Promise<void> {
  while (!isOver()) {
    await sleep(ms);
    await act();
  }
}

interface Allowed {
  readonly runId: string;
  readonly action: string;
  readonly outcome: string;
  readonly wasUnknown: boolean;
}

/** Each call that a person allowed, as it ended. */
async function allowedCalls(): Promise<readonly Allowed[]> {
  return admin<Allowed[]>`
    select r.run_id as "runId", c.action, c.outcome, c.settled_by is not null as "wasUnknown"
    from calls c join runs r on r.id = c.run
    where exists (select from tickets t join decisions d on d.ticket_id = t.id
      where t.run = c.run and t.call_ref = c.call_ref and d.verdict = 'allow')`;
}

test(`${SECONDS} seconds of killed workers, ended sessions and cut connections: every run ends, every allow has its effect once, every chain verifies`, {
  timeout: SECONDS * 1_000 + 600_000,
}, async () => {
  const until = performance.now() + SECONDS * 1_000;
  // On a slow machine longer: until it has hit somebody at work.
  const isOver = () => performance.now() > until && done.hits > 2 && done.inTransaction > 0 && done.cut > 0;
  await Promise.all([
    every(300, isOver, killWorker),
    every(500, isOver, endSession),
    every(1_000, isOver, cutLine),
    every(100, isOver, async () => {
      for (let under = await unfinished(); under < RUNS; under += 1) await startRun();
      await atTheDesk().catch(unlessBusy);
    }),
  ]);
  while ((await unfinished()) > 0) {
    await atTheDesk().catch(unlessBusy);
    await sleep(100);
  }
  for (const name of names) await traceTypes(world, name);
  const allows = await allowedCalls();
  const settled = allows.filter(({ wasUnknown }) => wasUnknown);
  const known = allows.filter(({ wasUnknown }) => !wasUnknown);
  const succeeded = known.filter(({ outcome }) => outcome === "succeeded");
  expect(allows.filter(({ runId, action }) => effectsOf(runId, action) > 1)).toEqual([]);
  // What failed is known to have done nothing: its worker had lost its claim before it started the program.
  expect(known.filter((call) => effectsOf(call.runId, call.action) !== (call.outcome === "succeeded" ? 1 : 0))).toEqual(
    [],
  );
  expect(workers.fallen).toEqual([]);
  figure(
    "soak",
    `${SECONDS} s: ${names.length} runs, all ended, every chain verified; ${done.kills} kills (${done.hits} of a worker with a job, ${done.acting} in an act), ${done.sessions} sessions ended (${done.inTransaction} in a transaction), ${done.cut} connections cut; ${allows.length} allows: ${succeeded.length} succeeded with ${succeeded.length} effects, ${known.length - succeeded.length} failed with none, ${settled.length} indeterminate and settled, none with two; ${sink.asked.length} requests; ${done.requeued} jobs given up and requeued; 0 workers ended by themselves`,
  );
});
