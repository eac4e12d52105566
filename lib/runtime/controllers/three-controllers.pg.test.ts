import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { traceTypes } from "@/db/testing/world";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { isRunSuspended, readSuspension } from "@/lib/runtime/suspended";
import { AgentWorld, type Line, Script } from "@/lib/runtime/testing/agent-world";

/** D6, the behaviours 67–72 that [S1 C11] asks of whoever produces signals: all three controllers, on the real database. */
let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const CONTROLLERS = ["react", "plan_and_execute", "workflow"] as const;
type Name = (typeof CONTROLLERS)[number];

const FIVE = ["signal_received", "runtime_validated", "state_transition", "pending_recorded", "run_exited"];

interface Task {
  /** Where the brief is written; null when nothing is there to ask about. */
  readonly brief: string | null;
  readonly question: string;
}

/** The same task for each: write a brief, ask about it, finish. */
function scene(name: Name, { brief, question }: Task): { readonly definition: JsonObject; readonly script: Script } {
  const shared = { controller: name, instructions: "Write a brief, then ask.", needs_object: ["write_file"] };
  const file = brief === null ? null : { path: brief, content: "A brief." };
  if (name === "workflow") {
    const write = file === null ? [] : [{ tool: "write_file", args: file, output: file.path }];
    const nodes = [
      { model: "Think about it.", as: "thought" },
      ...write,
      { ask: question, as: "reply" },
      { finish: "{{reply}}" },
    ];
    return { definition: { ...shared, nodes }, script: new Script(["Please confirm."]) };
  }
  if (name === "plan_and_execute") {
    const write = file === null ? [] : [{ type: "EXECUTE_TOOL", action: "write_file", args: file, output: file.path }];
    const plan = [...write, { type: "REQUEST_USER_INPUT", question }, { type: "FINISH", output: "done" }];
    return { definition: shared, script: new Script([canonicalJson(plan)]) };
  }
  const write: Line[] = file === null ? [] : [[["write_file", file]]];
  return { definition: shared, script: new Script([...write, [["request_user_input", { question }]], "Done."]) };
}

let files = 0;
async function waiting(name: Name) {
  files += 1;
  const { definition, script } = scene(name, { brief: `${at.folder}/brief-${files}.txt`, question: "Go on?" });
  const runId = await at.start(definition);
  await at.drive(script);
  return { runId, script };
}

async function fiveOf(runId: string): Promise<readonly string[]> {
  return (await traceTypes(at.world, runId)).filter((type) => FIVE.includes(type));
}

describe("67: please confirm is words and never a wait", () => {
  test("react takes it for what the agent has to say in the end", async () => {
    const runId = await at.start({ controller: "react", instructions: "x" });
    await at.drive(new Script(["Please confirm."]));
    expect(await at.row(runId)).toMatchObject({ cause: "completed", output: '"Please confirm."', rejectedSignals: 0 });
    expect(await at.openTickets(runId)).toEqual([]);
  });

  test("plan_and_execute takes it for no plan", async () => {
    const runId = await at.start({ controller: "plan_and_execute", instructions: "x" });
    await at.drive(new Script(["Please confirm."]));
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "parse_failed", codes: ["parse_failed"] });
    expect(await at.openTickets(runId)).toEqual([]);
  });

  test("workflow keeps it as the station's text and goes on", async () => {
    const nodes = [{ model: "Write.", as: "draft" }, { finish: "{{draft}}" }];
    const runId = await at.start({ controller: "workflow", instructions: "x", nodes });
    await at.drive(new Script(["Please confirm."]));
    expect(await at.row(runId)).toMatchObject({ cause: "completed", output: '"Please confirm."' });
  });
});

