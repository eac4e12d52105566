import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { readAgents } from "@/db/queries/agents";
import { readRunPage } from "@/db/queries/run-page";
import { readRuns } from "@/db/queries/runs-list";
import { readThreadPage } from "@/db/queries/thread-page";
import { dropLiveText, showLiveText } from "@/db/store/live-text";
import { cancel } from "@/db/store/operate";
import { startAgentRun } from "@/db/testing/start-agent";
import { deny, newWorld, openTestRun, parked, type World } from "@/db/testing/world";
import type { Caller } from "@/lib/protocol/principal";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

async function started(caller: Caller, name: string, instructions = "Work."): Promise<string> {
  const definition = { controller: "react", instructions };
  const content = { provider: "openai", model: "small", mcpServers: null, tools: [{ name: "look" }], build: null };
  const run = await startAgentRun(world.db, caller, { agent: { name, definition, ...content }, input: "Hello" });
  if (!run.ok) throw new Error(run.refusal.code);
  return run.value;
}

async function deciders(counts: (person: string) => boolean): Promise<number> {
  const members = await inWorkspace(
    world.db,
    world.workspace,
    (tx) => tx.sql<{ personId: string }[]>`select person_id from members where role in ('approver', 'owner')`,
  );
  return members.filter(({ personId }) => counts(personId)).length;
}

const thread = (id: string, who: Caller = world.owner) => readThreadPage(world.db, world.workspace, id, who.principal);

async function internal(runId: string): Promise<string> {
  const page = await thread(runId);
  return page?.runs[0]?.id ?? "";
}

describe("a thread", () => {
  test("that is not there is null", async () => {
    expect(await thread("nowhere")).toBeNull();
  });

  test("has its messages and runs, and whom its reader may talk to", async () => {
    const runId = await started(world.owner, "own-agent");
    expect(await thread(runId)).toMatchObject({
      messages: [{ role: "user", text: "Hello" }],
      messagesInAll: 1,
      runs: [{ runId, state: "running" }],
      live: [],
      talkRun: runId,
      hosted: true,
      living: true,
    });
    expect(await thread(runId, world.operator)).toMatchObject({ talkRun: null, hosted: true, living: true });
    await cancel(world.db, world.owner, runId, "enough");
    expect(await thread(runId)).toMatchObject({ talkRun: null, hosted: true, living: false });
  });

  test("of an agent that runs elsewhere has nobody here to talk to", async () => {
    const runId = await openTestRun(world);
    expect(await thread(runId, world.agent)).toMatchObject({ talkRun: null, hosted: false, living: false });
  });

  test("shows live words while its run moves, and no longer than that", async () => {
    const runId = await started(world.owner, "live-agent");
    const run = await internal(runId);
    await showLiveText(world.db, world.workspace, run, 1, "Just say");
    expect((await thread(runId))?.live).toMatchObject([{ runId, text: "Just say" }]);
    await inWorkspace(world.db, world.workspace, (tx) => dropLiveText(tx, run));
    expect((await thread(runId))?.live).toEqual([]);
    await showLiveText(world.db, world.workspace, run, 1, "Cut off");
    await cancel(world.db, world.owner, runId, "enough");
    expect((await thread(runId))?.live).toEqual([]);
  });
});

describe("a run that only its job moves is listed as stuck", () => {
  const change = (runId: string, sets: "job" | "run", to: string) =>
    inWorkspace(world.db, world.workspace, async (tx) => {
      const run = tx.sql`(select id from runs where run_id = ${runId})`;
      if (sets === "job") await tx.sql`update jobs set ${tx.sql.unsafe(to)} where run = ${run}`;
      else await tx.sql`update runs set ${tx.sql.unsafe(to)} where id = ${run}`;
    });
  const stuck = async (runId: string) => {
    const filter = { state: null, agent: null, stuck: true, expired: false, text: null };
    const { rows } = await readRuns(world.db, world.workspace, filter, 200, null);
    return rows.some((row) => row.runId === runId);
  };

  test.each([
    ["its job has waited for a minute", "job", "available_at = clock_timestamp() - interval '2 minutes'"],
    [
      "its job's lease is over",
      "job",
      "status = 'Claimed', claim_token = gen_random_uuid(), claimed_by = 'w', lease_until = clock_timestamp() - interval '1 second', attempt_count = 1",
    ],
    ["its job was given up", "job", "status = 'DeadLetter'"],
  ] as const)("when %s", async (_, table, to) => {
    const runId = await started(world.owner, "stuck-agent");
    expect(await stuck(runId)).toBe(false);
    await change(runId, table, to);
    expect(await stuck(runId)).toBe(true);
  });

  test("when its job was cancelled, a minute after", async () => {
    const runId = await started(world.owner, "stuck-agent");
    await change(runId, "job", "status = 'Cancelled', updated_at = clock_timestamp() - interval '2 minutes'");
    expect(await stuck(runId)).toBe(false);
    await change(runId, "run", "created_at = clock_timestamp() - interval '3 minutes'");
    expect(await stuck(runId)).toBe(true);
  });

  test("and one of an agent's own, when that agent was not seen for long", async () => {
    const runId = await openTestRun(world);
    await change(runId, "run", "last_seen_at = clock_timestamp()");
    expect(await stuck(runId)).toBe(false);
    await change(runId, "run", "last_seen_at = clock_timestamp() - interval '3 minutes'");
    expect(await stuck(runId)).toBe(true);
  });

  test("the newest decision of a run is among its facts", async () => {
    const { runId, ticket } = await parked(world, { action: "tell_me" });
    await deny(world, ticket, world.approver, "no");
    const page = await readRunPage(world.db, world.workspace, runId);
    expect(page?.facts.decided).toMatchObject({ verdict: "deny", actor: "ada" });
    expect(page?.facts.decided?.decidedMs).toBeTypeOf("number");
  });
});

describe("the agents", () => {
  test("are those that run here first, each with its newest content, and whose names the reader has", async () => {
    await openTestRun(world);
    await started(world.owner, "zeta", "First.");
    await started(world.owner, "zeta", "Second.");
    await started(world.agent, "not-mine");
    const { rows, agentsInAll, othersMayDecide } = await readAgents(world.db, world.workspace, world.owner.principal);
    expect(agentsInAll).toBe(rows.length);
    expect(othersMayDecide).toBe(await deciders((person) => person !== world.owner.person));
    const operator = await readAgents(world.db, world.workspace, world.operator.principal);
    expect(operator.othersMayDecide).toBe(await deciders(() => true));
    const hosted = rows.map((row) => row.definition !== null);
    expect(hosted).toEqual([...hosted].sort((a, b) => Number(b) - Number(a)));
    const row = (name: string) => rows.find((it) => it.name === name);
    expect(row("zeta")).toMatchObject({ mine: true, model: "small", provider: "openai", tools: 1 });
    expect(row("zeta")?.definition).toContain("Second.");
    expect(row("zeta")?.lastRunAt).not.toBeNull();
    expect(row("not-mine")).toMatchObject({ mine: false });
    expect(rows.at(-1)).toMatchObject({ definition: null, tools: null });
  });
});
