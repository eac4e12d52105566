import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { atOnce } from "@/db/testing/at-once";
import {
  allow,
  begin,
  codeOf,
  newWorld,
  pair,
  parked,
  several,
  standing,
  sweep,
  verdict,
  type World,
} from "@/db/testing/world";
import { ON_EXPIRY } from "@/lib/protocol/call";
import { decideTicket } from "./decide";
import { cancel, replace } from "./operate";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

test("1: two Allows on two tickets at once are both decided, and the run moves on", async () => {
  const [a, b] = pair(await several(world, ["a", "b"]));
  const outcomes = await atOnce(world, a.runId, [
    () => allow(world, a.ticket),
    () => allow(world, b.ticket, world.approver2),
  ]);
  expect(outcomes.map(codeOf)).toEqual(["ok", "ok"]);
  expect((await standing(world, a.runId)).state).toBe("running");
});

test("2: Allow before cancel is decided, then cancelled with the run", async () => {
  const what = await parked(world);
  const outcomes = await atOnce(world, what.runId, [
    () => allow(world, what.ticket),
    () => cancel(world.db, world.operator, what.runId, "stop"),
  ]);
  expect(outcomes.map(codeOf)).toEqual(["ok", "ok"]);
  expect((await standing(world, what.runId)).call).toMatchObject({ outcome: "cancelled", outcomeCause: "run_ended" });
});

test("2: cancel before Allow wins, and the Allow is told who cancelled", async () => {
  const what = await parked(world);
  const [, late] = await atOnce(world, what.runId, [
    () => cancel(world.db, world.operator, what.runId, "stop"),
    () => allow(world, what.ticket),
  ]);
  expect(late).toMatchObject({
    ok: false,
    refusal: { code: "run_ended", facts: { ended: { cause: "cancelled", by: "otto" } } },
  });
});

test.each(ON_EXPIRY)(
  "3: an Allow that waited for the lock past its deadline is expired, also when on_expiry is %s",
  async (onExpiry) => {
    const what = await parked(world, { deadlineInMs: 250, onExpiry });
    const attempt = await verdict(world, what.ticket, "allow");
    const decideNow = () => decideTicket(world.db, world.approver, what.ticket.id, attempt);
    const [late] = await atOnce(world, what.runId, [decideNow], 300);
    expect(late).toMatchObject({ ok: false, refusal: { code: "expired", facts: { late_verdict: "late_allow" } } });
    await sweep(world);
    expect(codeOf(await allow(world, what.ticket))).toBe(onExpiry === "end_run" ? "run_ended" : "expired");
    expect((await standing(world, what.runId)).call.authorisation).toBeNull();
  },
);

test("19: Allow, Replace, the old Allow again gets its first answer with what superseded it", async () => {
  const what = await parked(world);
  const attempt = await verdict(world, what.ticket, "allow");
  expect(codeOf(await decideTicket(world.db, world.approver, what.ticket.id, attempt))).toBe("ok");
  const replaced = await replace(world.db, world.operator, what.ticket.id, "read again", null);
  const successor = replaced.ok ? replaced.value.value.id : "";
  expect(await decideTicket(world.db, world.approver, what.ticket.id, attempt)).toMatchObject({
    ok: true,
    value: { value: { verdict: "allow", supersededBy: successor } },
  });
  const other = { ...attempt, bodySha256: "1".repeat(64) };
  expect(codeOf(await decideTicket(world.db, world.approver, what.ticket.id, other))).toBe("decision_id_reused");
});

test("20: replace and decide at once: the loser is told how it closed and what succeeds it", async () => {
  const what = await parked(world);
  const [replaced, late] = await atOnce(world, what.runId, [
    () => replace(world.db, world.operator, what.ticket.id, "longer", 60_000),
    () => allow(world, what.ticket),
  ]);
  const successor = replaced.ok ? replaced.value.value.id : "";
  expect(late).toMatchObject({
    ok: false,
    refusal: { code: "not_awaiting", facts: { closed_by: { kind: "replaced", successor_ticket_id: successor } } },
  });
  const other = await parked(world);
  const [first, second] = await atOnce(world, other.runId, [
    () => allow(world, other.ticket),
    () => replace(world.db, world.operator, other.ticket.id, "longer", 60_000),
  ]);
  // The allow came first and was never begun, so replacing voids it.
  expect([codeOf(first), codeOf(second)]).toEqual(["ok", "ok"]);
  expect((await standing(world, other.runId)).call.status).toBe("awaiting");
});

test("one person's two sessions at once are one verdict: the second is told that it is decided", async () => {
  const what = await parked(world);
  const attempts = await Promise.all([verdict(world, what.ticket, "allow"), verdict(world, what.ticket, "deny")]);
  const [one, two] = pair(attempts);
  const outcomes = await atOnce(world, what.runId, [
    () => decideTicket(world.db, world.approver, what.ticket.id, one),
    () => decideTicket(world.db, world.approver, what.ticket.id, two),
  ]);
  expect(outcomes.map(codeOf)).toEqual(["ok", "not_awaiting"]);
});

test("37: Allow after on_expiry deny acted is expired and kept as a late allow", async () => {
  const what = await parked(world, { deadlineInMs: 1, onExpiry: "deny" });
  await sleep(10);
  await sweep(world);
  expect((await standing(world, what.runId)).call).toMatchObject({ outcome: "blocked", outcomeCause: "expiry" });
  expect(await allow(world, what.ticket)).toMatchObject({
    ok: false,
    refusal: { code: "expired", facts: { late_verdict: "late_allow" } },
  });
  expect(codeOf(await begin(world, what))).toBe("approval_rejected");
});
