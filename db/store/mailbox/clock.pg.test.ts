import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { newWorld, type World } from "@/db/testing/world";
import { claimJobs } from "./claim";
import { enqueueJob } from "./enqueue";
import { ackJob } from "./report";

let world: World;
beforeAll(async () => {
  world = await newWorld(4);
});
afterAll(() => world.close());

async function put(mailboxId: string, availableAtMs: number | null = null): Promise<void> {
  const done = await enqueueJob(world.db, world.system, { mailboxId, origin: "Internal", availableAtMs });
  if (!done.ok) throw new Error(done.refusal.code);
}

async function take(scope: Parameters<typeof claimJobs>[0], mailboxId: string, leaseMs: number) {
  const done = await claimJobs(scope, world.system, { claimer: "w", leaseMs, mailboxId, outside: false });
  if (!done.ok) throw new Error(done.refusal.code);
  return done.value[0] ?? null;
}

// A frozen clock is the transaction's start: what came about since would not be seen.
test("an ack in a transaction that is older than the lease is refused once the lease is over", async () => {
  await put("old-transaction");
  const acked = await inWorkspace(world.db, world.workspace, async (tx) => {
    await tx.sql`select 1`;
    const held = await take(world.db, "old-transaction", 40);
    if (!held) throw new Error("nothing to claim");
    await sleep(120);
    return ackJob(tx, world.system, held);
  });
  expect(acked).toMatchObject({ ok: false, refusal: { code: "stale_claim" } });
});

test("a claim in a transaction that is older than the job's time takes it once that time has come", async () => {
  const held = await inWorkspace(world.db, world.workspace, async (tx) => {
    await tx.sql`select 1`;
    await put("due-since", Date.now() + 60);
    await sleep(200);
    return take(tx, "due-since", 60_000);
  });
  expect(held).not.toBeNull();
});
