import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  about,
  aCall,
  allow,
  allowed,
  begin,
  codeOf,
  deny,
  newWorld,
  openTestRun,
  park,
  parked,
  report,
  standing,
  traceTypes,
  verdict,
  type World,
} from "@/db/testing/world";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { askPerson } from "./ask";
import { decideTicket } from "./decide";
import { beginCall, beginClaimed, completeCall, renewCall } from "./execute";
import { cancel, replace, settle } from "./operate";
import { proposeStep } from "./propose";

/** Refusals that no other suite meets on its way, each by the situation that brings it about. */
let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

interface LedgerRow {
  readonly code: string;
  readonly run: string | null;
  readonly seq: number | null;
}

async function ledger(): Promise<readonly LedgerRow[]> {
  return admin<LedgerRow[]>`select code, run, seq from refusals order by at, id`;
}

/** The refusal, which must be in the ledger once, and in the run's trace once where it has a place there. */
async function refusedOnce(act: () => Promise<{ readonly ok: boolean }>): Promise<string> {
  const before = (await ledger()).length;
  const code = codeOf((await act()) as Parameters<typeof codeOf>[0]);
  const added = (await ledger()).slice(before);
  expect(added.map((row) => row.code)).toEqual([code]);
  for (const { run, seq } of added) {
    if (run === null) continue;
    const [event] = await admin<{ code: string | null }[]>`
      select refusal_code as code from trace_events where run = ${run} and seq = ${seq}`;
    expect(event?.code).toBe(code);
  }
  return code;
}

describe("a verdict", () => {
  test("on a view that has changed since, or was never shown, is stale", async () => {
    const { ticket } = await parked(world);
    const click = await verdict(world, ticket, "allow");
    for (const viewDigest of ["", "0".repeat(64)]) {
      const other = { ...click, viewDigest };
      expect(await refusedOnce(() => decideTicket(world.db, world.approver, ticket.id, other))).toBe("stale_view");
    }
    await admin`update tickets set revision = 2, risk = 'high' where id = ${ticket.id}`;
    expect(await refusedOnce(() => decideTicket(world.db, world.approver, ticket.id, click))).toBe("stale_view");
    expect(codeOf(await allow(world, ticket))).toBe("ok");
  });

  test("sooner than it can be read is too fast; 400 ms are enough", async () => {
    const { ticket } = await parked(world);
    const click = await verdict(world, ticket, "allow");
    const seenFor = (seenForMs: number) => decideTicket(world.db, world.approver, ticket.id, { ...click, seenForMs });
    expect(await refusedOnce(() => seenFor(399))).toBe("too_fast");
    expect(codeOf(await seenFor(400))).toBe("ok");
  });

  test("of one person is one vote, also where more are needed", async () => {
    const { ticket } = await parked(world);
    await admin`update tickets set quorum_needed = 2 where id = ${ticket.id}`;
    expect(await allow(world, ticket)).toMatchObject({ ok: true, value: { value: { open: { votes: 1, needed: 2 } } } });
    expect(await refusedOnce(() => deny(world, ticket))).toBe("already_voted");
    expect(await allow(world, ticket, world.approver2)).toMatchObject({ ok: true, value: { value: { open: null } } });
  });

  test("on a ticket that was answered in time is never kept as a late one", async () => {
    const { ticket } = await parked(world, { deadlineInMs: 60_000 });
    await allow(world, ticket);
    await admin.begin(async (sql) => {
      await sql`set local session_replication_role = replica`;
      await sql`update tickets set deadline_ms = 1 where id = ${ticket.id}`;
    });
    const second = await deny(world, ticket);
    expect(second).toMatchObject({ ok: false, refusal: { code: "not_awaiting" } });
    expect(second.ok ? null : second.refusal.facts).not.toHaveProperty("late_verdict");
  });
});