describe.each(CONTROLLERS)("%s", (name) => {
  test.each([
    ["object", { brief: null, question: "Go on?" }, "wait_signal_without_pending_object"],
    ["question", { brief: "brief", question: " " }, "wait_signal_without_question"],
  ] as const)(
    "68: a wait without its %s is refused, recorded and counted, and the run fails",
    async (_w, task, code) => {
      const brief = task.brief === null ? null : `${at.folder}/68-${name}.txt`;
      const { definition, script } = scene(name, { ...task, brief });
      const runId = await at.start(definition);
      await at.drive(script);
      expect(await at.row(runId)).toMatchObject({
        cause: "failed",
        causeCode: code,
        codes: [code],
        rejectedSignals: 1,
      });
      expect(await at.openTickets(runId)).toEqual([]);
      const types = await traceTypes(at.world, runId);
      expect(types.slice(-2)).toEqual(["run_ended", "signal_rejected"]);
      expect(types).not.toContain("pending_recorded");
    },
  );

  test("69: a wait leaves the five events in their order, and leaves the loop", async () => {
    const { runId } = await waiting(name);
    expect(await fiveOf(runId)).toEqual(FIVE);
    expect((await traceTypes(at.world, runId)).at(-1)).toBe("run_exited");
    expect(await at.row(runId)).toMatchObject({ state: "awaiting", rejectedSignals: 0 });
    expect(await at.onlyTicket(runId)).toMatchObject({ kind: "remote_input", reason: "user_input", prompt: "Go on?" });
  });

  test("70: nothing is asked of the model and no tool is tried while the run waits, however often it is looked at", async () => {
    const { runId, script } = await waiting(name);
    const calls = script.calls;
    const before = await readSuspension(at.world.db, at.world.workspace, runId);
    for (let looks = 0; looks < 3; looks += 1) {
      await at.look(runId);
      await at.drive(script);
    }
    const after = await readSuspension(at.world.db, at.world.workspace, runId);
    expect(script.calls).toBe(calls);
    expect(after).toEqual(before);
    expect(after && isRunSuspended(after)).toBe(true);
    expect(after).toMatchObject({ modelCalls: name === "react" ? 2 : 1, toolAttempts: 1 });
  });

  test("71: what the gateway turns down changes neither the run's state nor leaves anything pending", async () => {
    const path = "/outside/of/every/root.txt";
    const file = { path, content: "x" };
    const definitions: Readonly<Record<Name, JsonObject>> = {
      react: {},
      plan_and_execute: {},
      workflow: { nodes: [{ tool: "write_file", args: file, output: path }, { finish: "after it" }] },
    };
    const scripts: Readonly<Record<Name, Script>> = {
      react: new Script([[["write_file", file]], "after it"]),
      plan_and_execute: new Script([
        canonicalJson([
          { type: "EXECUTE_TOOL", action: "write_file", args: file, output: path },
          { type: "FINISH", output: "after it" },
        ]),
      ]),
      workflow: new Script([]),
    };
    const runId = await at.start({ controller: name, instructions: "x", ...definitions[name] });
    await at.drive(scripts[name]);
    const types = await traceTypes(at.world, runId);
    expect(types).toContain("action_failed");
    expect(types.filter((type) => type === "state_transition" || type === "pending_recorded")).toEqual([]);
    // It went on by itself and came to its own end.
    expect(await at.row(runId)).toMatchObject({ cause: "completed", output: '"after it"', rejectedSignals: 0 });
  });

  test("an answer reaches the run, which goes on to its end", async () => {
    const { runId, script } = await waiting(name);
    await at.answer(await at.onlyTicket(runId), "yes");
    await at.drive(script);
    expect(await at.row(runId)).toMatchObject({ state: "ended", cause: "completed" });
    if (name === "workflow") expect(await at.row(runId)).toMatchObject({ output: '"yes"' });
    if (name === "react")
      expect(script.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: "tool", text: '"yes"' });
  });
});

test("72: whoever produces the signal, the record of the wait is the same, and names who it was", async () => {
  const runs: string[] = [];
  for (const name of CONTROLLERS) runs.push((await waiting(name)).runId);
  const sequences = await Promise.all(
    runs.map(async (runId) => {
      const types = await traceTypes(at.world, runId);
      return types.slice(types.indexOf("signal_received"));
    }),
  );
  expect(sequences[1]).toEqual(sequences[0]);
  expect(sequences[2]).toEqual(sequences[0]);
  expect(await Promise.all(runs.map((runId) => at.sourceOf(runId)))).toEqual(["model", "plan", "workflow"]);
});
