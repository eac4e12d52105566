import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  about,
  allow,
  begin,
  codeOf,
  newWorld,
  type Parked,
  parked,
  report,
  standing,
  traceTypes,
  verdict,
  type World,
} from "@/db/testing/world";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import { decodeResumeResult } from "@/lib/protocol/resume-command";
import { decideTicket } from "./decide";
import { beginCall } from "./execute";
import { cancelCall } from "./operate";
import type { CallRequest } from "./propose";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

const MODES = ["replay_tool_call", "use_decision_as_tool_result", "pass_decision_to_tool"] as const;

async function allowWith({ ticket }: Parked, payload: JsonValue) {
  const attempt = await verdict(world, ticket, "allow");
  return decideTicket(world.db, world.approver, ticket.id, {
    ...attempt,
    result: { kind: "permission", decision: "allow", payload },
  });
}

const suspended = (over: Partial<CallRequest> = {}) => parked(world, over);

describe("a suspended call goes on by its mode", () => {
  test("D2-22: replay runs the tool with its original arguments, and takes no payload", async () => {
    const what = await suspended();
    expect(codeOf(await allowWith(what, { amount: 1 }))).toBe("result_kind_mismatch");
    expect(codeOf(await allow(world, what.ticket))).toBe("ok");
    expect(await begin(world, what)).toMatchObject({ ok: true, value: { value: { granted: true } } });
    expect(codeOf(await report(world, what, 1))).toBe("ok");
  });

  test("D2-23: where the decision is the result the payload stands as it, and the tool does not run", async () => {
    const what = await suspended({ resumeMode: "use_decision_as_tool_result" });
    expect(codeOf(await allow(world, what.ticket)), "an allow without the result").toBe("result_kind_mismatch");
    expect(codeOf(await allowWith(what, { paid: "by hand" }))).toBe("ok");
    const { call, state } = await standing(world, what.runId);
    expect([call.outcome, call.outcomeCause, call.result, call.attempt, state]).toEqual([
      "succeeded",
      "payload",
      '{"paid":"by hand"}',
      0,
      "running",
    ]);
    expect(await begin(world, what)).toMatchObject({ ok: true, value: { value: { granted: false } } });
  });

  test("D2-24: where the decision is passed on the tool runs with the payload as its arguments, and with no other", async () => {
    const what = await suspended({ resumeMode: "pass_decision_to_tool" });
    const args = { amount: 12, recipient: "DH5939281092" };
    expect(codeOf(await allowWith(what, args))).toBe("ok");
    expect(codeOf(await begin(world, what)), "as it was proposed").toBe("call_cancelled");
    const { call, ticket } = await standing(world, what.runId, "s1.0e1");
    expect(call).toMatchObject({ status: "approved", args: '{"amount":12,"recipient":"DH5939281092"}' });
    const sent = about(call, ticket?.correlationId ?? "");
    const swapped = { ...sent, args: what.call.args };
    expect(codeOf(await beginCall(world.db, world.agent, what.runId, "s1.0e1", swapped))).toBe(
      "proposal_hash_mismatch",
    );
    expect(codeOf(await beginCall(world.db, world.agent, what.runId, "s1.0e1", sent))).toBe("ok");
    expect(await traceTypes(world, what.runId)).toContain("ticket_superseded");
  });

  test("an edit names the act by its one name, and the same click again edits nothing further", async () => {
    const what = await suspended({ resumeMode: "pass_decision_to_tool", callId: "toolu_7" });
    const attempt = await verdict(world, what.ticket, "allow");
    const edit = { ...attempt, result: { kind: "permission", decision: "allow", payload: { amount: 3 } } } as const;
    const click = () => decideTicket(world.db, world.approver, what.ticket.id, edit);
    const [first, again] = [await click(), await click()];
    const { ticket, call } = await standing(world, what.runId, "s1.0e1");
    expect([first, again].map((it) => it.ok && it.value.value.callRef)).toEqual(["s1.0e1", "s1.0e1"]);
    expect(again).toMatchObject({ value: { value: { supersededBy: ticket?.id } } });
    const sent = about(call, ticket?.correlationId ?? "");
    expect(codeOf(await beginCall(world.db, world.agent, what.runId, "toolu_7", sent))).toBe("ok");
  });

  test("two who edit at once make one edit; the other is told what stands in its place", async () => {
    const what = await suspended({ resumeMode: "pass_decision_to_tool" });
    const attempts = await Promise.all(
      [1, 2].map(async (amount) => ({
        ...(await verdict(world, what.ticket, "allow")),
        result: { kind: "permission", decision: "allow", payload: { amount } } as const,
      })),
    );
    const people = [world.approver, world.approver2];
    const outcomes = await Promise.all(
      attempts.map((attempt, index) =>
        decideTicket(world.db, people[index] ?? world.approver, what.ticket.id, attempt),
      ),
    );
    expect(outcomes.map(codeOf).sort()).toEqual(["not_awaiting", "ok"]);
    const { ticket } = await standing(world, what.runId, "s1.0e1");
    const lost = outcomes.find((outcome) => !outcome.ok);
    expect(lost).toMatchObject({
      refusal: { facts: { closed_by: { kind: "replaced", successor_ticket_id: ticket?.id } } },
    });
  });

  test.each(MODES)("D2-25: cancel closes the call under %s", async (resumeMode) => {
    const what = await suspended({ resumeMode });
    expect(codeOf(await cancelCall(world.db, world.owner, what.ticket.id, "not needed"))).toBe("ok");
    const { call, state } = await standing(world, what.runId);
    expect([call.outcome, call.outcomeCause, state]).toEqual(["cancelled", "ticket_cancelled", "running"]);
  });

  test.each(MODES)("a deny needs no payload under %s, and nothing runs", async (resumeMode) => {
    const what = await suspended({ resumeMode });
    const attempt = await verdict(world, what.ticket, "deny");
    expect(codeOf(await decideTicket(world.db, world.approver, what.ticket.id, attempt))).toBe("ok");
    expect((await standing(world, what.runId)).call).toMatchObject({ outcome: "blocked", attempt: 0 });
  });
});

