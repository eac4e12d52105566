import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { newWorld, openTestRun, type World } from "@/db/testing/world";
import { openRun, type RunRequest } from "./open-run";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

const PLAIN: RunRequest = {
  runId: null,
  agent: "newcomer",
  snapshotId: null,
  threadId: null,
  input: "Good morning.",
  executor: "client",
  onBehalfOf: null,
  parent: null,
};

/** How many rows each table has that opening a run may write to, and the ledger. */
async function counted() {
  return inWorkspace(world.db, world.workspace, async (tx) => {
    const [counts] = await tx.sql<Record<string, number>[]>`
      select (select count(*)::int from agents) as agents, (select count(*)::int from agent_snapshots) as snapshots,
        (select count(*)::int from threads) as threads, (select count(*)::int from messages) as messages,
        (select count(*)::int from runs) as runs, (select count(*)::int from refusals) as refusals`;
    if (!counts) throw new Error("nothing was counted");
    return counts;
  });
}

test("a run that is refused leaves no agent, snapshot, thread or message: the refusal alone stays", async () => {
  const known = await openTestRun(world);
  const others = await openTestRun(world, world.otherAgent);
  const refused: readonly [string, Partial<RunRequest>][] = [
    ["run_exists", { runId: known, threadId: "a thread of nobody" }],
    ["not_permitted", { threadId: others }],
    ["snapshot_mismatch", { snapshotId: "snap_of_nobody", threadId: "a thread of nobody" }],
    ["unknown_run", { parent: { runId: "no such run", call: "s1.0" }, threadId: "a thread of nobody" }],
    ["invalid_body", { onBehalfOf: "nobody@example.test", threadId: "a thread of nobody" }],
  ];
  for (const [code, request] of refused) {
    const before = await counted();
    const opened = await openRun(world.db, world.agent, { ...PLAIN, ...request });
    expect(opened.ok ? "opened" : opened.refusal.code).toBe(code);
    expect(await counted(), code).toEqual({ ...before, refusals: (before.refusals ?? 0) + 1 });
  }
});

test("of ten who open one run on ten threads at once, one does, and one thread is there", async () => {
  const before = await counted();
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, place) =>
      openRun(world.db, world.agent, { ...PLAIN, runId: "the-one", threadId: `thread-${place}` }),
    ),
  );
  expect(all.filter((it) => it.ok)).toHaveLength(1);
  expect(all.flatMap((it) => (it.ok ? [] : [it.refusal.code]))).toEqual(Array(9).fill("run_exists"));
  const after = await counted();
  expect(
    [after.threads, after.messages, after.runs].map(
      (it, at) => (it ?? 0) - ([before.threads, before.messages, before.runs][at] ?? 0),
    ),
  ).toEqual([1, 1, 1]);
});
