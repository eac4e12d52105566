import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decideTicket } from "@/db/store/decide";
import { cancelCall } from "@/db/store/operate";
import { talk } from "@/db/store/talk";
import { allow, codeOf, deny, standing, traceTypes, verdict } from "@/db/testing/world";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { canonicalJson } from "@/lib/protocol/canonical-json";

import { AgentWorld, type Line, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const REACT = { controller: "react", instructions: "Work." };
const mail: Line = [["send_mail", { to: "ada@example.test" }]];

async function run(definition: JsonObject, lines: readonly Line[]) {
  const runId = await at.start(definition);
  const script = new Script(lines);
  await at.drive(script);
  return { runId, script };
}

/** What the model was told last, as text. */
function told(script: Script): string {
  const last = script.requests.at(-1)?.messages.at(-1);
  return last && "text" in last ? (last.text ?? "") : "";
}

describe("the budget", () => {
  test("is eight model calls when the definition names none, and then the run ends", async () => {
    const { runId, script } = await run(REACT, [[["look", {}]]]);
    expect(script.calls).toBe(8);
    expect(await at.row(runId)).toMatchObject({ cause: "budget_exhausted", causeCode: null });
  });

  test("ends the run after the definition's number", async () => {
    const { runId, script } = await run({ ...REACT, budget: 2 }, [[["look", {}]]]);
    expect(script.calls).toBe(2);
    expect(await at.row(runId)).toMatchObject({ cause: "budget_exhausted" });
  });

  test("that is spent opens a pause where the definition says so; whoever continues grants it once more", async () => {
    const { runId, script } = await run({ ...REACT, budget: 2, on_budget: "pause" }, [[["look", {}]]]);
    const ticket = await at.onlyTicket(runId);
    expect(ticket).toMatchObject({ kind: "pause", reason: "budget_reached" });
    await at.look(runId);
    await at.drive(script);
    expect(script.calls).toBe(2);
    const attempt = { ...(await verdict(at.world, ticket, "allow")), result: { kind: "continue" } as const };
    expect(await decideTicket(at.world.db, at.world.owner, ticket.id, attempt)).toMatchObject({ ok: true });
    await at.drive(script);
    expect(script.calls).toBe(4);
    expect(await at.onlyTicket(runId)).toMatchObject({ reason: "budget_reached" });
  });
});

test("a budget's pause that is cancelled grants nothing: it is asked again", async () => {
  const { runId, script } = await run({ ...REACT, budget: 2, on_budget: "pause" }, [[["look", {}]]]);
  const first = await at.onlyTicket(runId);
  expect(codeOf(await cancelCall(at.world.db, at.world.owner, first.id, "no"))).toBe("ok");
  await at.drive(script);
  expect(script.calls).toBe(2);
  const second = await at.onlyTicket(runId);
  expect([second.reason, second.id === first.id]).toEqual(["budget_reached", false]);
});

test("a workspace that is suspended under a claim asks no model; afterwards the run goes on as if nothing had been", async () => {
  const runId = await at.start(REACT);
  const script = new Script(["Done."]);
  const job = await at.claim();
  await at.suspend(true);
  try {
    expect(await at.advance(job, script)).toEqual({ kind: "later", inMs: 30_000 });
  } finally {
    await at.suspend(false);
  }
  expect(script.calls).toBe(0);
  expect(await at.advance(job, script)).toEqual({ kind: "done" });
  await at.finish(job);
  expect(await at.row(runId)).toMatchObject({ cause: "completed" });
});

test("a workflow that ends under a condition leaves the stations behind it out", async () => {
  const nodes = [
    { model: "Is it done?", as: "state" },
    { finish: "early", when: { value: "state", contains: "yes" } },
    { tool: "look", args: {} },
    { finish: "late" },
  ];
  const ends = async (line: string) => {
    const { runId } = await run({ controller: "workflow", instructions: "x", nodes }, [line]);
    return at.row(runId);
  };
  expect(await ends("yes")).toMatchObject({ cause: "completed", output: '"early"', codes: [] });
  expect(await ends("no")).toMatchObject({ cause: "completed", output: '"late"', codes: [] });
});

test("a workflow's station that its values make too long fails the run, before it is made", async () => {
  const nodes = [
    { model: "Say much.", as: "much" },
    { tool: "look", args: { text: "{{much}}".repeat(2_000) } },
  ];
  const { runId } = await run({ controller: "workflow", instructions: "x", nodes }, ["m".repeat(100_000)]);
  expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "parse_failed", codes: ["parse_failed"] });
});

