import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aCall,
  allow,
  allowed,
  begin,
  codeOf,
  deny,
  newWorld,
  openTestRun,
  pair,
  park,
  parked,
  report,
  several,
  standing,
  sweep,
  traceTypes,
  type World,
} from "@/db/testing/world";
import { cancel, cancelCall, replace, withdrawCall } from "./operate";
import { proposeStep } from "./propose";
import { allowList, setPolicy } from "./set-policy";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

test("16: one denied, one allowed, one open: the allowed one begins", async () => {
  const [a, b] = pair(await several(world, ["a", "b", "c"]));
  await deny(world, a.ticket);
  await allow(world, b.ticket);
  expect(codeOf(await begin(world, b))).toBe("ok");
});

test("17: the same all or nothing: the allowed sibling is cancelled; one that was begun completes", async () => {
  const [a, b] = pair(await several(world, ["a", "b"], { coupling: "all_or_nothing" }));
  await allow(world, b.ticket);
  await deny(world, a.ticket);
  expect((await standing(world, b.runId, b.call.callRef)).call).toMatchObject({
    outcome: "cancelled",
    outcomeCause: "sibling_denied",
  });
  expect(codeOf(await begin(world, b))).toBe("call_cancelled");
  const [c, d] = pair(await several(world, ["c", "d"], { coupling: "all_or_nothing" }));
  await allow(world, d.ticket);
  await begin(world, d);
  await deny(world, c.ticket);
  expect(codeOf(await report(world, d, 1))).toBe("ok");
});

test("18: one expired under hold, the other begins; the held one is replaced", async () => {
  const runId = await openTestRun(world);
  const answer = await park(world, runId, [aCall({ action: "a", deadlineInMs: 1 }), aCall({ action: "b" })]);
  const [a, b] = pair(answer.calls.flatMap(({ call, ticket }) => (ticket ? [{ runId, call, ticket }] : [])));
  await sleep(10);
  await sweep(world);
  await allow(world, b.ticket);
  expect(codeOf(await begin(world, b))).toBe("ok");
  expect((await standing(world, runId)).state).toBe("awaiting");
  expect(codeOf(await allow(world, a.ticket))).toBe("expired");
  const replaced = await replace(world.db, world.operator, a.ticket.id, "again", 60_000);
  expect(replaced.ok && codeOf(await allow(world, replaced.value.value))).toBe("ok");
});

test("25: an agent that restarts and sends its step again gets it from the record, whatever has happened since", async () => {
  const runId = await openTestRun(world);
  const calls = [aCall()];
  const first = await park(world, runId, calls);
  const ticket = first.calls[0]?.ticket;
  if (!ticket) throw new Error("no ticket");
  await allow(world, ticket);
  expect(await park(world, runId, calls)).toMatchObject({ fromRecord: true, calls: [{ verdict: "allowed" }] });
  await cancel(world.db, world.operator, runId, "stop");
  expect(await park(world, runId, calls)).toMatchObject({ fromRecord: true });
});

test("26: another step under the same number is a conflict; withdraw, and the next one is accepted", async () => {
  const what = await parked(world);
  const request = {
    step: 1,
    mode: "parallel",
    coupling: "independent",
    state: null,
    messages: [],
    calls: [aCall({ action: "x" })],
  } as const;
  expect(codeOf(await proposeStep(world.db, world.agent, what.runId, request))).toBe("batch_conflict");
  expect(codeOf(await proposeStep(world.db, world.agent, what.runId, { ...request, step: 2 }))).toBe("batch_open");
  expect(codeOf(await withdrawCall(world.db, world.agent, what.runId, "s1.0", "changed my mind"))).toBe("ok");
  expect(codeOf(await withdrawCall(world.db, world.agent, what.runId, "s1.0", "again"))).toBe("ok");
  expect(codeOf(await proposeStep(world.db, world.agent, what.runId, { ...request, step: 2 }))).toBe("ok");
  expect(codeOf(await withdrawCall(world.db, world.operator, what.runId, "s2.0", "not mine"))).toBe("unknown_run");
});

