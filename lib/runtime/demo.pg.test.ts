import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { removeDemo } from "@/db/store/demo";
import { allow, newWorld, type World } from "@/db/testing/world";
import { seedDemo } from "./demo";
import { Worker } from "./worker";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

async function read<Row extends object>(query: string): Promise<readonly Row[]> {
  return inWorkspace(world.db, world.workspace, async (tx) => await tx.sql.unsafe<Row[]>(query));
}

test("the demo parks real tickets by the real worker, goes on when they are allowed, and is removed in one go", async () => {
  expect(await seedDemo(world.db, false)).toBe(true);
  expect(await seedDemo(world.db, true)).toBe(false);
  const worker = new Worker(world.db, { writeRoots: [], stop: new AbortController().signal });
  while (await worker.tick());
  const open = await read<{ id: string; reason: string; action: string }>(
    "select t.id, t.target_reason as reason, c.action from tickets t join calls c on c.run = t.run and c.call_ref = t.call_ref where t.status = 'open'",
  );
  expect(open.map((ticket) => ticket.action).sort()).toEqual([
    "ask",
    "delete_branch",
    "delete_branch",
    "delete_branch",
    "refund_payment",
    "run_command",
  ]);
  for (const ticket of open)
    if (ticket.reason === "permission") expect(await allow(world, ticket)).toMatchObject({ ok: true });
  while (await worker.tick());
  const ended = await read<{ name: string; cause: string | null }>(
    "select a.name, r.cause from runs r join agents a on a.id = r.agent_id order by 1",
  );
  expect(Object.fromEntries(ended.map((run) => [run.name, run.cause]))).toEqual({
    "branch-keeper": "completed",
    "newsletter-writer": null,
    "refund-desk": null,
    "shell-helper": "completed",
  });
  expect(await removeDemo(world.db, world.approver)).toMatchObject({ ok: false, refusal: { code: "not_permitted" } });
  expect(await removeDemo(world.db, world.owner)).toMatchObject({ ok: true, value: { archived: 4 } });
  expect(await removeDemo(world.db, world.owner)).toMatchObject({ ok: true, value: { archived: 0 } });
});
