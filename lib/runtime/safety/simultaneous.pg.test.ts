import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decideTicket } from "@/db/store/decide";
import { retryingBusy } from "@/db/testing/at-once";
import { figure } from "@/db/testing/figure";
import { aCall, codeOf, newWorld, openTestRun, park, verdict, type World } from "@/db/testing/world";
import { Worker } from "@/lib/runtime/worker";

let world: World;
let admin: postgres.Sql;
let folder: string;
beforeAll(async () => {
  world = await newWorld(24);
  admin = postgres(world.adminUrl, { max: 24, onnotice: () => undefined });
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-simultaneous-"));
});
afterAll(async () => {
  await admin.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const RUNS = 200;
const CLICKS = 100;
const NAIVE_RUNS = 20;

test("200 runs × 100 simultaneous Allows: 200 decisions, 200 effects, every refusal kept", {
  timeout: 900_000,
}, async () => {
  const started = await Promise.all(Array.from({ length: RUNS }, (_, index) => parkFile(index)));
  const codes: string[] = [];
  for (const ticket of started) {
    const clicks = await Promise.all(Array.from({ length: CLICKS }, () => verdict(world, { id: ticket }, "allow")));
    const people = [world.approver, world.approver2, world.owner];
    const outcomes = await Promise.all(
      clicks.map((click, index) =>
        retryingBusy(() => decideTicket(world.db, people[index % 3] ?? world.approver, ticket, click)),
      ),
    );
    codes.push(...outcomes.map(codeOf));
  }
  const worker = new Worker(world.db, { writeRoots: [folder], stop: new AbortController().signal });
  while (await worker.tick());

  const [kept] = await admin<{ decisions: number; effects: number; refusals: number; traced: number }[]>`
    select (select count(*)::int from decisions) as decisions,
      (select count(*)::int from trace_events where type = 'action_executed') as effects,
      (select count(*)::int from refusals) as refusals,
      (select count(*)::int from trace_events where refusal_code is not null) as traced`;
  const refused = codes.filter((code) => code !== "ok");
  expect(new Set(refused)).toEqual(new Set(["not_awaiting"]));
  expect(kept).toEqual({ decisions: RUNS, effects: RUNS, refusals: refused.length, traced: refused.length });
  expect(readdirSync(folder)).toHaveLength(RUNS);
  expect(refused).toHaveLength(RUNS * (CLICKS - 1));
  const naive = await naiveWinners();
  expect(naive).toBeGreaterThan(NAIVE_RUNS);
  figure(
    "one decision",
    `${RUNS} runs × ${CLICKS} simultaneous Allows: ${kept?.decisions} decisions, ${kept?.effects} effects, ${refused.length} refused and kept; ` +
      `without the lock (read, then write): ${naive} winners for ${NAIVE_RUNS} runs`,
  );
});

async function parkFile(index: number): Promise<string> {
  const runId = await openTestRun(world, world.agent, "worker");
  const call = aCall({
    action: "write_file",
    args: { content: `run ${index}` },
    output: path.join(folder, `${index}.txt`),
  });
  const ticket = (await park(world, runId, [call])).calls[0]?.ticket;
  if (!ticket) throw new Error("the call did not park");
  return ticket.id;
}

/** The same clicks on a store that reads the status and then writes: what our lock is worth. */
async function naiveWinners(): Promise<number> {
  await admin`create table naive (id int primary key, status text not null)`;
  await admin`insert into naive select n, 'open' from generate_series(1, ${NAIVE_RUNS}) n`;
  let winners = 0;
  for (let id = 1; id <= NAIVE_RUNS; id += 1) {
    const clicks = Array.from({ length: 10 }, async () => {
      const [row] = await admin<{ status: string }[]>`select status from naive where id = ${id}`;
      if (row?.status !== "open") return;
      await admin`update naive set status = 'allowed' where id = ${id}`;
      winners += 1;
    });
    await Promise.all(clicks);
  }
  await admin`drop table naive`;
  return winners;
}
