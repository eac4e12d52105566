import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { askPerson } from "@/db/store/ask";
import { decideTicket } from "@/db/store/decide";
import { aCall, allow, deny, newWorld, openTestRun, park, parked, verdict, type World } from "@/db/testing/world";
import { readNewestEvent, readRunNames } from "./change-feed";
import { findByText } from "./find";
import { COUNT_CAP, type InboxFilter, readInbox, readInboxSummary, readOpenCount } from "./inbox";
import { deadlineKey } from "./paging";
import { readRefusals } from "./refusals";
import { readRunPage } from "./run-page";
import { readTicketPage } from "./ticket-page";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

const ALL: InboxFilter = { mine: false, agent: null, action: null, risk: null, kind: null };

async function inbox(
  filter: Partial<InboxFilter> = {},
  limit = 50,
  cursor: string | null = null,
  who = world.approver,
) {
  const reader = { person: who.person ?? "", role: who.role ?? "approver" };
  return readInbox(world.db, world.workspace, reader, { ...ALL, ...filter }, limit, cursor);
}

function summary(filter: Partial<InboxFilter> = {}, who = world.approver) {
  const reader = { person: who.person ?? "", role: who.role ?? "approver" };
  return readInboxSummary(world.db, world.workspace, reader, { ...ALL, ...filter });
}

