import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { LeftOut } from "@/db/testing/child-program";
import { figure } from "@/db/testing/figure";
import { aCall, allow, newWorld, openTestRun, park, standing, traceTypes, type World } from "@/db/testing/world";
import { type TargetServer, targetServer } from "@/lib/runtime/gateway/testing/target-server";
import { ToldWorker } from "@/lib/runtime/testing/told-worker";

let world: World;
let admin: postgres.Sql;
let sink: TargetServer;
let hosts: string;
/** The request at the far end that gets no answer, and how to give it one. */
let held: { readonly path: string; answer: (() => void) | null } | null = null;

beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 3, onnotice: () => undefined });
  sink = await targetServer((response, { url }) => {
    const answer = () => response.end("paid");
    if (held?.path === url && held.answer === null) held.answer = answer;
    else answer();
  });
  hosts = `http://localhost:${sink.port}`;
});
afterAll(async () => {
  ToldWorker.removeAll();
  await sink.close();
  await admin.end();
  await world.close();
});

const ROUNDS = inject("stops");
const LEASE_MS = 400;

/** What stands between a claim and whoever holds it no longer. */
const CLAIM: LeftOut = {
  file: "db/store/mailbox/rows.ts",
  guard: ` and status = 'Claimed'
    and claim_token = \${uuidOr(token)} and lease_until >= clock_timestamp()`,
};

/** Where it is stopped: before its request is sent; with the answer on its way; with no answer ever. */
const MOMENTS = ["before the act", "answered in its sleep", "never answered"] as const;
type Moment = (typeof MOMENTS)[number];

interface Night {
  /** Stopped workers whose report changed what another had finished. */
  taken: number;
  /** Each run with its call and its jobs as they stood before the stopped worker woke up. */
  readonly finished: Map<string, string>;
}

/** One worker is stopped in mid-call, round after round, another finishes what it held, and it wakes up. */
async function night(leftOut: LeftOut | null): Promise<Night> {
  const start = await ToldWorker.program(leftOut);
  const sleeper = start(world.appUrl, hosts, LEASE_MS);
  const other = start(world.appUrl, hosts);
  const tally: Night = { taken: 0, finished: new Map() };
  while (tally.finished.size < ROUNDS) {
    const at = tally.finished.size;
    const path = `/${leftOut ? "undefended" : "defended"}-${at}`;
    const runId = await allowed(path);
    if (!(await stopAt(MOMENTS[at % MOMENTS.length] ?? "never answered", sleeper, path, runId))) continue;
    const row = await finishedBy(other, runId);
    tally.finished.set(runId, row);
    sleeper.wake();
    await sleeper.finish();
    if ((await stands(runId)).row !== row) tally.taken += 1;
  }
  await Promise.all([sleeper.leave(), other.leave()]);
  return tally;
}

async function allowed(path: string): Promise<string> {
  const runId = await openTestRun(world, world.agent, "worker");
  const call = aCall({ action: "http_request", args: { method: "POST", body: path }, output: `${hosts}${path}` });
  const ticket = (await park(world, runId, [call])).calls[0]?.ticket;
  if (!ticket) throw new Error("the call did not park");
  await allow(world, ticket);
  return runId;
}

/** Stopped, and for three leases. False: it had lost its claim before that, so this round proves nothing and is repeated. */
async function stopAt(moment: Moment, sleeper: ToldWorker, path: string, runId: string): Promise<boolean> {
  await sleeper.untilAboutToAct();
  held = { path, answer: null };
  if (moment !== "before the act") {
    sleeper.act();
    while (held.answer === null && !sleeper.hasSpoken) await sleep(5);
  }
  sleeper.stop();
  const { answer } = held;
  held = null;
  // It hears this when it wakes up: then it acts, if nothing tells it not to.
  if (moment === "before the act") sleeper.act();
  if (!(await stands(runId)).atWork) {
    sleeper.wake();
    await sleeper.finish();
    return false;
  }
  await threeLeases(runId);
  if (moment === "answered in its sleep") answer?.();
  return true;
}

/** By the database's clock, counted from the last renewal that went through. */
async function threeLeases(runId: string): Promise<void> {
  for (;;) {
    const [over] = await admin`
      select from jobs where run = (select id from runs where run_id = ${runId}) and status = 'Claimed'
        and clock_timestamp() > lease_until + ${2 * LEASE_MS} * interval '1 millisecond'`;
    if (over) return;
    await sleep(50);
  }
}

/** Gives how everything stood then. */
async function finishedBy(other: ToldWorker, runId: string): Promise<string> {
  for (;;) {
    const { status, row } = await stands(runId);
    if (status === "Accepted") return row;
    if (status.includes("DeadLetter")) throw new Error("the job was given up");
    await other.work();
    await sleep(10);
  }
}

