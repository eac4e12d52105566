import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTicketBook } from "@/db/queries/ticket-view";
import {
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
  standing,
  traceTypes,
  verdict,
  type World,
} from "@/db/testing/world";
import { isOfferedToPeople, parseAwaitTarget } from "@/lib/protocol/await-target";
import { resumeTicket } from "@/lib/protocol/book/waits";
import type { CallRef } from "@/lib/protocol/call";
import { ResumeCommand, type ResumeResult } from "@/lib/protocol/resume-command";
import { askPerson } from "./ask";
import { answerWait, decideTicket } from "./decide";
import { beginCall } from "./execute";
import { openRun } from "./open-run";
import { cancel, finishRun, replace, withdrawCall } from "./operate";
import { proposeStep } from "./propose";

/** D1, the behaviours 1–21 that [S0] asks of a ticket and of resuming, on the real database. */
let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 2, onnotice: () => undefined });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

/** A ticket's row, byte for byte. */
async function rowOf(ticket: string): Promise<string> {
  const [row] = await admin<
    { row: string }[]
  >`select tickets::text || xmin::text as row from tickets where id = ${ticket}`;
  return row?.row ?? "";
}

async function commandFor(ticketId: string, result: ResumeResult): Promise<ResumeCommand> {
  const read = await readTicketBook(world.db, world.workspace, ticketId);
  if (!read) throw new Error("no such ticket");
  return ResumeCommand.fromTicket(resumeTicket(read.book, read.ticket), result, 0);
}

async function waitingForClient(over: Parameters<typeof aCall>[0] = {}) {
  const runId = await openTestRun(world);
  const [answer] = (await park(world, runId, [aCall({ target: "client_execution", ...over })])).calls;
  if (!answer?.ticket) throw new Error("the call does not wait");
  return { runId, ticket: answer.ticket, call: answer.call };
}

test("D1.1: the wait and its one ticket are committed together", async () => {
  const what = await parked(world);
  const [row] = await admin<{ state: string; open: number }[]>`
    select state, (select count(*)::int from tickets t where t.run = r.id and t.status = 'open') as open
    from runs r where run_id = ${what.runId}`;
  expect(row).toEqual({ state: "awaiting", open: 1 });
});

test("D1.2 and D1.3: no target of another shape can be built, or stored", async () => {
  expect(parseAwaitTarget({ kind: "tool_call", reason: "permission" }).ok).toBe(false);
  expect(parseAwaitTarget({ kind: "remote_input", reason: "user_input", callId: "s1.0", tool: {} }).ok).toBe(false);
  expect(parseAwaitTarget({ kind: "pause", reason: "manual", callId: "s1.0" }).ok).toBe(false);
  const { ticket } = await parked(world);
  for (const broken of ["tool_id = null", "call_ref = null", "target_reason = 'manual'", "target_kind = 'pause'"]) {
    await expect(admin.unsafe(`update tickets set ${broken} where id = '${ticket.id}'`)).rejects.toThrow();
  }
});

test("D1.4: a command takes every identity from the committed ticket", async () => {
  const { ticket, runId } = await parked(world);
  const command = await commandFor(ticket.id, { kind: "permission", decision: "allow" });
  expect(command).toMatchObject({
    run_id: runId,
    correlation_id: ticket.correlationId,
    snapshot_id: ticket.snapshotId,
  });
});

test.each([
  ["correlation_id", "correlation_mismatch"],
  ["run_id", "run_mismatch"],
  ["thread_id", "thread_mismatch"],
  ["snapshot_id", "snapshot_mismatch"],
  ["catalog_fingerprint", "fingerprint_mismatch"],
] as const)("D1.5: another %s is refused as %s and changes nothing", async (field, code) => {
  const { ticket, runId } = await parked(world);
  const command = { ...(await commandFor(ticket.id, { kind: "permission", decision: "allow" })), [field]: "other" };
  const before = await rowOf(ticket.id);
  const attempt = { ...(await verdict(world, ticket, "allow")), command };
  expect(codeOf(await decideTicket(world.db, world.approver, ticket.id, attempt))).toBe(code);
  expect(await rowOf(ticket.id)).toBe(before);
  expect((await standing(world, runId)).call.status).toBe("awaiting");
});

