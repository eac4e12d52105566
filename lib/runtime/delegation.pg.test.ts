import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { openRun } from "@/db/store/open-run";
import { cancel, cancelCall } from "@/db/store/operate";
import { publishSnapshot } from "@/db/store/snapshots";
import { atOnce } from "@/db/testing/at-once";
import { startAgentRun } from "@/db/testing/start-agent";
import { aCall, allow, codeOf, park, parked, personCaller, standing, traceTypes } from "@/db/testing/world";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { MOST_DELEGATIONS } from "@/lib/protocol/delegation";
import type { Caller } from "@/lib/protocol/principal";
import { AgentWorld, type Line, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const WORK = { controller: "react", instructions: "Work." };
const ask: Line = [["ask_clerk", { message: "Write to Ada." }]];
const mail: Line = [["send_mail", { to: "ada@example.test" }]];

/** A parent and a child of fresh names, published; the parent delegates `ask_clerk` to the child. */
class Pair {
  private static made = 0;
  readonly parent = `boss-${++Pair.made}`;
  readonly child = `clerk-${Pair.made}`;
  readonly scripts: Record<string, Script> = {};
  runId = "";

  constructor(private readonly owner: Caller = at.world.agent) {}

  async publish(name: string, tools: readonly string[], definition: JsonObject): Promise<void> {
    const content = { provider: "scripted", mcpServers: null, build: null, definition };
    const named = tools.map((tool) => ({ name: tool }));
    const done = await publishSnapshot(at.world.db, this.owner, name, { ...content, model: name, tools: named });
    if (!done.ok) throw new Error(`${done.refusal.code} ${done.refusal.path} ${done.refusal.detail}`);
  }

  async start(parent: readonly Line[], child: readonly Line[], over: JsonObject = {}): Promise<this> {
    this.scripts[this.parent] = new Script(parent);
    this.scripts[this.child] = new Script(child);
    await this.publish(this.child, ["send_mail"], WORK);
    const started = await startAgentRun(at.world.db, this.owner, {
      agent: {
        name: this.parent,
        provider: "scripted",
        model: this.parent,
        mcpServers: null,
        build: null,
        tools: [{ name: "ask_clerk" }, { name: "send_mail" }],
        definition: { ...WORK, delegates: { ask_clerk: this.child }, ...over },
      },
      input: "See to it.",
    });
    if (!started.ok) throw new Error(started.refusal.code);
    this.runId = started.value;
    await this.drive();
    return this;
  }

  drive(): Promise<unknown> {
    return at.drive((name) => this.scripts[name] ?? new Script(["Done."]));
  }

  async children() {
    return inWorkspace(at.world.db, at.world.workspace, async (tx) => {
      const rows = await tx.sql<
        { runId: string; state: string; cause: string | null; origin: string; input: string }[]
      >`
        select c.run_id, c.state, c.cause, c.origin, (select content from messages m
          where m.workspace_id = c.workspace_id and m.thread_id = c.thread_id order by seq limit 1) as input
        from runs c join runs p on p.workspace_id = c.workspace_id and p.id = c.parent_run
        where c.workspace_id = ${tx.workspace} and p.run_id = ${this.runId} order by c.created_at`;
      return [...rows];
    });
  }

  async child1() {
    const [child] = await this.children();
    if (!child) throw new Error("nothing was delegated");
    return child;
  }

  /** What the parent's model was told last. */
  told(): string {
    const last = this.scripts[this.parent]?.requests.at(-1)?.messages.at(-1);
    return last && "text" in last ? (last.text ?? "") : "";
  }
}

describe("a delegated call", () => {
  test("opens one run of the other agent, waits for its end without a worker, and its result is the child's", async () => {
    const pair = await new Pair().start([ask, "All is done."], [mail, "I wrote to Ada."]);
    const child = await pair.child1();
    expect(child).toMatchObject({ state: "awaiting", input: "Write to Ada." });
    expect(await at.row(pair.runId)).toMatchObject({ state: "awaiting" });
    expect(await at.onlyTicket(pair.runId)).toMatchObject({ reason: "delegation", delegation: null });
    const asked = await at.onlyTicket(child.runId);
    expect(asked.delegation).toMatchObject({ parent_run_id: pair.runId, parent_call_ref: "s1.0", depth: 1 });

    expect(await allow(at.world, asked)).toMatchObject({ ok: true });
    await pair.drive();
    expect(JSON.parse(pair.told())).toBe("I wrote to Ada.");
    expect(await at.row(pair.runId)).toMatchObject({ cause: "completed" });
    expect((await pair.children()).map(({ cause }) => cause)).toEqual(["completed"]);
    expect(await traceTypes(at.world, pair.runId)).toContain("input_received");
  });

  test("of a person's run is opened for that person, and no longer once they are gone", async () => {
    const { owner } = at.world;
    const pair = await new Pair(owner).start([ask, "Done."], [mail, "Done."]);
    const asked = await at.onlyTicket((await pair.child1()).runId);
    expect(codeOf(await allow(at.world, asked, owner))).toBe("self_approval");
    expect(codeOf(await allow(at.world, asked))).toBe("ok");
    const operator = await personCaller(at.world.db, at.world.workspace, "gone@hold.example", "operator");
    const left = new Pair(operator);
    const leaves: Line = async () => {
      await at.disable(operator);
      return ask;
    };
    await left.start([leaves], ["Done."]);
    expect(await left.children()).toEqual([]);
    expect(await at.row(left.runId)).toMatchObject({ cause: "cancelled" });
  });

  test("keeps its origin through every look, and opens no second run", async () => {
    const pair = await new Pair().start([ask, "Done."], [mail, "Done."]);
    const before = await pair.children();
    for (const runId of [pair.runId, before[0]?.runId ?? ""]) await at.look(runId);
    await pair.drive();
    await at.look(pair.runId);
    await pair.drive();
    expect(await pair.children()).toEqual(before);
  });

  test("of a child that fails is taken back, and the model is told why", async () => {
    const pair = await new Pair().start([ask, "Then not."], [""]);
    expect(await pair.child1()).toMatchObject({ cause: "failed" });
    expect(JSON.parse(pair.told())).toMatchObject({
      cancelled: "withdrawn",
      reason: expect.stringContaining("failed"),
    });
    expect(await at.row(pair.runId)).toMatchObject({ cause: "completed" });
  });

  test("to an agent that does not run here is taken back, and nothing is opened", async () => {
    const pair = new Pair();
    await pair.start([ask, "Then not."], ["Done."], { delegates: { ask_clerk: "nobody" } });
    expect(await pair.children()).toEqual([]);
    expect(JSON.parse(pair.told())).toMatchObject({ reason: expect.stringContaining("runs here") });
  });

  test("by which an agent would work for itself is taken back", async () => {
    const pair = new Pair();
    await pair.start([ask, "Then not."], ["Done."], { delegates: { ask_clerk: pair.parent } });
    expect(await pair.children()).toEqual([]);
    expect(JSON.parse(pair.told())).toMatchObject({ reason: expect.stringContaining("work for itself") });
  });

  test("that an operator cancels ends the run that works for it, and the parent goes on", async () => {
    const pair = await new Pair().start([ask, "Then not."], [mail, "Done."]);
    const wait = await at.onlyTicket(pair.runId);
    expect(codeOf(await cancelCall(at.world.db, at.world.owner, wait.id, "not needed"))).toBe("ok");
    await pair.drive();
    expect(await pair.child1()).toMatchObject({ cause: "cancelled" });
    expect(JSON.parse(pair.told())).toMatchObject({ cancelled: "ticket_cancelled", reason: "not needed" });
    expect(await at.row(pair.runId)).toMatchObject({ cause: "completed" });
  });
});

describe("a chain of delegated runs", () => {
  const open = (runId: string, parent: string | null) =>
    openRun(at.world.db, at.world.agent, {
      runId,
      agent: "link",
      snapshotId: null,
      threadId: null,
      input: null,
      executor: "client",
      onBehalfOf: null,
      parent: parent === null ? null : { runId: parent, call: "s1.0" },
    });

  test(`has at most ${MOST_DELEGATIONS} behind its first`, async () => {
    const codes: string[] = [];
    for (let depth = 0; depth <= MOST_DELEGATIONS + 1; depth += 1) {
      codes.push(codeOf(await open(`link-${depth}`, depth === 0 ? null : `link-${depth - 1}`)));
      if (codes.at(-1) === "ok") await park(at.world, `link-${depth}`, [aCall()]);
    }
    expect(codes).toEqual([...Array(MOST_DELEGATIONS + 1).fill("ok"), "invalid_body"]);
  });
});

describe("a parent that ends while a run of it is being opened", () => {
  const open = (parent: string, runId: string) =>
    openRun(at.world.db, at.world.agent, {
      runId,
      agent: "late-clerk",
      snapshotId: null,
      threadId: null,
      input: null,
      executor: "client",
      onBehalfOf: null,
      parent: { runId: parent, call: "s1.0" },
    });
  const end = (parent: string) => cancel(at.world.db, at.world.owner, parent, "enough");

  test("before it refuses it: nothing is opened for a run that is over", async () => {
    const { runId } = await parked(at.world);
    const [ended, opened] = await atOnce(at.world, runId, [() => end(runId), () => open(runId, "too-late")]);
    expect([codeOf(ended), codeOf(opened)]).toEqual(["ok", "run_ended"]);
  });

  test("after it tells it", async () => {
    const { runId } = await parked(at.world);
    const [opened, ended] = await atOnce(at.world, runId, [() => open(runId, "in-time"), () => end(runId)]);
    expect([codeOf(opened), codeOf(ended)]).toEqual(["ok", "ok"]);
    await at.drive(null);
    expect(await at.row("in-time")).toMatchObject({ cause: "cancelled", causeCode: "not_wanted" });
  });
});

describe("when one of two relatives ends", () => {
  test("30: a parent that is cancelled has its child told by a job, and the child's allow begins nothing meanwhile", async () => {
    const pair = await new Pair().start([ask, "Done."], [mail, "Done."]);
    const child = await pair.child1();
    const ticket = await at.onlyTicket(child.runId);
    const [cancelled, allowed] = await Promise.all([
      cancel(at.world.db, at.world.owner, pair.runId, "enough"),
      allow(at.world, ticket),
    ]);
    expect([codeOf(cancelled), codeOf(allowed)]).toEqual(["ok", "ok"]);
    await pair.drive();
    expect(await pair.child1()).toMatchObject({ cause: "cancelled" });
    expect((await standing(at.world, child.runId)).call).toMatchObject({ attempt: 0 });
    expect(await at.openTickets(child.runId)).toEqual([]);
  });

  test("31: a child that ends while its parent is being cancelled changes nothing of the parent", async () => {
    const pair = await new Pair().start([ask, "Done."], [mail, "Done."]);
    const child = await pair.child1();
    // Both ends are committed before either notice is read.
    const [one, other] = await Promise.all([
      cancel(at.world.db, at.world.owner, child.runId, "enough"),
      cancel(at.world.db, at.world.owner, pair.runId, "enough"),
    ]);
    expect([codeOf(one), codeOf(other)]).toEqual(["ok", "ok"]);
    const before = await at.row(pair.runId);
    await pair.drive();
    expect(await at.row(pair.runId)).toEqual(before);
    expect(await pair.child1()).toMatchObject({ cause: "cancelled" });
  });
});
