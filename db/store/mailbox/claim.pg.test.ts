import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorld, type World } from "@/db/testing/world";
import { ensureWorkspace, localCaller } from "../identity";
import { claimNext } from "./claim";
import { enqueueJob } from "./enqueue";
import { ackJob } from "./report";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld(4);
  admin = postgres(world.adminUrl, { max: 2, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

async function put(mailboxId: string, over: { priority?: number; caller?: World["system"] } = {}): Promise<string> {
  const { caller = world.system, ...request } = over;
  const put = await enqueueJob(world.db, caller, { mailboxId, origin: "User", ...request });
  if (!put.ok) throw new Error(put.refusal.code);
  return put.value.jobId;
}

test("behind mailboxes that others hold, however many, a job that waits is found", async () => {
  for (let n = 0; n < 20; n += 1) await put(`held-${n}`);
  const behind = await put("behind");
  await admin.begin(async (sql) => {
    await sql`select from mailboxes where mailbox_id like 'held-%' for update`;
    const claimed = await claimNext(world.db, { claimer: "w", most: 3 });
    expect(claimed.map(({ jobId }) => jobId)).toEqual([behind]);
  });
  const rest = await claimNext(world.db, { claimer: "w", most: 50 });
  expect(rest.map(({ mailboxId }) => mailboxId)).toEqual(Array.from({ length: 20 }, (_, n) => `held-${n}`));
  await admin`delete from jobs`;
});

test("a claim gives the job whole, one of a mailbox, the urgent first", async () => {
  await put("a");
  const urgent = await put("a", { priority: 1 });
  const other = await put("b");
  const claimed = await claimNext(world.db, { claimer: "w-1", leaseMs: 30_000, most: 10 });
  expect(claimed.map(({ jobId }) => jobId)).toEqual([urgent, other]);
  expect(claimed[0]).toMatchObject({
    workspace: world.workspace,
    status: "Claimed",
    claimedBy: "w-1",
    attemptCount: 1,
    agent: null,
    runId: null,
  });
  const [first] = claimed;
  if (!first) throw new Error("nothing was claimed");
  expect(first.token).toBe(first.claimToken);
  expect(await ackJob(world.db, world.system, first)).toMatchObject({ ok: true, value: { status: "Accepted" } });
  await admin`delete from jobs`;
});

test("among workspaces without work the one that has some is found; a suspended one rests", async () => {
  const elsewhere = await Promise.all(
    ["one", "two", "three", "four"].map(async (slug) =>
      localCaller(world.db, await ensureWorkspace(world.db, slug), "system", "holdpoint", "system"),
    ),
  );
  for (const caller of elsewhere) await put("there", { caller });
  await admin`update workspaces set suspended_at = clock_timestamp() where id = ${elsewhere[0]?.workspace ?? ""}`;
  const found: string[] = [];
  for (;;) {
    const [job] = await claimNext(world.db, { claimer: "w" });
    if (!job) break;
    found.push(job.workspace);
  }
  expect(found.sort()).toEqual(
    elsewhere
      .slice(1)
      .map(({ workspace }) => workspace)
      .sort(),
  );
  await admin`delete from jobs`;
});

test("a login that has the role's rights only when it takes it on claims too", async () => {
  const job = await put("a");
  expect(await claimNext({ ...world.db, inherits: false }, { claimer: "w" })).toMatchObject([{ jobId: job }]);
});