test("D1.6: of several mismatches the first in the order is told", async () => {
  const { ticket } = await parked(world);
  const sent = await commandFor(ticket.id, { kind: "continue" });
  const command = { ...sent, thread_id: "x", snapshot_id: "x", catalog_fingerprint: "x" };
  const attempt = { ...(await verdict(world, ticket, "allow")), result: command.result, command };
  expect(codeOf(await decideTicket(world.db, world.approver, ticket.id, attempt))).toBe("thread_mismatch");
});

test("D1.7 and D1.11: past the deadline it is expired; clock, ticket and messages stay, and replace is offered", async () => {
  const { ticket, runId } = await parked(world, { deadlineInMs: 60_000 });
  await admin`update tickets set deadline_ms = 1 where id = ${ticket.id}`;
  const before = await rowOf(ticket.id);
  expect(codeOf(await allow(world, ticket))).toBe("expired");
  expect(await rowOf(ticket.id)).toBe(before);
  expect(await admin`select from messages where thread_id = ${runId}`).toHaveLength(0);
  expect(codeOf(await replace(world.db, world.operator, ticket.id, "again", 60_000))).toBe("ok");
});

test.each([
  { kind: "input", input: "yes" },
  { kind: "tool_result", call_id: "s1.0", output: "done" },
  { kind: "continue" },
] satisfies ResumeResult[])(
  "D1.8: a permission answered with $kind is of the wrong kind, and nothing runs",
  async (result) => {
    const { ticket, runId } = await parked(world);
    const attempt = { ...(await verdict(world, ticket, "allow")), result };
    expect(codeOf(await decideTicket(world.db, world.approver, ticket.id, attempt))).toBe("result_kind_mismatch");
    expect((await standing(world, runId)).call).toMatchObject({ status: "awaiting", attempt: 0 });
  },
);

test("D1.9: a tool's result that names another call is refused; its own completes the call", async () => {
  const { ticket, runId } = await waitingForClient({ callId: "toolu_1" });
  const wrong = await commandFor(ticket.id, { kind: "tool_result", call_id: "s9.9", output: 1 });
  expect(codeOf(await answerWait(world.db, world.agent, ticket.id, wrong))).toBe("tool_call_mismatch");
  const right = await commandFor(ticket.id, { kind: "tool_result", call_id: "toolu_1", output: { rows: 3 } });
  expect(codeOf(await answerWait(world.db, world.agent, ticket.id, right))).toBe("ok");
  expect((await standing(world, runId)).call).toMatchObject({ outcome: "succeeded", result: '{"rows":3}' });
});

test("D1.10: the same answer again is not awaited any more, and nothing runs twice", async () => {
  const { ticket } = await waitingForClient();
  const command = await commandFor(ticket.id, { kind: "tool_result", call_id: "s1.0", output: 1 });
  expect(codeOf(await answerWait(world.db, world.agent, ticket.id, command))).toBe("ok");
  expect(codeOf(await answerWait(world.db, world.agent, ticket.id, command))).toBe("not_awaiting");
});

test("D1.12: a ticket as it is stored holds no key and no live handle", async () => {
  const { ticket } = await parked(world);
  const [row] = await admin<{ all: string }[]>`select to_json(t)::text as all from tickets t where id = ${ticket.id}`;
  expect(row?.all).not.toMatch(/hp_|password|secret|token|socket/i);
});

test("D1.13: a delegated run keeps its origin through a wait, a restart and its answer", async () => {
  const parent = await parked(world);
  const opened = await openRun(world.db, world.agent, {
    runId: null,
    agent: "agent-of-desk",
    snapshotId: null,
    threadId: null,
    input: null,
    executor: "client",
    onBehalfOf: null,
    parent: { runId: parent.runId, call: "s1.0" },
  });
  if (!opened.ok) throw new Error(opened.refusal.code);
  const { runId } = opened.value;
  const ticket = (await park(world, runId, [aCall()])).calls[0]?.ticket;
  if (!ticket) throw new Error("no ticket");
  const origin = { parent_run_id: parent.runId, parent_call_ref: "s1.0", root_run_id: parent.runId, depth: 1 };
  expect(ticket.delegation).toEqual(origin);
  await allow(world, ticket);
  expect((await standing(world, runId)).ticket?.delegation).toEqual(origin);
  await expect(admin`update runs set origin = null where run_id = ${runId}`).rejects.toThrow(/identity/);
});

