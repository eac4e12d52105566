import { setTimeout as sleep } from "node:timers/promises";
import type postgres from "postgres";
import { median, percentile, rateOf } from "./load";
import { startDrainers } from "./queues/drainers";
import { openQueue, QUEUE_NAMES, type QueueName } from "./queues/open";
import { epochMs, type Queue, type QueueAddress } from "./queues/queue";

/** Connections of one process. */
export const LANES = 16;

export interface QueueRates {
  readonly enqueue: number;
  readonly one: number;
  readonly two: number;
}

/** One round: every queue in turn takes in so many jobs, empties them with one worker process, and again with two. */
export async function measureRates(address: QueueAddress, jobs: number): Promise<ReadonlyMap<QueueName, QueueRates>> {
  const rates = new Map<QueueName, QueueRates>();
  for (const name of QUEUE_NAMES) {
    const queue = await openQueue(name, address);
    const drainers = await startDrainers({ name, address }, 2);
    try {
      const first = await fill(queue, jobs);
      const one = await drainers.rate(1);
      const second = await fill(queue, jobs);
      rates.set(name, { enqueue: (first + second) / 2, one, two: await drainers.rate(2) });
    } finally {
      await drainers.close();
      await queue.close();
    }
  }
  return rates;
}

let last = 0;

async function fill(queue: Queue, jobs: number): Promise<number> {
  const numbers = Array.from({ length: jobs }, () => ++last);
  return (await rateOf(LANES, numbers, (n) => queue.enqueue(n))).perSecond;
}

export interface Times {
  readonly p50: number;
  readonly p99: number;
}

function timesOf(taken: readonly number[]): Times {
  return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
}

/** From asking to be put in, to where the handler begins, on a system with nothing else to do. */
export async function measureIdle(address: QueueAddress, times: number): Promise<ReadonlyMap<QueueName, Times>> {
  const found = new Map<QueueName, Times>();
  for (const name of QUEUE_NAMES) {
    const queue = await openQueue(name, { ...address, lanes: 4 });
    const waiting = new Map<number, (at: number) => void>();
    const stop = await queue.consume((n) => waiting.get(n)?.(epochMs()));
    const taken: number[] = [];
    await sleep(1_000);
    for (let index = 0; index < times; index += 1) {
      // Not in step with anybody's timer.
      await sleep(20 + Math.random() * 80);
      const n = ++last;
      const started = new Promise<number>((resolve) => waiting.set(n, resolve));
      const began = epochMs();
      await queue.enqueue(n);
      taken.push((await started) - began);
    }
    await stop();
    await queue.close();
    found.set(name, timesOf(taken));
  }
  return found;
}

/** What stands in the tables while claims are timed. */
export interface Ground {
  readonly rows: number;
  /** So many jobs pass while another session keeps an old snapshot, so that none of what they leave can be cleaned up. */
  readonly passing: number;
}

const TURNS = 4;

/** How long one claim takes, one after the other, the queues by turns; on each ground more rows are over than on the last. */
export async function measureClaims(
  admin: postgres.Sql,
  address: QueueAddress,
  grounds: readonly Ground[],
  times: number,
): Promise<readonly ReadonlyMap<QueueName, Times>[]> {
  const opened = await Promise.all(
    QUEUE_NAMES.map(async (name) => ({ name, queue: await openQueue(name, { ...address, lanes: 4 }) })),
  );
  const found: ReadonlyMap<QueueName, Times>[] = [];
  let rows = 0;
  try {
    for (const ground of grounds) {
      for (const { queue } of opened) if (ground.rows > rows) await queue.age(ground.rows - rows);
      rows = ground.rows;
      await admin`vacuum (analyze)`;
      found.push(
        ground.passing > 0
          ? await besideOldSnapshot(admin, () => claimsOf(opened, times, address, ground.passing))
          : await claimsOf(opened, times, address, 0),
      );
    }
  } finally {
    await Promise.all(opened.map(({ queue }) => queue.close()));
  }
  return found;
}

interface Opened {
  readonly name: QueueName;
  readonly queue: Queue;
}

async function claimsOf(opened: readonly Opened[], times: number, address: QueueAddress, passing: number) {
  if (passing > 0) for (const one of opened) await pass(one, address, passing);
  const taken = new Map<QueueName, number[]>(opened.map(({ name }) => [name, []]));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { name, queue } of opened) {
      await fill(queue, times / TURNS);
      taken.get(name)?.push(...(await queue.claimTimes(times / TURNS)));
    }
  }
  return new Map([...taken].map(([name, claims]) => [name, timesOf(claims)]));
}

async function pass({ name, queue }: Opened, address: QueueAddress, jobs: number): Promise<void> {
  const drainers = await startDrainers({ name, address }, 1);
  await fill(queue, jobs);
  await drainers.rate(1);
  await drainers.close();
}

async function besideOldSnapshot<Value>(admin: postgres.Sql, work: () => Promise<Value>): Promise<Value> {
  const holder = await admin.reserve();
  try {
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from pg_class`;
    return await work();
  } finally {
    await holder`rollback`;
    holder.release();
  }
}

/** The median of the rounds, and of each round's ratio to PostgreSQL by hand. */
export function overRounds(
  rounds: readonly ReadonlyMap<QueueName, QueueRates>[],
  name: QueueName,
  of: keyof QueueRates,
): { readonly rate: number; readonly ratio: number } {
  const rate = (round: ReadonlyMap<QueueName, QueueRates>, which: QueueName) => round.get(which)?.[of] ?? Number.NaN;
  return {
    rate: median(rounds.map((round) => rate(round, name))),
    ratio: median(rounds.map((round) => rate(round, name) / rate(round, "PostgreSQL by hand"))),
  };
}