describe("a step", () => {
  test("with a deadline that has passed is refused, and nothing of it is there", async () => {
    const runId = await openTestRun(world);
    const step = { step: 1, mode: "parallel", coupling: "independent", state: null, messages: [] } as const;
    const calls = [aCall(), aCall({ deadlineMs: 1 })];
    const refused = await proposeStep(world.db, world.agent, runId, { ...step, calls });
    expect(refused).toMatchObject({ refusal: { code: "deadline_in_past", path: "calls[1].deadline_ms" } });
    const [row] = await admin<{ n: number }[]>`
      select count(*)::int as n from calls where run = (select id from runs where run_id = ${runId})`;
    expect(row?.n).toBe(0);
  });

  test("that was in time is answered from the record when its agent sends it again after the deadline", async () => {
    const runId = await openTestRun(world);
    const deadlineMs = Date.now() + 400;
    const first = await park(world, runId, [aCall({ deadlineMs })]);
    const question = {
      callId: "q",
      question: "?",
      schema: null,
      options: null,
      deadlineMs,
      deadlineInMs: null,
      onExpiry: "hold",
      state: null,
      messages: [],
    } as const;
    const asking = await openTestRun(world);
    expect(codeOf(await askPerson(world.db, world.agent, asking, question))).toBe("ok");
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, deadlineMs - Date.now()) + 20));
    const again = await park(world, runId, [aCall({ deadlineMs })]);
    expect(again).toMatchObject({ fromRecord: true, calls: [{ ticket: { id: first.calls[0]?.ticket?.id } }] });
    const asked = await askPerson(world.db, world.agent, asking, question);
    expect(asked).toMatchObject({ ok: true, value: { value: { fromRecord: true } } });
  });
});

describe("a call", () => {
  test("that two share a call_id is ambiguous, with the refs to choose from; one that nobody has is unknown", async () => {
    const runId = await openTestRun(world);
    const { calls } = await park(world, runId, [aCall({ callId: "twin" }), aCall({ callId: "twin" })]);
    const [first] = calls;
    if (!first?.ticket) throw new Error("no ticket");
    await allow(world, first.ticket);
    const said = about(first.call, first.ticket.correlationId);
    const ambiguous = await beginCall(world.db, world.agent, runId, "twin", said);
    expect(ambiguous).toMatchObject({
      refusal: { code: "ambiguous_call", facts: { call_refs: ["s1.0", "s1.1"] } },
    });
    for (const name of ["nobody", "s9.9", "s1.0 "]) {
      expect(await refusedOnce(() => beginCall(world.db, world.agent, runId, name, said))).toBe("unknown_call");
    }
    expect(codeOf(await beginCall(world.db, world.agent, runId, "s1.0", said))).toBe("ok");
  });

  test("of a worker's run is begun by nobody else, and by a worker only under its claim", async () => {
    const runId = await openTestRun(world, world.agent, "worker");
    const [answer] = (await park(world, runId, [aCall()])).calls;
    if (!answer?.ticket) throw new Error("no ticket");
    await allow(world, answer.ticket);
    const said = about(answer.call, answer.ticket.correlationId);
    expect(await refusedOnce(() => beginCall(world.db, world.agent, runId, "s1.0", said))).toBe("wrong_executor");
    const claim = { job: "01a00000-0000-7000-8000-000000000000", token: "01a00000-0000-7000-8000-000000000001" };
    const stale = () => beginClaimed(world.db, world.system, runId, "s1.0", said, claim);
    expect(await refusedOnce(stale)).toBe("stale_claim");
    const client = await allowed(world);
    const foreign = about(client.call, client.ticket.correlationId);
    const elsewhere = () => beginClaimed(world.db, world.system, client.runId, "s1.0", foreign, claim);
    expect(await refusedOnce(elsewhere)).toBe("wrong_executor");
  });

  test("is not begun while its allow can be undone", async () => {
    const what = await parked(world);
    await admin`update tickets set undo_ms = 60000 where id = ${what.ticket.id}`;
    await allow(world, what.ticket);
    expect(await refusedOnce(() => begin(world, what))).toBe("in_undo_window");
  });

  test("keeps its first result; another, or an error, is a conflict and is kept beside it", async () => {
    const what = await allowed(world);
    await begin(world, what);
    expect(codeOf(await report(world, what, 1, { sent: true }))).toBe("ok");
    expect(codeOf(await report(world, what, 1, { sent: true }))).toBe("ok");
    expect(await refusedOnce(() => report(world, what, 1, { sent: false }))).toBe("result_conflict");
    const failed = { attempt: 1, output: null, error: canonicalJson("no"), recovered: false };
    const error = () => completeCall(world.db, world.agent, what.runId, "s1.0", failed);
    expect(await refusedOnce(error)).toBe("result_conflict");
    expect((await standing(world, what.runId)).call).toMatchObject({ result: '{"sent":true}', outcome: "succeeded" });
    const kept = await admin`select from contents where kind = 'report' and bytes = ${Buffer.from('{"sent":false}')}`;
    expect(kept.count).toBe(1);
  });

  test("is held no longer by an attempt once its run was ended: renew says so, and the report is accepted", async () => {
    const what = await allowed(world);
    await begin(world, what);
    const renew = (attempt: number) => renewCall(world.db, world.agent, what.runId, "s1.0", attempt, 60_000);
    expect(codeOf(await renew(1))).toBe("ok");
    expect(await refusedOnce(() => renew(2))).toBe("stale_attempt");
    await cancel(world.db, world.operator, what.runId, "stop");
    expect(await refusedOnce(() => renew(1))).toBe("run_ended");
    expect(codeOf(await report(world, what, 1))).toBe("ok");
  });
});

