import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { readProgress } from "@/db/queries/run-progress";
import { readDefinition } from "@/lib/protocol/agent-definition";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { CONTROLLERS } from "./agent-loop";
import { LiveWords } from "./live-words";
import { firstState, loadState } from "./runtime-state";
import { isRunSuspended, readSuspension } from "./suspended";
import { AgentWorld, Script } from "./testing/agent-world";

/** What goes wrong between a model and a commit, and the predicate that a naive loop must fail. */
let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const REACT = { controller: "react", instructions: "Work." };

describe("a crash", () => {
  test("between the model's answer and its commit leaves nothing, and the same is asked again", async () => {
    const runId = await at.start(REACT);
    const script = new Script(["Done."]);
    const job = await at.claim();
    const crash = at.advance(job, script, (point) => {
      if (point === "before_commit") throw new Error("power cut");
    });
    await expect(crash).rejects.toThrow("power cut");
    expect(await at.thread(runId)).toEqual(["user:Write a brief."]);
    expect(await at.beside(runId)).toMatchObject({ bound: 0, batches: 0 });
    expect(await at.advance(job, script)).toEqual({ kind: "done" });
    expect(script.requests[1]).toEqual(script.requests[0]);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("a worker whose claim was lost while its model thought writes nothing at all", async () => {
    const runId = await at.start(REACT);
    const job = await at.claim();
    const script = new Script([
      async () => {
        await steal(job.jobId);
        return "Done.";
      },
    ]);
    expect(await at.advance(job, script)).toMatchObject({ kind: "later" });
    expect(await at.thread(runId)).toEqual(["user:Write a brief."]);
    expect(await at.row(runId)).toMatchObject({ state: "running", codes: [] });
  });
});

async function steal(jobId: string): Promise<void> {
  await inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    await tx.sql`
      update jobs set claim_token = gen_random_uuid() where workspace_id = ${tx.workspace} and job_id = ${jobId}`;
  });
}

describe("a model that fails", () => {
  const failing = (retryInMs: number | null) =>
    new Script([{ failure: { code: "model_rate_limited", detail: "slow down", retryInMs } }]);

  test("for good fails the run by its code", async () => {
    const runId = await at.start(REACT);
    expect(await at.drive(failing(null))).toEqual([{ kind: "done" }]);
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "model_rate_limited" });
  });

  test("for a time is asked again at the time it named, five times in all", async () => {
    const runId = await at.start(REACT);
    const script = failing(25);
    expect(await at.drive(script)).toEqual([{ kind: "later", inMs: 25 }]);
    for (let tries = 2; tries <= 5; tries += 1) {
      expect((await at.row(runId)).state).toBe("running");
      await expect
        .poll(async () => {
          await at.drive(script);
          return script.calls;
        })
        .toBe(tries);
    }
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "model_rate_limited" });
  });

  test("for a time is not asked before it, whatever else makes a worker look", async () => {
    const runId = await at.start(REACT);
    const script = failing(60_000);
    await at.drive(script);
    await at.look(runId);
    const [looked] = await at.drive(script);
    expect(looked).toMatchObject({ kind: "later" });
    expect(script.calls).toBe(1);
    await at.abandon(runId);
  });

  test("is not there at all where the worker has none", async () => {
    const runId = await at.start(REACT);
    await at.drive(null);
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "model_not_configured" });
  });
});

describe("live text", () => {
  test("is shown while the model speaks, and gone with the commit", async () => {
    const runId = await at.start(REACT);
    const seen: (string | null)[] = [];
    await at.drive(
      new Script([
        async (_request, onText) => {
          onText?.("Thinking");
          await expect.poll(async () => (await at.beside(runId)).live).toBe("Thinking");
          seen.push((await at.beside(runId)).live);
          return "Thinking done.";
        },
      ]),
    );
    expect(seen).toEqual(["Thinking"]);
    expect(await at.beside(runId)).toMatchObject({ live: null });
  });

  test("is written at most every quarter of a second", async () => {
    const shown: string[] = [];
    let now = 0;
    const words = new LiveWords(
      async (text) => void shown.push(text),
      () => now,
    );
    for (const [time, delta] of [
      [0, "a"],
      [249, "b"],
      [250, "c"],
      [499, "d"],
    ] as const) {
      now = time;
      words.add(delta);
    }
    await words.settled();
    expect(shown).toEqual(["a", "abc"]);
  });
});

