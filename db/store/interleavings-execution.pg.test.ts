import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { atOnce, retryingBusy } from "@/db/testing/at-once";
import { figure } from "@/db/testing/figure";
import {
  allowed,
  begin,
  beginAndLapse,
  codeOf,
  newWorld,
  report,
  standing,
  sweep,
  traceTypes,
  type World,
} from "@/db/testing/world";
import { pauseRun } from "./ask";
import { cancel, finishRun, replace, settle } from "./operate";
import { setPolicy } from "./set-policy";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

/** What only time would do: done to the row, so that no test races the clock. */
async function asOwner(change: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(world.adminUrl, { max: 1 });
  await change(sql);
  await sql.end();
}

test("9: a retry after the lease is never the stored grant: indeterminate for class none, a new attempt where it is safe", async () => {
  const grant = { worker: "w1", key: "k1" };
  const none = await allowed(world);
  await beginAndLapse(world, none, grant);
  expect(codeOf(await begin(world, none, grant))).toBe("indeterminate");
  const safe = await allowed(world, { declaredClass: "idempotency_key" });
  const first = await beginAndLapse(world, safe, grant);
  const second = await begin(world, safe, grant);
  expect(second).toMatchObject({ ok: true, value: { value: { granted: true, attempt: 2 } } });
  const keyOf = (begun: typeof first) => (begun.ok && begun.value.value.granted ? begun.value.value.effectKey : "");
  expect(keyOf(first)).toBe(keyOf(second));
});

test("10: inside the lease the same key and worker get the same grant; either one alone is in progress", async () => {
  const what = await allowed(world);
  await begin(world, what, { worker: "w1", key: "k1" });
  expect(await begin(world, what, { worker: "w1", key: "k1" })).toMatchObject({
    ok: true,
    value: { value: { attempt: 1 } },
  });
  for (const other of [{ worker: "w2", key: "k1" }, { worker: "w1", key: "k2" }, { worker: "w1" }, { key: "k1" }, {}]) {
    expect(codeOf(await begin(world, what, other))).toBe("in_progress");
  }
});

test("11: two processes with one derived key: one grant", async () => {
  const what = await allowed(world);
  const outcomes = await atOnce(world, what.runId, [
    () => begin(world, what, { worker: "w1", key: "k" }),
    () => begin(world, what, { worker: "w2", key: "k" }),
  ]);
  expect(outcomes.map(codeOf)).toEqual(["ok", "in_progress"]);
});

test("12 and 47: complete after the lapse is accepted as late, before and after the sweeper", async () => {
  const before = await allowed(world);
  await beginAndLapse(world, before);
  expect(await report(world, before, 1)).toMatchObject({ ok: true, value: { value: { late: true } } });
  const after = await allowed(world);
  await beginAndLapse(world, after);
  await sweep(world);
  expect((await standing(world, after.runId)).call.status).toBe("indeterminate");
  expect(await report(world, after, 1)).toMatchObject({
    ok: true,
    value: { value: { late: true, call: { outcome: "succeeded" } } },
  });
});

test("13: settled as not happened, then reported done: contradicted, and the report is kept", async () => {
  const what = await allowed(world);
  await beginAndLapse(world, what);
  const settled = await settle(world.db, world.operator, what.runId, "s1.0", {
    verdict: "did_not_happen",
    output: null,
    evidence: "bank",
  });
  expect(settled).toMatchObject({
    ok: true,
    value: { value: { outcome: "failed", outcomeCause: "effect_did_not_happen" } },
  });
  const said = await report(world, what, 1);
  expect(said).toMatchObject({
    ok: false,
    refusal: { code: "settlement_contradicted", facts: { reported: { bytes: 6 } } },
  });
  expect(
    codeOf(
      await settle(world.db, world.operator, what.runId, "s1.0", { verdict: "happened", output: null, evidence: "" }),
    ),
  ).toBe("not_indeterminate");
});

