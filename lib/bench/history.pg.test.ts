import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace, type Tx } from "@/db/client";
import { othersWriteToo } from "@/db/testing/refusal-count";
import { newWorld, type World } from "@/db/testing/world";
import { layDown, pagesOver } from "./history";
import { openBenchRun, parkOne } from "./verbs";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  // Refusals are laid down as rows, and given to nobody.
  othersWriteToo();
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

/** These stop at a number of rows that is larger than what is laid down here. */
const CAPPED = ["the mailbox's counts", "runs with a text that none has"];

/** More than what a list counts up to. */
const FEW = 6_000;
const MANY = 12_000;

test("no page reads more rows because more runs are over", async () => {
  const bench = { db: world.db, admin, agent: world.agent, approver: world.approver };
  const open = await parkOne(bench, await openBenchRun(bench, "client"));
  const pages = pagesOver(bench, open).filter(([name]) => !CAPPED.includes(name));
  const touched = async () => {
    const rows: [string, number][] = [];
    for (const [name, read] of pages) rows.push([name, await rowsRead(read)]);
    return new Map(rows);
  };
  await layDown(bench, 0, FEW);
  const few = await touched();
  await layDown(bench, FEW, MANY);
  const many = await touched();
  const grown = pages.flatMap(([name]) => {
    const [before, after] = [few.get(name) ?? 0, many.get(name) ?? 0];
    return after > before * 1.2 + 50 ? [`${name}: ${before} rows, then ${after}`] : [];
  });
  expect(grown).toEqual([]);
});

/** By the database's own count, which a connection carries on from one transaction to the next for a while. */
async function rowsRead(read: ReturnType<typeof pagesOver>[number][1]): Promise<number> {
  return inWorkspace(world.db, world.workspace, async (tx) => {
    // So small a table is rightly read whole; what is asked here is whether there is another way.
    await tx.sql`set local enable_seqscan = off`;
    const before = await counted(tx);
    await read(tx);
    return (await counted(tx)) - before;
  });
}

async function counted({ sql }: Tx): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as rows from pg_stat_xact_user_tables`;
  return row?.rows ?? 0;
}
