import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { readProgress } from "@/db/queries/run-progress";
import { cancel } from "@/db/store/operate";
import { proposeStep } from "@/db/store/propose";
import { allowList, setPolicy } from "@/db/store/set-policy";
import { publishSnapshot } from "@/db/store/snapshots";
import { atOnce } from "@/db/testing/at-once";
import { startAgentRun } from "@/db/testing/start-agent";
import { aCall, codeOf, personCaller, standing } from "@/db/testing/world";
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
