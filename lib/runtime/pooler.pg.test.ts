import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Listener, Notifier } from "@/db/notifier";
import { type ResettingPooler, resettingPooler } from "@/db/testing/resetting-pooler";
import { aCall, allow, newWorld, openTestRun, park, standing, type World } from "@/db/testing/world";
import { runWorker } from "./worker";

let world: World;
let pooler: ResettingPooler;
let pooledUrl: string;
let folder: string;
beforeAll(async () => {
  world = await newWorld(4);
  pooler = await resettingPooler(world.appUrl);
  pooledUrl = `${pooler.url}?prepare=false`;
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-pooler-"));
});
afterAll(async () => {
  await pooler.close();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a listener says of its address before it is closed. */
async function saidOf(url: string): Promise<readonly string[]> {
  const said: string[] = [];
  await new Listener(url, (sentence) => said.push(sentence)).close();
  return said;
}

test("PostgreSQL's own address: a LISTEN stays, and nothing is said", async () => {
  expect(await saidOf(world.appUrl)).toEqual([]);
});

test("behind a pooler a LISTEN is gone by the next query: one sentence says so", async () => {
  expect(await saidOf(pooledUrl)).toEqual([expect.stringMatching(/^LISTEN does not stick .* polled for/)]);
});

test("a database that is away is no pooler: nothing fails, and it is said that this process polls", async () => {
  const said = await saidOf("postgres://nobody@127.0.0.1:1/none?connect_timeout=1");
  expect(said).toEqual([expect.stringMatching(/^LISTEN is not to be had here, .* polled for .*ECONNREFUSED/)]);
});

test("a process behind the pooler is not woken, but it wakes those that are not", async () => {
  const listener = new Listener(world.appUrl);
  const heard: string[] = [];
  listener.subscribe((change) => heard.push(...(change?.runs ?? [])));
  const notifier = new Notifier(pooledUrl);
  // Until it listens, what is said is gone.
  while (heard.length === 0) {
    notifier.tell({ workspace: world.workspace, runs: ["a-run"] });
    await sleep(20);
  }
  expect(heard).toContain("a-run");
  await Promise.all([listener.close(), notifier.close()]);
});

test("a prepared statement does not outlive its transaction there: hence prepare=false", async () => {
  const twice = async (url: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      for (let at = 0; at < 2; at += 1) await sql.begin((tx) => tx`select ${at}::int`);
    } finally {
      await sql.end();
    }
  };
  await expect(twice(pooler.url)).rejects.toThrow();
  await twice(pooledUrl);
});

test("a worker behind the pooler says once that it polls, and does what was allowed", async () => {
  const said: string[] = [];
  const errors: unknown[] = [];
  const stop = new AbortController();
  const working = runWorker({
    databaseUrl: pooledUrl,
    writeRoots: [folder],
    stop: stop.signal,
    onNotice: (sentence) => said.push(sentence),
    onError: (error) => errors.push(error),
  });
  const runId = await openTestRun(world, world.agent, "worker");
  const output = path.join(folder, "file.txt");
  const ticket = (await park(world, runId, [aCall({ action: "write_file", args: { content: "x" }, output })])).calls[0]
    ?.ticket;
  if (!ticket) throw new Error("the call did not park");
  await allow(world, ticket);
  while ((await standing(world, runId)).call.status !== "completed") await sleep(50);
  expect(readFileSync(output, "utf8")).toBe("x");
  while (said.length === 0) await sleep(50);
  stop.abort();
  await working;
  expect(said).toHaveLength(1);
  expect(errors).toEqual([]);
}, 300_000);