describe("the inbox", () => {
  test("lists open tickets by deadline, those without one last, and pages by key without a gap or a repeat", async () => {
    const deadlines = [9_000_000, null, 3_000_000, 6_000_000, null];
    for (const deadlineInMs of deadlines) await parked(world, { action: "page_me", deadlineInMs });
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 3; page += 1) {
      const reading = await inbox({ action: "page_me" }, 2, cursor);
      seen.push(...reading.rows.map((row) => row.ticketId));
      cursor = reading.next;
    }
    expect(cursor).toBeNull();
    expect(new Set(seen).size).toBe(5);
    const whole = await inbox({ action: "page_me" });
    expect(whole.rows.map((row) => row.ticketId)).toEqual(seen);
    expect(whole.rows.map((row) => row.deadlineMs === null)).toEqual([false, false, false, true, true]);
  });

  test("counts under its filters and without them, says what is due soon, and offers the agents and actions that wait", async () => {
    for (const deadlineInMs of [60_000, 9_000_000, null]) await parked(world, { action: "count_me", deadlineInMs });
    const counted = await summary({ action: "count_me" });
    expect(counted).toMatchObject({ counted: 3, dueSoon: 1 });
    expect(counted.openInAll).toBe((await readOpenCount(world.db, world.workspace)).open);
    expect(counted.openInAll).toBeLessThan(COUNT_CAP);
    expect(counted.actions).toContain("count_me");
    expect(counted.actions).toEqual([...new Set((await inbox()).rows.map((row) => row.action))].sort());
    expect(counted.agents).toEqual(["agent-of-desk"]);
    expect((await summary({ action: "count_me", mine: true }, world.operator)).counted).toBe(0);
    expect((await summary({ action: "count_me", agent: "nobody" })).counted).toBe(0);
  });

  test("a question is the action ask, a pause is none; each is found by its kind, and counted", async () => {
    const runId = await openTestRun(world);
    const none = { schema: null, options: null, deadlineMs: null, deadlineInMs: null, state: null, messages: [] };
    const asking = { ...none, callId: "q1", question: "Which account?", onExpiry: "hold" } as const;
    expect(await askPerson(world.db, world.agent, runId, asking)).toMatchObject({ ok: true });
    const asked = await inbox({ action: "ask" });
    expect(asked.rows.map((row) => [row.action, row.reason])).toEqual([["ask", "user_input"]]);
    expect(await summary({ action: "ask", kind: "question" })).toMatchObject({ counted: 1 });
    expect((await summary({ action: "ask", kind: "permission" })).counted).toBe(0);
    expect((await summary()).actions).toContain("ask");
  });

  test("a deep page begins in the index, under row security too, and reads nothing that stands before it", async () => {
    const plan = await inWorkspace(world.db, world.workspace, async (tx) => {
      await tx.sql`set local enable_seqscan = off`;
      return await tx.sql<Record<string, string>[]>`
        explain select t.id from tickets t where t.workspace_id = ${tx.workspace} and t.status = 'open'
          and (${deadlineKey(tx)}, t.id) > (${4_000_000_000_000}::bigint, ${randomUUID()}::uuid)
        order by ${deadlineKey(tx)}, t.id limit 51`;
    });
    const lines = plan.map((row) => Object.values(row)[0] ?? "").map((line) => line.trim());
    expect(lines.filter((line) => line.startsWith("Filter:"))).toEqual([]);
    expect(lines.find((line) => line.startsWith("Index Cond:"))).toContain("ROW(CASE");
  });

  test("a limit that is no whole number never reaches a statement", async () => {
    await expect(inbox({}, Number.NaN)).rejects.toThrow(RangeError);
    await expect(inbox({}, -2)).rejects.toThrow(RangeError);
    await expect(inbox({}, 1.5)).rejects.toThrow(RangeError);
  });

  test("says who may decide what: an approver a permission, an operator none", async () => {
    await parked(world, { action: "who_may" });
    expect((await inbox({ action: "who_may", mine: true })).rows).toHaveLength(1);
    expect((await inbox({ action: "who_may", mine: true }, 50, null, world.operator)).rows).toHaveLength(0);
    const [row] = (await inbox({ action: "who_may" }, 50, null, world.operator)).rows;
    expect(row?.mayDecide).toBe(false);
  });

  test("filters by agent, risk and kind, and a decided ticket leaves it", async () => {
    const { ticket } = await parked(world, { action: "leave_me", risk: "high" });
    expect(
      (await inbox({ action: "leave_me", risk: "high", agent: "agent-of-desk", kind: "permission" })).rows,
    ).toHaveLength(1);
    expect((await inbox({ action: "leave_me", risk: "low" })).rows).toHaveLength(0);
    expect((await inbox({ action: "leave_me", kind: "question" })).rows).toHaveLength(0);
    const before = (await readOpenCount(world.db, world.workspace)).open;
    await allow(world, ticket);
    expect((await inbox({ action: "leave_me" })).rows).toHaveLength(0);
    expect((await readOpenCount(world.db, world.workspace)).open).toBe(before - 1);
  });

  test("tells that the same proposal was denied before in this run", async () => {
    const runId = await openTestRun(world);
    const [first] = (await park(world, runId, [aCall({ action: "again" })])).calls;
    if (!first?.ticket) throw new Error("not parked");
    await deny(world, first.ticket);
    await park(world, runId, [aCall({ action: "again" })], { step: 2 });
    expect((await inbox({ action: "again" })).rows.map((row) => row.deniedBefore)).toEqual([1]);
  });

  test("another workspace's tickets are not there", async () => {
    const reader = { person: world.approver.person ?? "", role: "approver" as const };
    const other = await readInbox(world.db, "00000000-0000-4000-8000-000000000000", reader, ALL, 50, null);
    expect(other.rows).toHaveLength(0);
    const around = await readInboxSummary(world.db, "00000000-0000-4000-8000-000000000000", reader, ALL);
    expect(around).toMatchObject({ counted: 0, openInAll: 0, agents: [], actions: [] });
  });
});