test("27: step 2 while step 1 is allowed and never begun: it is closed as not picked up", async () => {
  const what = await allowed(world);
  await park(world, what.runId, [aCall({ action: "next" })], { step: 2 });
  expect((await standing(world, what.runId)).call).toMatchObject({
    outcome: "cancelled",
    outcomeCause: "not_picked_up",
  });
});

test("48: sequential, all or nothing: the first is denied, the queued one is never opened", async () => {
  const runId = await openTestRun(world);
  const answer = await park(world, runId, [aCall({ action: "a" }), aCall({ action: "b" })], {
    mode: "sequential",
    coupling: "all_or_nothing",
  });
  expect(answer.calls.map(({ verdict: word }) => word)).toEqual(["awaiting", "queued"]);
  const ticket = answer.calls[0]?.ticket;
  if (!ticket) throw new Error("no ticket");
  await deny(world, ticket);
  expect(await standing(world, runId, "s1.1")).toMatchObject({
    call: { outcomeCause: "sibling_denied" },
    ticket: undefined,
  });
});

test("a sequential batch opens its next call when the one before it has an outcome, and begins in order", async () => {
  await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: allowList(["free"]) });
  const runId = await openTestRun(world);
  const answer = await park(world, runId, [aCall({ action: "a" }), aCall({ action: "free" }), aCall({ action: "b" })], {
    mode: "sequential",
  });
  expect(answer.calls.map(({ verdict: word }) => word)).toEqual(["awaiting", "allowed", "queued"]);
  const [first, free] = answer.calls;
  if (!first?.ticket || !free) throw new Error("no ticket");
  const freeCall = { runId, call: free.call, ticket: { ...first.ticket, correlationId: `rule:${runId}:s1.1` } };
  expect(codeOf(await begin(world, freeCall))).toBe("batch_order");
  await deny(world, first.ticket);
  expect((await standing(world, runId, "s1.2")).call.status).toBe("queued");
  expect(codeOf(await begin(world, freeCall))).toBe("ok");
  await report(world, freeCall, 1);
  expect(await standing(world, runId, "s1.2")).toMatchObject({
    call: { status: "awaiting" },
    ticket: { status: "open" },
  });
  await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: [] });
});

test("cancelling a call tells it from a deny: its run goes on, and a later begin says cancelled", async () => {
  const what = await parked(world);
  expect(codeOf(await cancelCall(world.db, world.operator, what.ticket.id, "not needed"))).toBe("ok");
  expect(codeOf(await begin(world, what))).toBe("call_cancelled");
  expect((await standing(world, what.runId)).state).toBe("running");
  expect(codeOf(await cancelCall(world.db, world.operator, what.ticket.id, "again"))).toBe("not_awaiting");
});

test("an act that was denied three times is blocked as a repeat", async () => {
  const runId = await openTestRun(world);
  for (const step of [1, 2, 3]) {
    const ticket = (await park(world, runId, [aCall()], { step })).calls[0]?.ticket;
    if (!ticket) throw new Error("no ticket");
    await deny(world, ticket);
  }
  const answer = await park(world, runId, [aCall()], { step: 4 });
  expect(answer.calls[0]).toMatchObject({ verdict: "blocked", call: { outcomeCause: "repeat_of_denied" } });
});

test("an unused allow moves once to the call that asks again under another id", async () => {
  const what = await allowed(world, { callId: "one" });
  const again = await park(world, what.runId, [aCall({ callId: "two", rebind: true })], { step: 2 });
  expect(again.calls[0]).toMatchObject({ verdict: "allowed", call: { reboundFrom: "s1.0" } });
  const moved = again.calls[0];
  if (!moved) throw new Error("no call");
  expect(codeOf(await begin(world, { ...what, call: moved.call }))).toBe("ok");
  expect((await standing(world, what.runId)).call).toMatchObject({ outcomeCause: "rebound" });
});

test("a deadline with on_expiry end_run ends its run as cancelled, once, however often it is swept", async () => {
  const what = await parked(world, { deadlineInMs: 1, onExpiry: "end_run" });
  await sleep(10);
  await sweep(world);
  expect((await standing(world, what.runId)).run.cause).toBe("cancelled");
  await sweep(world);
  expect((await traceTypes(world, what.runId)).filter((type) => type === "run_ended")).toHaveLength(1);
});