/** The call and the jobs of a run, to the last byte: a lapse may have given it a second job. */
async function stands(runId: string) {
  const [row] = await admin<{ atWork: boolean; status: string; row: string }[]>`
    select bool_or(j.status = 'Claimed' and c.status = 'executing') as "atWork",
      string_agg(distinct j.status, ' ') as status,
      string_agg(concat(j.xmin, j, c.xmin, c), '' order by j.created_at) as row
    from jobs j join calls c on c.run = j.run where j.run = (select id from runs where run_id = ${runId})`;
  if (!row) throw new Error("the run has no job");
  return row;
}

test("a worker that is stopped in mid-call for three leases: another finishes, whatever it reports on waking is refused, the effect is there once", {
  timeout: 60_000 + ROUNDS * 60_000,
}, async () => {
  const defended = await night(null);
  const refused = await refusedTo([...defended.finished.keys()]);
  for (const [runId, row] of defended.finished) {
    expect((await stands(runId)).row).toBe(row);
    const { call } = await standing(world, runId);
    expect(call).toMatchObject({ status: "completed", outcome: "succeeded" });
    expect(refused.get(runId), "each waking is refused at least once").toBeGreaterThan(0);
    await traceTypes(world, runId);
  }
  const requests = sink.asked.length;
  const effects = new Set(sink.asked.map(({ url, headers }) => `${url} ${headers["idempotency-key"]}`)).size;
  const undefended = await night(CLAIM);
  expect(defended.taken).toBe(0);
  expect(effects).toBe(ROUNDS);
  expect(requests).toBeGreaterThan(ROUNDS);
  expect(undefended.taken).toBe(ROUNDS);
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0);
  figure(
    "stopped in mid-call",
    `${ROUNDS} workers stopped for three leases and woken: ${ROUNDS} jobs finished by another, ${total} late writes refused and kept, ${defended.taken} taken; ${requests} requests, ${effects} effects; without the claim's token and lease: ${undefended.taken} of ${ROUNDS} finished jobs changed`,
  );
});

/** What was refused to workers whose claim or attempt was another's, run by run; each is in the run's trace too. */
async function refusedTo(runIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await admin<{ runId: string; count: number }[]>`
    select r.run_id as "runId", count(*)::int as count
    from refusals f join runs r on r.workspace_id = f.workspace_id and r.id = f.run
    join trace_events e on e.workspace_id = f.workspace_id and e.run = f.run and e.seq = f.seq
    where r.run_id in ${admin([...runIds])} and f.code in ('stale_claim', 'stale_attempt') group by 1`;
  return new Map(rows.map(({ runId, count }) => [runId, count]));
}

test("a worker that is stopped within its heartbeat, the run locked: the database lets go of the run, and another finishes", {
  timeout: 120_000,
}, async () => {
  const start = await ToldWorker.program();
  // Unprepared, each statement takes two flights: stopped between them, it is neither idle nor at work.
  const sleeper = start(`${world.appUrl}?prepare=false`, hosts, LEASE_MS);
  const other = start(world.appUrl, hosts);
  let runId: string;
  do runId = await allowed("/heartbeat");
  while (!(await stopInHeartbeat(sleeper)));
  const row = await finishedBy(other, runId);
  sleeper.wake();
  // Its connection was ended in its sleep.
  await sleeper.finish();
  expect((await stands(runId)).row).toBe(row);
  expect((await standing(world, runId)).call).toMatchObject({ outcome: "succeeded" });
  await traceTypes(world, runId);
  await Promise.all([sleeper.leave(), other.leave()]);
  figure("stopped within its heartbeat", "the run's lock was let go of by the database, and another worker finished");
});

/** The heartbeat has locked its run and waits for a table; it is stopped there, and then the table is free. */
async function stopInHeartbeat(sleeper: ToldWorker): Promise<boolean> {
  await sleeper.untilAboutToAct();
  await admin.begin(async (sql) => {
    await sql`lock table calls in share mode`;
    while (!(await someBackend({ waits: "relation", state: "active" }))) await sleep(5);
    sleeper.stop();
  });
  while (await someBackend({ waits: "relation", state: "active" })) await sleep(5);
  if (await someBackend({ waits: "ClientRead", state: "active" })) return true;
  sleeper.wake();
  sleeper.act();
  await sleeper.finish();
  return false;
}

/** Whether a backend with a transaction of its own stands so. */
async function someBackend({ waits, state }: { readonly waits: string; readonly state: string }): Promise<boolean> {
  const found = await admin`
    select from pg_stat_activity where datname = current_database() and application_name = 'holdpoint'
      and wait_event = ${waits} and state = ${state} and backend_xid is not null`;
  return found.count > 0;
}