test("no argument, target, answer, result, error, reason or note stands in a trace: only its hash, size and place", async () => {
  const secret = (word: string) => `canary-${word}-7f3a`;
  const what = await parked(world, {
    args: { token: secret("args"), nested: [{ key: secret("nested") }] },
    output: `account:${secret("target")}`,
    why: secret("why"),
    prompt: secret("prompt"),
    callId: secret("call"),
    schema: { title: secret("schema") },
    declaredClass: "idempotency_key",
  });
  await deny(world, { id: what.ticket.id }, world.operator, secret("refused-reason"));
  await replace(world.db, world.operator, what.ticket.id, secret("replace"), null);
  const { ticket } = await standing(world, what.runId);
  if (!ticket) throw new Error("no successor");
  const click = await verdict(world, ticket, "allow");
  const noted = { ...click, result: { kind: "permission", decision: "allow", note: secret("note") } as const };
  await decideTicket(world.db, world.approver, ticket.id, noted);
  const now = { ...what, ticket };
  await begin(world, now, { args: canonicalJson({ token: secret("sent") }) });
  await begin(world, now, { requestId: what.ticket.correlationId });
  await begin(world, now);
  await settle(world.db, world.operator, what.runId, "s1.0", {
    verdict: "happened",
    output: null,
    evidence: secret("evidence"),
  });
  const failed = { attempt: 1, output: null, error: canonicalJson({ at: secret("error") }), recovered: false };
  await completeCall(world.db, world.agent, what.runId, "s1.0", failed);
  await report(world, now, 1, { at: secret("result") });
  await cancel(world.db, world.operator, what.runId, secret("cancel"));

  const types = await traceTypes(world, what.runId);
  expect(types).toContain("action_failed");
  const [found] = await admin<{ n: number }[]>`
    select count(*)::int as n from trace_events where event_text like '%canary-%'
      and run = (select id from runs where run_id = ${what.runId})`;
  expect(found?.n).toBe(0);
  const [inLedger] = await admin<{ n: number }[]>`
    select count(*)::int as n from refusals where refusals::text like '%canary-%'`;
  expect(inLedger?.n).toBe(0);
  const [events] = await admin<{ n: number }[]>`
    select count(*)::int as n from trace_events where event_text like '%"bytes":%'
      and run = (select id from runs where run_id = ${what.runId})`;
  expect(events?.n).toBeGreaterThanOrEqual(6);
});