describe("a call that a rule asks about", () => {
  test("D2-26: is suspended, and its run waits", async () => {
    const what = await suspended();
    const { call, state, ticket } = await standing(world, what.runId);
    expect([call.status, state, ticket?.status]).toEqual(["awaiting", "awaiting", "open"]);
  });

  test("D2-27: has one effect however often one decision is sent", async () => {
    const what = await suspended();
    const attempt = await verdict(world, what.ticket, "allow");
    const send = () => decideTicket(world.db, world.approver, what.ticket.id, attempt);
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    for (const answer of answers) expect(answer).toMatchObject({ ok: true, value: { value: { verdict: "allow" } } });
    const said = answers.map((answer) => answer.ok && answer.value.value);
    for (const answer of said) expect(answer).toEqual(said[0]);
    const begun = await Promise.all(Array.from({ length: 5 }, () => begin(world, what)));
    expect(begun.map(codeOf).sort()).toEqual(["in_progress", "in_progress", "in_progress", "in_progress", "ok"]);
  });

  test("D2-28: is not reached by an id that nobody has, and stays as it is", async () => {
    const what = await suspended();
    const before = await standing(world, what.runId);
    const attempt = await verdict(world, what.ticket, "allow");
    const nowhere = await decideTicket(world.db, world.approver, randomUUID(), attempt);
    expect(codeOf(nowhere)).toBe("ticket_not_found");
    expect(await standing(world, what.runId)).toEqual(before);
  });

  test.each([true, "true", 1, null, "Allow", " allow", {}, undefined])(
    "D2-29: is not allowed by the value %j for its verdict",
    (decision) => {
      const said = { kind: "permission", ...(decision === undefined ? {} : { decision }) };
      expect(decodeResumeResult(said as JsonValue)).toMatchObject({ ok: false, refusal: { code: "invalid_verdict" } });
    },
  );
});
