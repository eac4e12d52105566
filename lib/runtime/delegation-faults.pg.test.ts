import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { readProgress } from "@/db/queries/run-progress";
import { cancel, replace } from "@/db/store/operate";
import { proposeStep } from "@/db/store/propose";
import { allowList, setPolicy } from "@/db/store/set-policy";
import { publishSnapshot } from "@/db/store/snapshots";
import { atOnce } from "@/db/testing/at-once";
import { startAgentRun } from "@/db/testing/start-agent";
import { aCall, allow, codeOf, personCaller, standing, sweep } from "@/db/testing/world";
import type { Caller } from "@/lib/protocol/principal";
import { tendChildren } from "./delegation";
import { AgentWorld, type Line, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const WORK = { controller: "react", instructions: "Work." };
let made = 0;

/** A run of a fresh agent that delegates `ask_clerk`, and its clerk; what each says is scripted. */
async function start(parent: readonly Line[], clerk: readonly Line[], owner: Caller = at.world.agent) {
  const boss = `chief-${++made}`;
  const child = `scribe-${made}`;
  const scripts: Record<string, Script> = { [boss]: new Script(parent), [child]: new Script(clerk) };
  const content = (name: string) => ({ provider: "scripted", model: name, mcpServers: null, build: null });
  const published = await publishSnapshot(at.world.db, owner, child, {
    ...content(child),
    tools: [{ name: "send_mail" }],
    definition: WORK,
  });
  if (!published.ok) throw new Error(published.refusal.code);
  const started = await startAgentRun(at.world.db, owner, {
    agent: {
      ...content(boss),
      name: boss,
      tools: [{ name: "ask_clerk" }],
      definition: { ...WORK, delegates: { ask_clerk: child } },
    },
    input: "See to it.",
  });
  if (!started.ok) throw new Error(started.refusal.code);
  const runId = started.value;
  const drive = () => at.drive((name) => scripts[name] ?? new Script(["Done."]));
  const told = () =>
    scripts[boss]?.requests.at(-1)?.messages.flatMap((said) => (said.role === "tool" ? said.text : []));
  return { runId, boss, child, drive, told };
}

async function childrenOf(runId: string) {
  return inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    const rows = await tx.sql<{ runId: string; cause: string | null }[]>`
      select c.run_id, c.cause from runs c join runs p on p.workspace_id = c.workspace_id and p.id = c.parent_run
      where c.workspace_id = ${tx.workspace} and p.run_id = ${runId} order by c.created_at`;
    return [...rows];
  });
}

test("two calls of one batch that a rule allows are both delegated, one after the other", async () => {
  const asks: Line = [
    ["ask_clerk", { message: "First." }],
    ["ask_clerk", { message: "Second." }],
  ];
  const { runId, boss, drive, told } = await start([asks, "Done."], ["Seen to."]);
  const policy = await setPolicy(at.world.db, at.world.cli, boss, { default: "ask", rules: allowList(["ask_clerk"]) });
  expect(policy.ok).toBe(true);
  await drive();
  expect(await childrenOf(runId)).toMatchObject([{ cause: "completed" }, { cause: "completed" }]);
  expect(told()).toEqual(['"Seen to."', '"Seen to."']);
});

test("a run whose person lost every right while a run works for it is ended, and not asked for ever", async () => {
  const person = await personCaller(at.world.db, at.world.workspace, "left@hold.example", "operator");
  const ask: Line = [["ask_clerk", { message: "Write." }]];
  const { runId, drive } = await start([ask, "Done."], [[["send_mail", {}]], "Done."], person);
  await drive();
  const [child] = await childrenOf(runId);
  await at.disable(person);
  expect(codeOf(await cancel(at.world.db, at.world.owner, child?.runId ?? "", "enough"))).toBe("ok");
  await drive();
  expect(await at.row(runId)).toMatchObject({ cause: "cancelled", codes: ["not_permitted"] });
});

test("a worker that slept through its lease neither opens a second run nor takes back the first one's call", async () => {
  const { runId, child, drive } = await start(["Done."], [[["send_mail", {}]], "Done."]);
  const step = { step: 1, mode: "parallel", coupling: "independent", state: null, messages: [] } as const;
  const call = aCall({ action: "ask_clerk", args: { message: "Write." }, output: null, target: "delegation" });
  expect(codeOf(await proposeStep(at.world.db, at.world.agent, runId, { ...step, calls: [call] }))).toBe("ok");
  const slept = await at.claim();
  await at.giveUp(slept);
  const held = await at.claim();
  const { db, workspace, system, agent } = at.world;
  const progress = await readProgress(db, workspace, slept.run ?? "");
  if (!progress) throw new Error("no progress");
  const stop = new AbortController().signal;
  const asleep = { db, system, worker: "a", job: slept, reach: { writeRoots: [] }, failAt: () => undefined, stop };
  const [, late] = await atOnce(at.world, runId, [
    () => at.advance(held, null),
    () => tendChildren(asleep, agent, progress, { ask_clerk: child }),
  ]);
  expect(late).toBe("held");
  expect(await childrenOf(runId)).toMatchObject([{ cause: null }]);
  expect((await standing(at.world, runId)).call.status).toBe("awaiting");
  await at.finish(held);
  await drive();
  expect(await childrenOf(runId)).toMatchObject([{ cause: null }]);
  await at.abandon(runId);
  await drive();
});

test("a wait that is over its deadline takes no result, is not asked for ever, and takes it once it was replaced", async () => {
  const ask: Line = [["ask_clerk", { message: "Write." }]];
  const { runId, drive, told } = await start([ask, "Done."], [[["send_mail", {}]], "Written."]);
  await drive();
  const [child] = await childrenOf(runId);
  const { db, owner } = at.world;
  const wait = await at.onlyTicket(runId);
  const hurried = await replace(db, owner, wait.id, "hurry", 1);
  expect(codeOf(hurried)).toBe("ok");
  await expect
    .poll(async () => {
      await sweep(at.world);
      return (await at.onlyTicket(runId)).expiredAt;
    })
    .not.toBeNull();
  await allow(at.world, await at.onlyTicket(child?.runId ?? ""));
  await drive();
  expect(await childrenOf(runId)).toMatchObject([{ cause: "completed" }]);
  expect(await at.row(runId)).toMatchObject({ state: "awaiting", codes: [] });
  const late = await at.onlyTicket(runId);
  expect(codeOf(await replace(db, owner, late.id, "no hurry", 60_000))).toBe("ok");
  await drive();
  expect(told()).toEqual(['"Written."']);
  expect(await at.row(runId)).toMatchObject({ cause: "completed" });
});

test("a result that meets its wait past the deadline, and nobody has noticed yet, is looked at again later", async () => {
  const ask: Line = [["ask_clerk", { message: "Write." }]];
  const { runId, drive } = await start([ask, "Done."], [[["send_mail", {}]], "Written."]);
  await drive();
  const [child] = await childrenOf(runId);
  const wait = await at.onlyTicket(runId);
  expect(codeOf(await replace(at.world.db, at.world.owner, wait.id, "hurry", 1))).toBe("ok");
  await allow(at.world, await at.onlyTicket(child?.runId ?? ""));
  const done = await drive();
  expect(done).toContainEqual({ kind: "later", inMs: 1_000 });
  expect((await at.row(runId)).codes).toEqual(["expired"]);
  await at.abandon(runId);
});
