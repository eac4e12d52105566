import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seeWorker } from "@/db/store/workers";
import { newWorld, type World } from "@/db/testing/world";
import { seenWorkers } from "./workers";

let world: World;
let admin: postgres.Sql;

beforeAll(async () => {
  world = await newWorld(2);
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

test("a worker that was silent for 16 seconds does not poll any more, and one that was silent for a day is not listed", async () => {
  for (const worker of ["fresh", "silent", "forgotten"]) await seeWorker(world.db, worker);
  await admin`update workers set last_seen_at = clock_timestamp() - interval '16 seconds' where worker_id = 'silent'`;
  await admin`update workers set last_seen_at = clock_timestamp() - interval '25 hours' where worker_id = 'forgotten'`;
  const polling = async () => (await seenWorkers(world.db)).workers.map(({ workerId, polls }) => [workerId, polls]);
  expect(await polling()).toEqual([
    ["fresh", true],
    ["silent", false],
  ]);
  await seeWorker(world.db, "silent");
  expect(await polling()).toEqual([
    ["silent", true],
    ["fresh", true],
  ]);
});