describe("the predicate of a suspended run", () => {
  const wait = new Script([[["request_user_input", { question: "Go on?" }]]]);

  test("fails for a naive loop that goes on asking its model after the wait, and for its marker alone", async () => {
    const runId = await at.start(REACT);
    await at.drive(wait);
    const facts = await readSuspension(at.world.db, at.world.workspace, runId);
    if (!facts) throw new Error("no such run");
    expect(isRunSuspended(facts)).toBe(true);
    // The loop below has no branch for the wait signal: to it, what the model says is something to print.
    const printed: string[] = [];
    for (let step = 0; step < 8; step += 1) {
      const answer = await wait.answer({ model: "m", messages: [], tools: [], maxOutputTokens: null });
      if (answer.ok) printed.push(answer.value.toolCalls[0]?.name ?? "");
    }
    expect(printed).toContain("request_user_input");
    expect(isRunSuspended({ ...facts, modelCalls: facts.modelCalls + printed.length })).toBe(false);
  });

  test.each([
    ["react", {}, '{"type":"REQUEST_USER_INPUT","question":"Go on?"}'],
    ["plan_and_execute", {}, '[{"type":"REQUEST_USER_INPUT","question":"Go on?"},{"type":"FINISH"}]'],
    ["workflow", { nodes: [{ ask: "Go on?" }, { finish: "done" }] }, ""],
  ] as const)(
    "fails for a naive loop around %s that takes its wait for one more thing said",
    async (controller, more, line) => {
      const definition = { controller, instructions: "x", ...more };
      const runId = await at.start(definition);
      const script = new Script([line]);
      const said: string[] = [];
      let runtime = firstState();
      for (let step = 0; step < 8; step += 1) {
        const decided = await CONTROLLERS[controller].decide({
          definition: readDefinition(canonicalJson(definition)),
          tools: [],
          runtime,
          conversation: [],
          results: [],
          ask: (question) => script.answer({ model: "m", maxOutputTokens: null, ...question }),
        });
        if (!decided.ok) throw new Error(decided.refusal.code);
        // Here the runtime would be handed the decision; this loop has no branch for it.
        for (const { signal } of decided.value.proposals)
          said.push(signal.ok ? signal.value.type : signal.refusal.code);
        runtime = { ...runtime, ...decided.value.next };
      }
      expect(said).toContain("REQUEST_USER_INPUT");
      expect(said.length).toBe(8);
      const facts = await readSuspension(at.world.db, at.world.workspace, runId);
      expect(facts).toMatchObject({ state: "running", pendingRequests: 0, atWait: null });
      expect(facts && isRunSuspended(facts)).toBe(false);
      await at.drive(new Script([line]));
      const handed = await readSuspension(at.world.db, at.world.workspace, runId);
      expect(handed && isRunSuspended(handed)).toBe(true);
    },
  );

  test("needs each of its four conditions", async () => {
    const counts = { modelCalls: 2, toolAttempts: 1 };
    const suspended = { state: "awaiting", pendingRequests: 1, atWait: counts, ...counts } as const;
    expect(isRunSuspended(suspended)).toBe(true);
    for (const broken of [
      { state: "running" },
      { pendingRequests: 0 },
      { modelCalls: 3 },
      { toolAttempts: 2 },
      { atWait: null },
    ] as const)
      expect(isRunSuspended({ ...suspended, ...broken }), JSON.stringify(broken)).toBe(false);
  });
});

test("a saved state that is not what was bound stops the worker", async () => {
  const runId = await at.start(REACT);
  await at.drive(new Script([[["request_user_input", { question: "Go on?" }]]]));
  const progress = await readProgress(at.world.db, at.world.workspace, await at.internalId(runId));
  const { state, book } = progress ?? {};
  if (!progress || !book || !state?.bytes) throw new Error("no state");
  const bytes = Buffer.from(state.bytes);
  expect(loadState(progress)).toMatchObject({ model_calls: 1 });
  bytes[0] = 0;
  expect(() => loadState({ book, state: { ...state, bytes } })).toThrow("not what was bound");
});