test("D1.14: after a restart the same run goes on, and there is no other", async () => {
  const what = await parked(world);
  const { connect } = await import("@/db/client");
  const restarted = await connect(world.appUrl, { role: "holdpoint_worker", max: 2 });
  await allow({ ...world, db: restarted }, what.ticket);
  expect(codeOf(await begin({ ...world, db: restarted }, what))).toBe("ok");
  await restarted.close();
  expect(await admin`select from runs where thread_id = ${what.runId}`).toHaveLength(1);
});

test("D1.15: executing is committed when begin answers, before the tool is entered", async () => {
  const what = await allowed(world);
  await begin(world, what);
  const [row] = await admin<{ status: string; attempt: number }[]>`
    select status, attempt from calls where run = (select id from runs where run_id = ${what.runId})`;
  expect(row).toEqual({ status: "executing", attempt: 1 });
});

test("D1.16: when that commit fails, begin fails and nothing was granted", async () => {
  const what = await allowed(world);
  await admin.unsafe(`create function fail_begin() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$;
    create trigger fail_begin before insert on trace_events for each row when (new.type = 'resume_started') execute function fail_begin()`);
  try {
    await expect(begin(world, what)).rejects.toThrow("disk full");
    expect((await standing(world, what.runId)).call).toMatchObject({ status: "approved", attempt: 0 });
  } finally {
    await admin.unsafe("drop function fail_begin cascade");
  }
  expect(codeOf(await begin(world, what))).toBe("ok");
});

test("D1.17: after a deny the tool never runs, the model is told why, and the same run goes on", async () => {
  const what = await parked(world);
  await deny(world, what.ticket, world.approver, "not today");
  expect(codeOf(await begin(world, what))).toBe("approval_rejected");
  expect((await standing(world, what.runId)).state).toBe("running");
});

test("D1.18: a scheduled action is never offered to people", () => {
  expect(isOfferedToPeople({ reason: "scheduled_action" })).toBe(false);
  expect(isOfferedToPeople({ reason: "permission" })).toBe(true);
});

test("D1.19: while a batch waits, no other wait can be opened beside it", async () => {
  const { runId } = await parked(world);
  const question = {
    callId: "q1",
    question: "Which one?",
    schema: null,
    options: null,
    deadlineMs: null,
    deadlineInMs: null,
    onExpiry: "hold",
    state: null,
    messages: [],
  } as const;
  expect(codeOf(await askPerson(world.db, world.agent, runId, question))).toBe("batch_open");
  const step = {
    step: 2,
    mode: "parallel",
    coupling: "independent",
    state: null,
    messages: [],
    calls: [aCall()],
  } as const;
  expect(codeOf(await proposeStep(world.db, world.agent, runId, step))).toBe("batch_open");
});

test("D1.20: arguments that differ from those recorded are refused when the call is resumed", async () => {
  const what = await allowed(world);
  const sent = { requestId: what.ticket.correlationId, action: what.call.action, output: what.call.target };
  const rest = { worker: null, key: null, leaseMs: 1_000, snapshotId: null, catalogFingerprint: null };
  const args = '{"amount":1569}' as typeof what.call.args;
  expect(codeOf(await beginCall(world.db, world.agent, what.runId, "s1.0", { ...sent, ...rest, args }))).toBe(
    "proposal_hash_mismatch",
  );
});

test("D1.21: an ended run takes no transition any more, and says how it ended", async () => {
  const what = await parked(world);
  await cancel(world.db, world.operator, what.runId, "stop");
  const attempts = await Promise.all([
    allow(world, what.ticket),
    begin(world, what),
    withdrawCall(world.db, world.agent, what.runId, "s1.0", "late"),
    replace(world.db, world.operator, what.ticket.id, "late", null),
    finishRun(world.db, world.agent, what.runId, "completed", undefined),
    cancel(world.db, world.operator, what.runId, "again"),
  ]);
  expect(attempts.map(codeOf)).toEqual(Array(6).fill("run_ended"));
  expect((await standing(world, what.runId, "s1.0" as CallRef)).run.cause).toBe("cancelled");
  expect((await traceTypes(world, what.runId)).filter((type) => type === "run_ended")).toHaveLength(1);
});