test("14: cancel while executing, then complete: accepted, and the run stays cancelled", async () => {
  const what = await allowed(world);
  await begin(world, what);
  expect(codeOf(await cancel(world.db, world.operator, what.runId, "stop"))).toBe("ok");
  expect(await report(world, what, 1)).toMatchObject({ ok: true, value: { value: { late: true } } });
  expect((await standing(world, what.runId)).run.cause).toBe("cancelled");
  expect(codeOf(await begin(world, what))).toBe("ok");
});

test("15: begin after cancel is told that the run has ended", async () => {
  const what = await allowed(world);
  await cancel(world.db, world.operator, what.runId, "stop");
  expect(codeOf(await begin(world, what))).toBe("run_ended");
});

test("36: finish and begin at once: whoever is first", async () => {
  const one = await allowed(world);
  const first = await atOnce(world, one.runId, [
    () => finishRun(world.db, world.agent, one.runId, "completed", undefined),
    () => begin(world, one),
  ]);
  expect(first.map(codeOf)).toEqual(["ok", "run_ended"]);
  const two = await allowed(world);
  const second = await atOnce(world, two.runId, [
    () => begin(world, two),
    () => finishRun(world.db, world.agent, two.runId, "completed", undefined),
  ]);
  expect(second.map(codeOf)).toEqual(["ok", "call_unfinished"]);
});

test("38: replacing an allow and beginning it at once: whoever is first", async () => {
  const one = await allowed(world);
  const first = await atOnce(world, one.runId, [
    () => begin(world, one),
    () => replace(world.db, world.operator, one.ticket.id, "no", null),
  ]);
  expect(first.map(codeOf)).toEqual(["ok", "not_awaiting"]);
  const two = await allowed(world);
  const second = await atOnce(world, two.runId, [
    () => replace(world.db, world.operator, two.ticket.id, "no", null),
    () => begin(world, two),
  ]);
  expect(second.map(codeOf)).toEqual(["ok", "approval_required"]);
});

test("39: a hundred begins at once: one is granted, the rest are in progress, and afterwards all get the result", async () => {
  const what = await allowed(world);
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => retryingBusy(() => begin(world, what))));
  const codes = outcomes.map(codeOf);
  expect(codes.filter((code) => code === "ok")).toHaveLength(1);
  expect(codes.filter((code) => code === "in_progress")).toHaveLength(99);
  await report(world, what, 1, "paid");
  const after = await Promise.all(Array.from({ length: 100 }, () => retryingBusy(() => begin(world, what))));
  for (const outcome of after) {
    expect(outcome).toMatchObject({ ok: true, value: { value: { granted: false, call: { result: '"paid"' } } } });
  }
  figure(
    "one grant",
    "100 begins at once: 1 granted, 99 in_progress; after it completed, 100 of 100 get the recorded result",
  );
});

test("40: a late complete and the next begin at once, in both orders", async () => {
  const one = await allowed(world, { declaredClass: "read_only" });
  await beginAndLapse(world, one);
  const first = await atOnce(world, one.runId, [() => report(world, one, 1), () => begin(world, one)]);
  expect(first).toMatchObject([{ ok: true }, { ok: true, value: { value: { granted: false } } }]);
  const two = await allowed(world, { declaredClass: "read_only" });
  await beginAndLapse(world, two);
  const second = await atOnce(world, two.runId, [() => begin(world, two), () => report(world, two, 1)]);
  expect(second).toMatchObject([
    { ok: true, value: { value: { attempt: 2 } } },
    { ok: false, refusal: { code: "stale_attempt" } },
  ]);
});

