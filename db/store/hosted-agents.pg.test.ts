import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { openRun } from "@/db/store/open-run";
import { cancel } from "@/db/store/operate";
import { talk } from "@/db/store/talk";
import { type AgentContent, startAgentRun } from "@/db/testing/start-agent";
import { codeOf, newWorld, traceTypes, type World } from "@/db/testing/world";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

const DEFINITION = { controller: "react", instructions: "Be brief." };

function agent(over: Partial<AgentContent> = {}): AgentContent {
  return {
    name: "desk",
    provider: "scripted",
    model: "m",
    mcpServers: null,
    tools: [{ name: "look" }],
    build: null,
    definition: DEFINITION,
    ...over,
  };
}

async function start(over: Partial<AgentContent> = {}, more: { readonly runId?: string } = {}) {
  return startAgentRun(world.db, world.agent, { agent: agent(over), input: "Hello", ...more });
}

async function startedRun(): Promise<string> {
  const started = await start();
  if (!started.ok) throw new Error(started.refusal.code);
  return started.value;
}

async function rowsOf(runId: string) {
  return inWorkspace(world.db, world.workspace, async (tx) => {
    const [row] = await tx.sql<{ definition: string; executor: string; jobs: number; messages: string[] }[]>`
      select s.definition, r.executor,
        (select count(*) from jobs j where j.run = r.id and j.status = 'Queued') as jobs,
        (select array_agg(role || ':' || content order by seq) from messages m
          where m.workspace_id = r.workspace_id and m.thread_id = r.thread_id) as messages
      from runs r join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id
      where r.workspace_id = ${world.workspace} and r.run_id = ${runId}`;
    return row;
  });
}

async function count(table: "runs" | "agent_snapshots"): Promise<number> {
  return inWorkspace(world.db, world.workspace, async (tx) => {
    const rows = await tx.sql`select from ${tx.sql(table)} where workspace_id = ${world.workspace}`;
    return rows.length;
  });
}

test("a start is a frozen definition, a run of the worker, its first message and a job, together", async () => {
  expect(await rowsOf(await startedRun())).toEqual({
    definition: canonicalJson(DEFINITION),
    executor: "worker",
    jobs: 1,
    messages: ["user:Hello"],
  });
});

test("a start that is refused leaves no job and no message", async () => {
  const first = await start({}, { runId: "twice" });
  const again = await start({}, { runId: "twice" });
  expect([codeOf(first), codeOf(again)]).toEqual(["ok", "run_exists"]);
  expect(await rowsOf("twice")).toMatchObject({ jobs: 1, messages: ["user:Hello"] });
});

test("another definition is another snapshot, the same one is not", async () => {
  await start();
  const before = await count("agent_snapshots");
  await start();
  expect(await count("agent_snapshots")).toBe(before);
  await start({ definition: { ...DEFINITION, budget: 3 } });
  expect(await count("agent_snapshots")).toBe(before + 1);
});

test.each<[string, Partial<AgentContent>]>([
  ["a field that does not exist", { definition: { ...DEFINITION, budgte: 3 } }],
  ["no controller", { definition: { instructions: "x" } }],
  ["nodes beside another controller", { definition: { ...DEFINITION, nodes: [] } as JsonValue }],
  ["a workflow without nodes", { definition: { ...DEFINITION, controller: "workflow" } }],
  ["a tool of the reserved name", { tools: [{ name: "request_user_input" }] }],
])("a definition with %s is refused before anything is stored", async (_what, over) => {
  const before = await count("runs");
  expect(codeOf(await start(over))).toBe("invalid_body");
  expect(await count("runs")).toBe(before);
});

test("a thread stays with the principal that began it: nobody else's run reads it, writes on it or blocks it", async () => {
  const runId = await startedRun();
  const on = (caller: Caller, executor: "client" | "worker") =>
    openRun(world.db, caller, {
      runId: null,
      agent: `guest-of-${caller.display}`,
      snapshotId: null,
      threadId: runId,
      input: "Tell me everything.",
      executor,
      onBehalfOf: null,
      parent: null,
    });
  for (const executor of ["client", "worker"] as const) {
    expect(codeOf(await on(world.otherAgent, executor))).toBe("not_permitted");
    expect(codeOf(await on(world.owner, executor))).toBe("not_permitted");
  }
  expect(await rowsOf(runId)).toMatchObject({ messages: ["user:Hello"] });
  expect(codeOf(await on(world.agent, "client"))).toBe("ok");
});

test("of two principals that begin one thread at once, one has it", async () => {
  const open = (caller: Caller) =>
    openRun(world.db, caller, {
      runId: null,
      agent: `host-of-${caller.display}`,
      snapshotId: null,
      threadId: "new-thread",
      input: null,
      executor: "client",
      onBehalfOf: null,
      parent: null,
    });
  const outcomes = await Promise.all([open(world.agent), open(world.otherAgent)]);
  expect(outcomes.map(codeOf).sort()).toEqual(["not_permitted", "ok"]);
});

test("a person's later message joins the thread once, and wakes the run", async () => {
  const runId = await startedRun();
  const said = { id: "m1", text: "And quickly." };
  const [first, again] = [
    await talk(world.db, world.agent, runId, said),
    await talk(world.db, world.agent, runId, said),
  ];
  expect([first, again].map((it) => it.ok && it.value.value.added)).toEqual([true, false]);
  expect(await rowsOf(runId)).toMatchObject({ jobs: 2, messages: ["user:Hello", "user:And quickly."] });
  expect(await traceTypes(world, runId)).toEqual(["message_appended"]);
});

test("nobody but its own principal talks to a run, and nobody to one that has ended", async () => {
  const runId = await startedRun();
  const said = { id: "m1", text: "x" };
  expect(codeOf(await talk(world.db, world.otherAgent, runId, said))).toBe("unknown_run");
  expect(codeOf(await talk(world.db, world.owner, runId, said))).toBe("unknown_run");
  await cancel(world.db, world.agent, runId, "enough");
  expect(codeOf(await talk(world.db, world.agent, runId, said))).toBe("run_ended");
  expect(await rowsOf(runId)).toMatchObject({ messages: ["user:Hello"] });
});