describe("a ticket's page", () => {
  test("has the proposal's view, its siblings, the last decided one of the same agent and action, and who may decide", async () => {
    const earlier = await parked(world, { action: "compare_me", args: { amount: 1 } });
    await allow(world, earlier.ticket);
    const runId = await openTestRun(world);
    const answer = await park(
      world,
      runId,
      [aCall({ action: "compare_me", args: { amount: 2 } }), aCall({ action: "beside" })],
      { coupling: "all_or_nothing" },
    );
    const ticket = answer.calls[0]?.ticket;
    if (!ticket) throw new Error("not parked");
    const page = await readTicketPage(world.db, world.workspace, ticket.id);
    expect(page?.call?.action).toBe("compare_me");
    expect(page?.facts).toMatchObject({
      batchSize: 2,
      coupling: "all_or_nothing",
      deniedBefore: 0,
      catalogChanged: false,
    });
    expect(page?.siblings.map((it) => it.action)).toEqual(["beside"]);
    expect(page?.decided.map((it) => [it.ticketId, it.verdict, it.args])).toEqual([
      [earlier.ticket.id, "allow", '{"amount":1}'],
    ]);
    expect(page?.deciders.map((it) => it.role).sort()).toEqual(["approver", "approver", "owner"]);
    expect(page?.votes).toEqual([]);
  });

  test("tells how it was closed, with the reason, and keeps a late verdict", async () => {
    const { ticket } = await parked(world, { action: "close_me" });
    await deny(world, ticket, world.approver, "not today");
    const page = await readTicketPage(world.db, world.workspace, ticket.id);
    expect(page?.ticket).toMatchObject({ status: "answered", closedByKind: "decision", closedByVerdict: "deny" });
    expect(page?.facts.closedReason).toBe("not today");
    // Its own denial is not one before it.
    expect(page?.facts.deniedBefore).toBe(0);
    expect(page?.votes).toMatchObject([{ person: world.approver.person, verdict: "deny" }]);
  });

  test("does not exist for another workspace, or by a made-up id", async () => {
    const { ticket } = await parked(world);
    expect(await readTicketPage(world.db, "00000000-0000-4000-8000-000000000000", ticket.id)).toBeNull();
    expect(await readTicketPage(world.db, world.workspace, "00000000-0000-7000-8000-000000000000")).toBeNull();
  });
});

describe("refusals, the palette and the feed", () => {
  test("a refused verdict is in the ledger with its hashes, and can be filtered", async () => {
    const { runId, ticket } = await parked(world, { action: "refuse_me" });
    const attempt = await verdict(world, ticket, "allow");
    await decideTicket(world.db, world.approver, ticket.id, { ...attempt, proposalHash: "f".repeat(64) });
    const reading = await readRefusals(
      world.db,
      world.workspace,
      { verbs: ["decide"], code: "proposal_hash_mismatch", actor: "ada", surface: "console" },
      10,
      null,
    );
    expect(reading.rows[0]).toMatchObject({ runId, suppliedHash: "f".repeat(64), namedTicket: ticket.id });
    expect(reading.byCode.some((it) => it.code === "proposal_hash_mismatch")).toBe(true);
    expect(
      (
        await readRefusals(
          world.db,
          world.workspace,
          { verbs: ["settle"], code: null, actor: null, surface: null },
          10,
          null,
        )
      ).rows,
    ).toHaveLength(0);
  });

  test("the palette finds by the beginning of an id, an action or an agent, taking % and _ as letters", async () => {
    const { runId, ticket } = await parked(world, { action: "find_me" });
    expect((await findByText(world.db, world.workspace, "find_")).tickets.map((it) => it.ticketId)).toEqual([
      ticket.id,
    ]);
    expect((await findByText(world.db, world.workspace, runId.slice(0, 20))).runs.map((it) => it.runId)).toContain(
      runId,
    );
    expect((await findByText(world.db, world.workspace, "%")).tickets).toHaveLength(0);
  });

  test("the feed names runs by their own ids, and its newest event rises with a commit", async () => {
    const before = await readNewestEvent(world.db, world.workspace);
    const { runId } = await parked(world);
    const after = await readNewestEvent(world.db, world.workspace);
    expect(after).not.toBe(before);
    const page = await readRunPage(world.db, world.workspace, runId);
    expect(await readRunNames(world.db, world.workspace, [page?.facts.id ?? ""])).toEqual([runId]);
    expect(await readRunNames(world.db, world.workspace, [])).toEqual([]);
  });
});
