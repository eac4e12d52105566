import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { answerWait } from "@/db/store/decide";
import { completeClaimed } from "@/db/store/execute";
import { nackJob } from "@/db/store/mailbox/report";
import { withdrawCall } from "@/db/store/operate";
import { proposeStep } from "@/db/store/propose";
import { setPolicy } from "@/db/store/set-policy";
import { aCall, allow, codeOf, standing } from "@/db/testing/world";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { MAX_CALLS } from "@/lib/protocol/wire/parts";
import { AgentWorld, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const MAIL: JsonObject = { to: "ada@example.test" };
let made = 0;

/** A run of a fresh agent whose mail waits for a person. */
async function waiting() {
  const script = new Script([[["send_mail", MAIL]], "Done."]);
  const name = `goes-on-${++made}`;
  const runId = await at.start({ controller: "react", instructions: "Work." }, name);
  await at.drive(script);
  const told = () => {
    const last = script.requests.at(-1)?.messages.at(-1);
    return last && "text" in last ? (last.text ?? "") : "";
  };
  return { runId, name, script, told, ticket: await at.onlyTicket(runId) };
}

/** What its worker says of the call that it was given. */
async function tellOf(runId: string) {
  const report = { attempt: 1, output: canonicalJson("sent"), error: null, recovered: false };
  return completeClaimed(at.world.db, at.world.system, runId, "s1.0", report, { ackWhenIdle: null });
}

async function stalled(runId: string): Promise<string | null> {
  return inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    const [run] = await tx.sql<{ stalledReason: string | null }[]>`
      select stalled_reason from runs where workspace_id = ${tx.workspace} and run_id = ${runId}`;
    return run?.stalledReason ?? null;
  });
}

describe("an agent's run goes on by itself", () => {
  test("after its call was taken back with its principal's key", async () => {
    const { runId, script, told } = await waiting();
    expect(codeOf(await withdrawCall(at.world.db, at.world.agent, runId, "s1.0", "not needed"))).toBe("ok");
    await at.drive(script);
    expect(JSON.parse(told())).toMatchObject({ cancelled: "withdrawn", reason: "not needed" });
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("after a deny rule that came later than the allow", async () => {
    const { runId, name, script, told, ticket } = await waiting();
    expect(codeOf(await allow(at.world, ticket))).toBe("ok");
    const rules = [{ id: "no-mail", behaviour: "deny", tool: "send_mail" }] as const;
    const policy = await setPolicy(at.world.db, at.world.cli, name, { default: "ask", rules });
    expect(policy.ok).toBe(true);
    await at.drive(script);
    expect(JSON.parse(told())).toMatchObject({ blocked: "blocked_by_rule" });
    expect(await at.row(runId)).toMatchObject({ cause: "completed", codes: ["approval_rejected"] });
  });

  test("after the report of a worker that had been given up, on a call that nobody else can tell of", async () => {
    const { runId, script, told, ticket } = await waiting();
    expect(codeOf(await allow(at.world, ticket))).toBe("ok");
    const job = await at.claim();
    await expect(
      at.advance(job, null, (point) => {
        if (point === "before_effect") throw new Error("asleep");
      }),
    ).rejects.toThrow("asleep");
    await at.giveUp(job);
    await at.drive(script);
    expect((await standing(at.world, runId)).call.status).toBe("indeterminate");
    expect(codeOf(await tellOf(runId))).toBe("ok");
    await at.drive(script);
    expect(JSON.parse(told())).toBe("sent");
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("after its principal's key has answered a wait of its own", async () => {
    const name = `goes-on-${++made}`;
    const runId = await at.start({ controller: "react", instructions: "Work." }, name);
    const own = aCall({ action: "look", target: "client_execution" });
    const step = { step: 1, mode: "parallel", coupling: "independent", state: null, messages: [] } as const;
    expect(codeOf(await proposeStep(at.world.db, at.world.agent, runId, { ...step, calls: [own] }))).toBe("ok");
    const script = new Script(["Done."]);
    await at.drive(script);
    expect(script.calls, "it waits").toBe(0);
    const ticket = await at.onlyTicket(runId);
    const book = await standing(at.world, runId);
    const answer = await answerWait(at.world.db, at.world.agent, ticket.id, {
      correlation_id: ticket.correlationId,
      run_id: runId,
      thread_id: book.run.threadId,
      snapshot_id: ticket.snapshotId,
      catalog_fingerprint: ticket.catalogFingerprint,
      delegation_origin: null,
      result: { kind: "tool_result", call_id: "s1.0", output: "seen" },
      now_ms: 0,
    });
    expect(codeOf(answer)).toBe("ok");
    await at.drive(script);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("after a decision that follows its last job's end, and is not called stalled any more", async () => {
    const mails = [1, 2].map((n) => ["send_mail", { n }] as [string, JsonObject]);
    const script = new Script([mails, "Done."]);
    const definition = { controller: "react", instructions: "Work.", batch_mode: "parallel" };
    const runId = await at.start(definition, `goes-on-${++made}`);
    await at.drive(script);
    const [first, second] = await at.openTickets(runId);
    if (!first || !second) throw new Error("two tickets");
    await allow(at.world, first);
    const gone = await nackJob(at.world.db, at.world.system, await at.claim(), { permanent: true, error: "poison" });
    expect([codeOf(gone), await stalled(runId)]).toEqual(["ok", "dead_letter"]);
    await allow(at.world, second);
    expect(await stalled(runId)).toBeNull();
    await at.drive(script);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });

  test("with a question that holds what no column of text can", async () => {
    const nodes = [{ ask: "Who?", as: "who" }, { ask: "Is {{who}} right?", as: "sure" }, { finish: "Done." }];
    const runId = await at.start({ controller: "workflow", instructions: "Ask.", nodes }, `goes-on-${++made}`);
    await at.drive(null);
    await at.answer(await at.onlyTicket(runId), "A\u0000da");
    await at.drive(null);
    expect((await at.onlyTicket(runId)).prompt).toBe("Is A\uFFFDda right?");
  });
});

test("an answer with more calls than a batch holds makes one batch; the model is told that the rest was put off", async () => {
  const many = Array.from({ length: MAX_CALLS + 1 }, (_, n) => ["send_mail", { n }] as [string, JsonObject]);
  const runId = await at.start({ controller: "react", instructions: "Work." }, `goes-on-${++made}`);
  await at.drive(new Script([many]));
  expect((await standing(at.world, runId, `s1.${MAX_CALLS - 1}`)).call.status).toBe("queued");
  await expect(standing(at.world, runId, `s1.${MAX_CALLS}`)).rejects.toThrow("no call");
  const results = (await at.thread(runId)).filter((line) => line.startsWith("tool:"));
  expect(results).toEqual([expect.stringContaining("not_done")]);
  await at.abandon(runId);
});

describe("a workspace that is suspended under way", () => {
  test("between a call's effect and its report takes the report: what has happened can always be told", async () => {
    const { runId, script, ticket } = await waiting();
    expect(codeOf(await allow(at.world, ticket))).toBe("ok");
    const job = await at.claim();
    await expect(
      at.advance(job, null, (point) => {
        if (point === "after_effect") throw new Error("suspended");
      }),
    ).rejects.toThrow("suspended");
    await at.suspend(true);
    expect(codeOf(await tellOf(runId))).toBe("ok");
    await at.suspend(false);
    await at.finish(job);
    await at.look(runId);
    await at.drive(script);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  });
});
