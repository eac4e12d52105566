import { afterAll, beforeAll, expect, test } from "vitest";
import { retryingBusy } from "@/db/testing/at-once";
import {
  about,
  aCall,
  allow,
  deny,
  newWorld,
  openTestRun,
  park,
  parked,
  verdict,
  type World,
} from "@/db/testing/world";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { decideTicket } from "./decide";
import { beginCall, completeCall } from "./execute";
import { finishRun } from "./operate";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

test("a call is parked, allowed, begun, completed, and its run ends completed", async () => {
  const { runId, ticket, call } = await parked(world);
  const allowed = await allow(world, ticket);
  expect(allowed).toMatchObject({ ok: true, value: { value: { verdict: "allow", by: "ada" } } });
  const begun = await beginCall(world.db, world.agent, runId, call.callRef, about(call, ticket.correlationId));
  expect(begun).toMatchObject({ ok: true, value: { value: { granted: true, attempt: 1 } } });
  const done = await completeCall(world.db, world.agent, runId, call.callRef, {
    attempt: 1,
    output: canonicalJson({ sent: true }),
    error: null,
    recovered: false,
  });
  expect(done).toMatchObject({ ok: true, value: { value: { late: false, call: { outcome: "succeeded" } } } });
  const again = await beginCall(world.db, world.agent, runId, call.callRef, about(call, ticket.correlationId));
  expect(again).toMatchObject({ ok: true, value: { value: { granted: false, call: { result: '{"sent":true}' } } } });
  expect(await finishRun(world.db, world.agent, runId, "completed", undefined)).toMatchObject({
    ok: true,
    value: { value: { cause: "completed" } },
  });
});

test("a denied call is never begun and the run goes on", async () => {
  const { runId, ticket, call } = await parked(world);
  expect(await deny(world, ticket, world.approver, "wait for the invoice")).toMatchObject({ ok: true });
  const begun = await beginCall(world.db, world.agent, runId, call.callRef, about(call, ticket.correlationId));
  expect(begun).toMatchObject({ ok: false, refusal: { code: "approval_rejected", facts: { cause: "person" } } });
  const next = await park(world, runId, [aCall({ action: "other" })], { step: 2 });
  expect(next.calls[0]?.verdict).toBe("awaiting");
});

test("twenty approvers at once: one decides, nineteen are told who did", async () => {
  const { ticket } = await parked(world);
  const attempts = await Promise.all(Array.from({ length: 20 }, () => verdict(world, ticket, "allow")));
  const outcomes = await Promise.all(
    attempts.map((attempt, index) =>
      retryingBusy(() => decideTicket(world.db, index % 2 ? world.approver : world.approver2, ticket.id, attempt)),
    ),
  );
  expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
  const losers = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal]));
  expect(losers.map((refusal) => refusal.code)).toEqual(Array(19).fill("not_awaiting"));
  for (const loser of losers) expect(loser.facts?.closed_by).toMatchObject({ kind: "decision", verdict: "allow" });
});

test("another agent sees nothing of a run that is not its own", async () => {
  const runId = await openTestRun(world);
  const finished = await finishRun(world.db, world.otherAgent, runId, "completed", undefined);
  expect(finished).toMatchObject({ ok: false, refusal: { code: "unknown_run", traceSeq: null } });
});
