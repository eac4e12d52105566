import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cancel } from "@/db/store/operate";
import { allow, beginAndLapse, newWorld, openTestRun, parked, several, sweep, type World } from "@/db/testing/world";
import { readRunPage } from "./run-page";
import { readRuns } from "./runs-list";
import { readTicketPage } from "./ticket-page";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

describe("runs", () => {
  test("the list has what a verdict needs, filters, and pages by key", async () => {
    const { runId } = await parked(world, { action: "list_me", args: { needle: "hay_4711" } });
    const ended = await openTestRun(world);
    await cancel(world.db, world.operator, ended, "over");
    const none = { state: null, agent: null, stuck: false, expired: false, text: null };
    const found = await readRuns(world.db, world.workspace, { ...none, text: "hay_4711" }, 10, null);
    expect(found.rows).toMatchObject([
      { runId, state: "awaiting", openTickets: [{ action: "list_me", reason: "permission" }], liveCalls: [] },
    ]);
    expect(found.rows[0]?.openTickets[0]?.openedMs).toBeTypeOf("number");
    expect(
      (await readRuns(world.db, world.workspace, { ...none, state: "cancelled" }, 10, null)).rows.map(
        (row) => row.runId,
      ),
    ).toContain(ended);
    expect(
      (await readRuns(world.db, world.workspace, { ...none, stuck: true }, 10, null)).rows.map((row) => row.runId),
    ).not.toContain(runId);
    for (let index = 0; index < 2; index += 1) await openTestRun(world);
    const first = await readRuns(world.db, world.workspace, none, 2, null);
    const second = await readRuns(world.db, world.workspace, none, 2, first.next);
    expect(new Set([...first.rows, ...second.rows].map((row) => row.runId)).size).toBe(4);
  });

  test("a text is looked for in so many runs at once, and the next page goes on in older ones", async () => {
    const needle = "hay_5822";
    const { runId } = await parked(world, { action: "look_for_me", args: { needle } });
    for (let index = 0; index < 5; index += 1) await openTestRun(world);
    const none = { state: null, agent: null, stuck: false, expired: false };
    const search = (cursor: string | null, text = needle) =>
      readRuns(world.db, world.workspace, { ...none, text }, 10, cursor, 3);
    const first = await search(null);
    expect(first.rows).toEqual([]);
    expect(first.searchedTo).not.toBeNull();
    const second = await search(first.next);
    expect(second.rows.map((row) => row.runId)).toEqual([runId]);
    const { runsInAll } = first;
    let pages = 0;
    for (let cursor: string | null = null; pages === 0 || cursor !== null; pages += 1) {
      const page = await search(cursor, "nowhere at all");
      expect(page.searchedTo === null, "the last page alone has looked at all that was left").toBe(page.next === null);
      cursor = page.next;
    }
    expect(pages).toBe(Math.ceil(runsInAll / 3));
  });

  test("a run's page shows the delegated runs that live before those that are over, and counts them all", async () => {
    const parent = await parked(world, { action: "delegate_me" });
    const delegated: string[] = [];
    const of = { runId: parent.runId, call: parent.call.callRef };
    for (let index = 0; index < 22; index += 1) delegated.push(await openTestRun(world, world.agent, "client", of));
    for (const runId of delegated.slice(1)) await cancel(world.db, world.operator, runId, "over");
    const page = await readRunPage(world.db, world.workspace, parent.runId);
    expect(page?.childrenInAll).toBe(22);
    expect(page?.children.map(({ runId }) => runId)).toEqual([delegated[0], ...delegated.slice(3).reverse()]);
  });

  test("a verdict is given what only a person cures before what there is most of, and how much there is", async () => {
    const tickets = await several(
      world,
      Array.from({ length: 30 }, (_, index) => `crowd_${index}`),
    );
    const last = tickets.at(-1);
    if (!last) throw new Error("nothing parked");
    const { runId } = last;
    await allow(world, last.ticket);
    await beginAndLapse(world, last);
    await sweep(world);
    const waiting = await readRunPage(world.db, world.workspace, runId);
    expect([waiting?.facts.openInAll, waiting?.facts.openTickets.length]).toEqual([29, 20]);
    for (const { ticket } of tickets.slice(0, -1)) await allow(world, ticket);
    const decided = await readRunPage(world.db, world.workspace, runId);
    expect(decided?.facts.liveCalls[0]).toMatchObject({ callRef: last.call.callRef, status: "indeterminate" });
    expect(decided?.calls).toHaveLength(30);
  });

  test("a ticket's page names every other call of its batch", async () => {
    const tickets = await several(
      world,
      Array.from({ length: 60 }, (_, index) => `sibling_${index}`),
      {
        coupling: "all_or_nothing",
      },
    );
    const page = await readTicketPage(world.db, world.workspace, tickets[0]?.ticket.id ?? "");
    expect(page?.siblings).toHaveLength(59);
  });

  test("an allowed call is live, with who allowed it and when", async () => {
    const { runId, ticket } = await parked(world, { action: "live_me" });
    await allow(world, ticket);
    const page = await readRunPage(world.db, world.workspace, runId);
    expect(page?.facts.liveCalls).toMatchObject([
      { action: "live_me", status: "approved", allowedBy: "ada", ticketId: ticket.id },
    ]);
    expect(page?.facts.liveCalls[0]?.allowedMs).toBeTypeOf("number");
    expect(page?.calls).toMatchObject([{ action: "live_me", verdict: "allow", decidedBy: "ada" }]);
    expect(page?.events).toBeGreaterThan(3);
    expect(await readRunPage(world.db, "00000000-0000-4000-8000-000000000000", runId)).toBeNull();
  });
});
