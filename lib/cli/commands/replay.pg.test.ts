import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { figure } from "@/db/testing/figure";
import { RECORDED_CALLS, recordingsAreHere } from "@/db/testing/recordings";
import { allow, deny, newWorld, type World } from "@/db/testing/world";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { Worker } from "@/lib/runtime/worker";
import { type RecordedThread, readThreads, startThread } from "./replay";

let world: World;
beforeAll(async () => {
  world = await newWorld(24);
});
afterAll(() => world.close());

const WORKERS = 4;
const DECIDERS = 4;

test.skipIf(!recordingsAreHere())(
  "every recorded thread is replayed, decided call by call, and ends; nothing is lost or mangled",
  { timeout: 600_000 },
  async () => {
    const threads = await readThreads(RECORDED_CALLS);
    const runs = new Map<string, RecordedThread>();
    for (const thread of threads) runs.set(await startThread(world.db, world.cli, thread, false), thread);

    const stop = new AbortController();
    const options = { writeRoots: [], stop: stop.signal, onError: (error: unknown) => errors.push(error) };
    const errors: unknown[] = [];
    const workers = Array.from({ length: WORKERS }, () => new Worker(world.db, options).run());
    const counts = await decideEverything();
    stop.abort();
    await Promise.all(workers);

    expect(errors).toEqual([]);
    const ended = await counted("select cause as word, count(*)::int as n from runs group by 1");
    expect(ended).toEqual({ completed: threads.length });
    const stored = await checkCalls(runs);
    figure(
      "real recordings",
      `${threads.length} threads, ${stored.calls} calls: ${stored.passed} passed by rule, ${counts.allowed} allowed, ` +
        `${counts.denied} denied, ${stored.blocked} blocked as repeats; 0 mangled, every run completed`,
    );
    expect(stored.calls).toBe(threads.flatMap(callsOf).length);
    expect(stored.mangled).toEqual([]);
    expect(counts.allowed + counts.denied).toBeGreaterThan(1_000);
  },
);

function callsOf(thread: RecordedThread) {
  return thread.recording.steps.flatMap((step) => (step.kind === "calls" ? [...step.calls] : []));
}

/** People who decide whatever is open until every run has ended: about one in seven is denied. */
async function decideEverything(): Promise<{ allowed: number; denied: number }> {
  const counts = { allowed: 0, denied: 0 };
  const people = Array.from({ length: DECIDERS }, async (_, index) => {
    for (;;) {
      const open = await openTickets(index);
      for (const { id, turn } of open) {
        const denies = turn % 7 === 0;
        const outcome = denies ? await deny(world, { id }, world.approver, "no") : await allow(world, { id });
        if (!outcome.ok) throw new Error(`${outcome.refusal.code}: ${JSON.stringify(outcome.refusal.facts)}`);
        counts[denies ? "denied" : "allowed"] += 1;
      }
      if (open.length > 0) continue;
      const left = await counted("select 'left' as word, count(*)::int as n from runs where cause is null");
      if (!left.left) return;
      await sleep(20);
    }
  });
  await Promise.all(people);
  return counts;
}

/** Each decider takes the tickets of its own share, so that none comes second. */
async function openTickets(share: number): Promise<readonly { id: string; turn: number }[]> {
  return inWorkspace(
    world.db,
    world.workspace,
    async (tx) =>
      await tx.sql<{ id: string; turn: number }[]>`
      select id, turn from (select id, abs(hashtext(id::text)) as turn from tickets where status = 'open') open
      where turn % ${DECIDERS} = ${share} limit 50`,
  );
}

/** What is stored is what was recorded, and what was allowed has the recorded result. */
async function checkCalls(runs: ReadonlyMap<string, RecordedThread>) {
  const rows = await inWorkspace(
    world.db,
    world.workspace,
    async (tx) =>
      await tx.sql<StoredCall[]>`
      select r.run_id, c.step, c.batch_index, c.call_id, c.action, c.args, c.outcome, c.outcome_cause, c.authorised_by, c.result
      from calls c join runs r on r.id = c.run`,
  );
  const mangled: string[] = [];
  for (const row of rows) {
    const step = runs.get(row.runId)?.recording.steps[row.step - 1];
    const recorded = step?.kind === "calls" ? step.calls[row.batchIndex] : undefined;
    const isWhole =
      recorded &&
      recorded.callId === row.callId &&
      recorded.tool === row.action &&
      canonicalJson(recorded.args) === row.args &&
      (row.outcome !== "succeeded" || row.result === canonicalJson(recorded.result));
    if (!isWhole) mangled.push(`${row.runId} s${row.step}.${row.batchIndex}`);
  }
  return {
    calls: rows.length,
    mangled,
    passed: rows.filter((row) => row.authorisedBy === "rule").length,
    blocked: rows.filter((row) => row.outcomeCause === "repeat_of_denied").length,
  };
}

interface StoredCall {
  readonly runId: string;
  readonly step: number;
  readonly batchIndex: number;
  readonly callId: string | null;
  readonly action: string;
  readonly args: string;
  readonly outcome: string | null;
  readonly outcomeCause: string | null;
  readonly authorisedBy: string | null;
  readonly result: string | null;
}

async function counted(query: string): Promise<Record<string, number>> {
  const rows = await inWorkspace(
    world.db,
    world.workspace,
    async (tx) => await tx.sql.unsafe<{ word: string; n: number }[]>(query),
  );
  return Object.fromEntries(rows.map((row) => [row.word, row.n]));
}