describe("a signal that is refused", () => {
  test("as an unknown action is told to the model, and the run goes on", async () => {
    const { runId, script } = await run(REACT, [[["drop_table", {}]], "Sorry."]);
    expect(JSON.parse(told(script))).toMatchObject({ refused: "unknown_action" });
    expect(await at.row(runId)).toMatchObject({ cause: "completed", rejectedSignals: 1, codes: ["unknown_action"] });
    expect(await traceTypes(at.world, runId)).toContain("signal_rejected");
  });

  test("for its arguments is refused by the name of what is wrong with them, and its sibling goes on", async () => {
    const { runId, script } = await run(REACT, [
      [
        ["look", '{"a":1,"a":2}'],
        ["look", {}],
      ],
      "Done.",
    ]);
    expect(await at.row(runId)).toMatchObject({ cause: "completed", rejectedSignals: 1, codes: ["duplicate_key"] });
    const [refused, done] = (script.requests[1]?.messages ?? []).filter((message) => message.role === "tool");
    expect(refused?.text).toContain("duplicate_key");
    expect(done?.text).toContain("error");
    expect(await at.beside(runId)).toMatchObject({ batches: 1 });
  });

  test.each([
    ["plan_and_execute", {}],
    ["workflow", { nodes: [{ finish: "early" }, { tool: "look", args: {} }, { finish: "late" }] }],
  ])("as a premature finish lets a %s go on to its end", async (controller, more) => {
    const plan = [{ type: "FINISH" }, { type: "EXECUTE_TOOL", action: "look" }, { type: "FINISH", output: "late" }];
    const { runId } = await run({ controller, instructions: "x", ...more }, [canonicalJson(plan)]);
    expect(await at.row(runId)).toMatchObject({
      cause: "completed",
      output: '"late"',
      rejectedSignals: 1,
      codes: ["premature_finish"],
    });
    expect(await at.beside(runId)).toMatchObject({ batches: 1 });
  });

  test("as an envelope fails the run: it is not unwrapped", async () => {
    const { runId } = await run(REACT, ['{"type":"json_object","content":{"type":"FINISH"}}']);
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "parse_failed", rejectedSignals: 1 });
  });

  test("as a signal in words is one all the same", async () => {
    const { runId } = await run(REACT, [
      '{"type":"request_user_input","question":"Go on?"}',
      '{"type":"fail","reason":"no"}',
    ]);
    await at.answer(await at.onlyTicket(runId), "no");
    const script = new Script(['{"type":"fail","reason":"no"}']);
    await at.drive(script);
    expect(await at.row(runId)).toMatchObject({ cause: "failed", causeCode: "agent_failed", rejectedSignals: 0 });
    expect(told(script)).toBe('"no"');
  });
});

describe("calls of one answer", () => {
  test("are parked as one batch, each with a ticket, and the model goes on when all have an outcome", async () => {
    const { runId, script } = await run({ ...REACT, batch_mode: "parallel" }, [
      [
        ["send_mail", { n: 1 }],
        ["send_mail", { n: 2 }],
      ],
      "Done.",
    ]);
    const [first, second] = await at.openTickets(runId);
    if (!first || !second) throw new Error("two tickets");
    await allow(at.world, first);
    await at.drive(script);
    expect(script.calls).toBe(1);
    await deny(at.world, second, at.world.approver, "Not this one.");
    await at.drive(script);
    const results = (script.requests[1]?.messages ?? []).filter((message) => message.role === "tool");
    expect(results.map(({ text }) => text)).toEqual([
      expect.stringContaining("error"),
      canonicalJson({ blocked: "person", call: second.callRef, reason: "Not this one." }),
    ]);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("come one after another where the definition names no mode", async () => {
    const { runId } = await run(REACT, [
      [
        ["send_mail", { n: 1 }],
        ["send_mail", { n: 2 }],
      ],
    ]);
    expect((await at.openTickets(runId)).map(({ callRef }) => callRef)).toEqual(["s1.0"]);
  });

  test("put a question beside them off: the model is told to ask alone", async () => {
    const { runId, script } = await run(REACT, [
      [
        ["request_user_input", { question: "Go on?" }],
        ["look", {}],
      ],
      "Done.",
    ]);
    expect(await at.openTickets(runId)).toEqual([]);
    const results = (script.requests[1]?.messages ?? []).filter((message) => message.role === "tool");
    expect(results[0]?.text).toContain("not_done");
    expect(await at.row(runId)).toMatchObject({ cause: "completed", rejectedSignals: 0 });
  });
});

test("a denied call is a blocked result with the person's reason, and the same run goes on", async () => {
  const { runId, script } = await run(REACT, [mail, "I leave it."]);
  const ticket = await at.onlyTicket(runId);
  await deny(at.world, ticket, at.world.approver, "Wrong address.");
  await at.drive(script);
  expect(JSON.parse(told(script))).toEqual({ blocked: "person", call: "s1.0", reason: "Wrong address." });
  expect(await at.row(runId)).toMatchObject({ cause: "completed", output: '"I leave it."' });
});

test("a park by a proposal leaves exactly the two events, and no signal's", async () => {
  const { runId } = await run(REACT, [mail]);
  expect(await traceTypes(at.world, runId)).toEqual(["checkpoint_saved", "proposal_recorded"]);
  expect((await standing(at.world, runId)).state).toBe("awaiting");
});

test("what a person says while the model thinks is answered before the run ends", async () => {
  const runId = await at.start(REACT);
  const script = new Script([
    async () => {
      await talk(at.world.db, at.world.agent, runId, { id: "wait", text: "One more thing." });
      return "Done.";
    },
    "That too.",
  ]);
  await at.drive(script);
  expect(script.calls).toBe(2);
  expect(told(script)).toBe("One more thing.");
  expect(await at.row(runId)).toMatchObject({ cause: "completed", output: '"That too."' });
  expect(await at.thread(runId)).toEqual(["user:Write a brief.", "user:One more thing.", "assistant:That too."]);
});

test("a person's own run is moved as that person, and ends where the right to move it is lost", async () => {
  const definition = { ...REACT, needs_object: ["look"] };
  const done = await at.start(definition, "of-olga", at.world.owner);
  await at.drive(new Script(["Done."]));
  expect(await at.row(done)).toMatchObject({ cause: "completed" });
  const lost = await at.start(definition, "of-olga", at.world.owner);
  await at.drive(
    new Script([
      async () => {
        await at.disable(at.world.owner);
        return "Done.";
      },
    ]),
  );
  expect(await at.row(lost)).toMatchObject({ cause: "cancelled" });
});
