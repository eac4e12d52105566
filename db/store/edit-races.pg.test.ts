import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atOnce } from "@/db/testing/at-once";
import { allow, begin, codeOf, newWorld, type Parked, parked, standing, verdict, type World } from "@/db/testing/world";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { decideTicket } from "./decide";
import { cancel, cancelCall, replace } from "./operate";
import type { CallRequest } from "./propose";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

const editable = (over: Partial<CallRequest> = {}) => parked(world, { resumeMode: "pass_decision_to_tool", ...over });

async function editing({ ticket }: Pick<Parked, "ticket">, amount: JsonValue, caller: Caller = world.approver) {
  const attempt = await verdict(world, ticket, "allow");
  const result = { kind: "permission", decision: "allow", payload: { amount } } as const;
  return () => decideTicket(world.db, caller, ticket.id, { ...attempt, result });
}

describe("an edit that meets another verb on its run", () => {
  const others = {
    "a cancelled ticket": (what: Parked) => cancelCall(world.db, world.owner, what.ticket.id, "no"),
    "a replaced ticket": (what: Parked) => replace(world.db, world.owner, what.ticket.id, "no", null),
    "a cancelled run": (what: Parked) => cancel(world.db, world.owner, what.runId, "no"),
  };

  test.each([
    ["a cancelled ticket", "not_awaiting", "not_awaiting"],
    ["a replaced ticket", "not_awaiting", "not_awaiting"],
    ["a cancelled run", "ok", "run_ended"],
  ] as const)(
    "%s: whoever comes second is told what stands, and nothing runs that was not allowed",
    async (name, second, late) => {
      const one = await editable();
      const edit = await editing(one, 3);
      const [edited, other] = await atOnce(world, one.runId, [edit, () => others[name](one)]);
      expect([codeOf(edited), codeOf(other)]).toEqual(["ok", second]);
      const two = await editable();
      const tardy = await editing(two, 3);
      const [first, refused] = await atOnce(world, two.runId, [() => others[name](two), tardy]);
      expect([codeOf(first), codeOf(refused)]).toEqual(["ok", late]);
      expect(codeOf(await begin(world, two))).not.toBe("ok");
      expect((await standing(world, two.runId)).call.attempt).toBe(0);
    },
  );

  test("a deadline that passes while it waits for the run: it is late, whatever it would have changed", async () => {
    const what = await editable({ deadlineInMs: 400 });
    const edit = await editing(what, 3);
    const [late] = await atOnce(world, what.runId, [edit], 600);
    expect(codeOf(late)).toBe("expired");
    expect((await standing(world, what.runId)).call.status).toBe("awaiting");
  });

  test("a replace of what it allowed voids it: nothing is begun until somebody decides anew", async () => {
    const what = await editable();
    expect(codeOf(await (await editing(what, 3))())).toBe("ok");
    const edited = await standing(world, what.runId, "s1.0e1");
    if (!edited.ticket) throw new Error("no ticket");
    expect(codeOf(await replace(world.db, world.owner, edited.ticket.id, "again", null))).toBe("ok");
    const again = { runId: what.runId, call: edited.call, ticket: edited.ticket };
    expect(codeOf(await begin(world, again))).toBe("approval_required");
  });

  test("is not begun once its allow is no longer valid", async () => {
    const what = await editable({ allowValidMs: 1 });
    expect(codeOf(await (await editing(what, 3))())).toBe("ok");
    await sleep(5);
    const edited = await standing(world, what.runId, "s1.0e1");
    if (!edited.ticket) throw new Error("no ticket");
    const again = { runId: what.runId, call: edited.call, ticket: edited.ticket };
    expect(codeOf(await begin(world, again))).toBe("approval_lapsed");
  });
});

test("23: where two must look, whoever edited the act is none of them", async () => {
  const what = await editable();
  const admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  await admin`update tickets set quorum_needed = 2 where id = ${what.ticket.id}`;
  await admin.end();
  expect(await (await editing(what, 3))()).toMatchObject({ value: { value: { open: { votes: 0, needed: 2 } } } });
  const { ticket } = await standing(world, what.runId, "s1.0e1");
  if (!ticket) throw new Error("no ticket");
  const look = async (caller: Caller) => (await editing({ ticket }, 3, caller))();
  expect(await look(world.approver)).toMatchObject({ value: { value: { open: { votes: 0, needed: 2 } } } });
  expect(await look(world.approver2)).toMatchObject({ value: { value: { open: { votes: 1, needed: 2 } } } });
  expect((await standing(world, what.runId, "s1.0e1")).call.status).toBe("awaiting");
  expect(await look(world.owner)).toMatchObject({ value: { value: { open: null } } });
  expect((await standing(world, what.runId, "s1.0e1")).call.status).toBe("approved");
  expect(codeOf(await allow(world, ticket))).not.toBe("ok");
});
