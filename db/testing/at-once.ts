import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { Busy } from "@/db/client";
import type { World } from "./world";

/**
 * Let verbs on one run truly overlap, in the order given: the run's row is held by another connection until every verb stands in
 * its queue, then let go. What each of them judges is what the ones before it have committed.
 */
export function atOnce<Answers extends readonly unknown[]>(
  world: World,
  runId: string,
  verbs: Verbs<Answers>,
  /** Keep them waiting this much longer, in ms: time that passes between a verb's start and its turn. */
  waitMs = 0,
): Promise<Answers> {
  return behind(world, (sql) => sql`select from runs where run_id = ${runId} for update`, verbs, waitMs);
}

type Verbs<Answers extends readonly unknown[]> = {
  readonly [index in keyof Answers]: () => Promise<Answers[index]>;
};

/** The same behind any row that all of them lock. */
export async function behind<Answers extends readonly unknown[]>(
  world: World,
  hold: (sql: postgres.TransactionSql) => PromiseLike<unknown>,
  verbs: Verbs<Answers>,
  waitMs = 0,
): Promise<Answers> {
  const holder = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  const watcher = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  try {
    const started: Promise<unknown>[] = [];
    await holder.begin(async (sql) => {
      await hold(sql);
      for (const [index, verb] of verbs.entries()) {
        started.push(verb());
        await untilWaiting(watcher, index + 1);
      }
      await sleep(waitMs);
    });
    return (await Promise.all(started)) as unknown as Answers;
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
  }
}

/** `busy` says that nothing was done and that it may be tried again: on a slow machine a long queue hears it, and does. */
export async function retryingBusy<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Busy)) throw error;
    }
  }
}

/** Until so many sessions of this database wait for a row lock. */
async function untilWaiting(sql: postgres.Sql, many: number): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const [row] = await sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and wait_event in ('transactionid', 'tuple')`;
    if ((row?.waiting ?? 0) >= many) return;
    await sleep(5);
  }
  throw new Error(`${many} verbs never stood in the run's queue: the race did not happen`);
}
