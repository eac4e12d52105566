import { afterAll, beforeAll, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "@/db/testing/fresh-database";
import { openQueue, QUEUE_NAMES } from "./open";

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

// A benchmark that loses jobs, or takes one twice, measures nothing.
test.each(QUEUE_NAMES)("%s: the benchmark claims each job once, also past rows that are over", async (name) => {
  const queue = await openQueue(name, { url: database.appUrl, ownerUrl: database.adminUrl, lanes: 3 });
  try {
    for (let n = 0; n < 12; n += 1) await queue.enqueue(n);
    expect((await queue.drain()).jobs).toBe(12);
    await queue.age(20);
    for (let n = 12; n < 18; n += 1) await queue.enqueue(n);
    expect(await queue.claimTimes(6)).toHaveLength(6);
    expect((await queue.drain()).jobs).toBe(0);

    const started: number[] = [];
    let seenBoth: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      seenBoth = resolve;
    });
    const stop = await queue.consume((n) => {
      started.push(n);
      if (started.length === 2) seenBoth();
    });
    await queue.enqueue(18);
    await queue.enqueue(19);
    await both;
    await stop();
    expect(started.sort()).toEqual([18, 19]);
  } finally {
    await queue.close();
  }
});