test("41: lapsed, cancelled, reported: the report is accepted and the run stays cancelled", async () => {
  const what = await allowed(world, { declaredClass: "read_only" });
  await beginAndLapse(world, what);
  await sweep(world);
  expect((await standing(world, what.runId)).call).toMatchObject({ status: "approved", unreported: true });
  await cancel(world.db, world.operator, what.runId, "stop");
  expect((await standing(world, what.runId)).call.status).toBe("indeterminate");
  expect(codeOf(await report(world, what, 1))).toBe("ok");
  expect((await standing(world, what.runId)).run.cause).toBe("cancelled");
});

test("42: a lapsed allow that is out of time can be settled, so that the run can end", async () => {
  const what = await allowed(world, { declaredClass: "read_only", allowValidMs: 60_000 });
  await beginAndLapse(world, what);
  await asOwner(
    (sql) => sql`update calls set allow_valid_until = 1 where run = (select id from runs where run_id = ${what.runId})`,
  );
  expect(codeOf(await begin(world, what))).toBe("approval_lapsed");
  expect(
    codeOf(
      await settle(world.db, world.operator, what.runId, "s1.0", {
        verdict: "happened",
        output: null,
        evidence: "log",
      }),
    ),
  ).toBe("ok");
  expect(codeOf(await finishRun(world.db, world.agent, what.runId, "completed", undefined))).toBe("ok");
});

test("43: a deny rule that came after an unreported attempt makes it indeterminate, not blocked", async () => {
  const begun = await allowed(world, { action: "doomed_1", declaredClass: "read_only" });
  const fresh = await allowed(world, { action: "doomed_2" });
  await beginAndLapse(world, begun);
  const denies = ["doomed_1", "doomed_2"].map((tool) => ({ id: tool, behaviour: "deny" as const, tool }));
  await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: denies });
  expect(codeOf(await begin(world, begun))).toBe("indeterminate");
  expect(await begin(world, fresh)).toMatchObject({
    ok: false,
    refusal: { code: "approval_rejected", facts: { cause: "rule" } },
  });
  await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: [] });
});

test("45: the same begin under a pause gets its grant again; a first begin does not", async () => {
  const what = await allowed(world);
  await begin(world, what, { worker: "w", key: "k" });
  await pauseRun(world.db, world.operator, what.runId, "hold on");
  expect(codeOf(await begin(world, what, { worker: "w", key: "k" }))).toBe("ok");
  const other = await allowed(world);
  await pauseRun(world.db, world.operator, other.runId, "hold on");
  expect(codeOf(await begin(world, other))).toBe("run_awaiting");
});

test("46: the first attempt's report after the second's is stale, and kept", async () => {
  const what = await allowed(world, { declaredClass: "read_only" });
  await beginAndLapse(world, what);
  await begin(world, what);
  await report(world, what, 2, "second");
  const stale = await report(world, what, 1, "first");
  expect(stale).toMatchObject({ ok: false, refusal: { code: "stale_attempt", facts: { reported: { bytes: 7 } } } });
  expect(await traceTypes(world, what.runId)).toContain("resume_rejected");
});

test("8: an old executor wakes while the new attempt runs: stale and kept, one effect key, the new attempt untouched", async () => {
  const what = await allowed(world, { declaredClass: "read_only" });
  await beginAndLapse(world, what);
  const { effectKey } = (await standing(world, what.runId)).call;
  await begin(world, what);
  const before = (await standing(world, what.runId)).call;
  expect(before).toMatchObject({ status: "executing", attempt: 2, effectKey });
  expect(await report(world, what, 1, "woken")).toMatchObject({
    ok: false,
    refusal: { code: "stale_attempt", facts: { current_attempt: 2, reported: { bytes: 7 } } },
  });
  expect((await standing(world, what.runId)).call).toEqual(before);
});

test("32: the tool catalogue changes between park and begin: refused, and the call is still approved", async () => {
  const what = await allowed(world);
  expect(codeOf(await begin(world, what, { catalogFingerprint: "0".repeat(64) }))).toBe("fingerprint_mismatch");
  expect((await standing(world, what.runId)).call.status).toBe("approved");
});
