import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retryingBusy } from "@/db/testing/at-once";
import {
  aCall,
  allow,
  allowed,
  begin,
  codeOf,
  newWorld,
  park,
  parked,
  standing,
  sweep,
  traceTypes,
  verdict,
  type World,
} from "@/db/testing/world";
import type { Caller } from "@/lib/protocol/principal";
import { decideTicket } from "./decide";
import { openRun } from "./open-run";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
});
beforeEach(async () => {
  await restore();
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

const ada = () => world.approver.person ?? "";

/** What may be taken from an approver between two clicks. */
const LOSSES = [
  ["the role is removed", () => admin`update members set role = 'operator' where person_id = ${ada()}`],
  [
    "the member is disabled",
    () => admin`update members set disabled_at = clock_timestamp() where person_id = ${ada()}`,
  ],
  ["the membership is deleted", () => admin`delete from members where person_id = ${ada()}`],
] as const;
const suspend = () => admin`update workspaces set suspended_at = clock_timestamp()`;

async function restore(): Promise<void> {
  await admin`update workspaces set suspended_at = null`;
  await admin`insert into members (workspace_id, person_id, role) values (${world.workspace}, ${ada()}, 'approver')
    on conflict (workspace_id, person_id) do update set role = 'approver', disabled_at = null`;
}

async function open(caller: Caller, over: Partial<Parameters<typeof openRun>[2]> = {}) {
  return openRun(world.db, caller, {
    runId: null,
    agent: `agent-of-${caller.display}`,
    snapshotId: null,
    threadId: null,
    input: null,
    executor: "client",
    onBehalfOf: null,
    parent: null,
    ...over,
  });
}

async function parkedIn(opened: Awaited<ReturnType<typeof open>>, caller: Caller) {
  if (!opened.ok) throw new Error(opened.refusal.code);
  const [answer] = (await park(world, opened.value.runId, [aCall()], {}, caller)).calls;
  if (!answer?.ticket) throw new Error("no ticket");
  return { runId: opened.value.runId, ticket: answer.ticket, call: answer.call };
}

describe("between the view and the click", () => {
  test.each([...LOSSES, ["the workspace is suspended", suspend] as const])(
    "%s: the verdict is refused, and kept as refused",
    async (_what, lose) => {
      const { runId, ticket } = await parked(world);
      const click = await verdict(world, ticket, "allow");
      await lose();
      expect(codeOf(await decideTicket(world.db, world.approver, ticket.id, click))).toBe("not_permitted");
      expect(await standing(world, runId)).toMatchObject({ state: "awaiting", call: { status: "awaiting" } });
      expect((await traceTypes(world, runId)).filter((type) => type === "proposal_rejected")).toHaveLength(1);
      await restore();
      expect(codeOf(await decideTicket(world.db, world.approver, ticket.id, click))).toBe("ok");
    },
  );

  test("200 races of a click and a lost role: no verdict is accepted behind the loss", {
    timeout: 120_000,
  }, async () => {
    let before = 0;
    for (let round = 0; round < 200; round += 1) {
      await restore();
      const { runId, ticket } = await parked(world);
      const click = await verdict(world, ticket, "allow");
      const [lost, decided] = await Promise.all([
        LOSSES[round % 2]?.[1]().then(async () => (await admin`select clock_timestamp()::text as at`)[0]?.at as string),
        decideTicket(world.db, world.approver, ticket.id, click),
      ]);
      if (!decided.ok) {
        expect(decided.refusal.code).toBe("not_permitted");
        continue;
      }
      before += 1;
      // A verdict that got in was judged before the loss was committed; either way nothing begins on it any more.
      expect(Date.parse(decided.value.value.at)).toBeLessThanOrEqual(Date.parse(lost ?? ""));
      const { call } = await standing(world, runId);
      expect(codeOf(await begin(world, { runId, ticket, call }))).toBe("approver_revoked");
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(200);
  });
});

describe("between Allow and begin", () => {
  test.each(LOSSES)("%s: the allow no longer counts; with the right given back it does", async (_what, lose) => {
    const what = await allowed(world);
    await lose();
    expect(codeOf(await begin(world, what))).toBe("approver_revoked");
    expect((await standing(world, what.runId)).call).toMatchObject({ status: "approved", attempt: 0 });
    await restore();
    expect(await begin(world, what)).toMatchObject({ ok: true, value: { value: { attempt: 1 } } });
  });

  test("the workspace is suspended: nothing begins, and what the clock brings about still comes about, once", async () => {
    const what = await allowed(world);
    const due = await parked(world, { deadlineInMs: 1, onExpiry: "deny" });
    await suspend();
    expect(codeOf(await begin(world, what))).toBe("not_permitted");
    for (let round = 0; round < 3; round += 1) await sweep(world);
    const types = await traceTypes(world, due.runId);
    expect(types.filter((type) => type === "ticket_expired")).toHaveLength(1);
    expect(types.filter((type) => type.endsWith("_rejected"))).toEqual([]);
    await restore();
    expect(codeOf(await begin(world, what))).toBe("ok");
  });
});

describe("nobody consents to their own act", () => {
  test("an owner who opened the run may not allow it, by session or by personal key; another person may", async () => {
    const mine = await parkedIn(await open(world.owner), world.owner);
    for (const surface of ["console", "api"] as const) {
      expect(codeOf(await allow(world, mine.ticket, { ...world.owner, surface }))).toBe("self_approval");
    }
    expect(codeOf(await allow(world, mine.ticket, world.approver))).toBe("ok");
  });

  test("whom the parent acts for may not allow what its child does, though the child names nobody", async () => {
    const parent = await parkedIn(await open(world.agent, { onBehalfOf: ada() }), world.agent);
    const under = { parent: { runId: parent.runId, call: "s1.0" } };
    const child = await parkedIn(await open(world.agent, under), world.agent);
    expect(codeOf(await allow(world, child.ticket, world.approver))).toBe("self_approval");
    const grandchild = await parkedIn(
      await open(world.agent, { parent: { runId: child.runId, call: "s1.0" } }),
      world.agent,
    );
    expect(codeOf(await allow(world, grandchild.ticket, world.approver))).toBe("self_approval");
    const other = await open(world.agent, { ...under, onBehalfOf: world.approver2.person });
    expect(other).toMatchObject({ ok: false, refusal: { code: "invalid_body", path: "on_behalf_of" } });
    expect(codeOf(await allow(world, grandchild.ticket, world.approver2))).toBe("ok");
  });

  test("the owner of the agent's key may not, where the workspace forbids it", async () => {
    await admin`update principals set owner_person_id = ${ada()} where id = ${world.agent.principal}`;
    await admin`update workspaces set settings = '{"forbid_key_owner":true}'`;
    const { ticket } = await parked(world);
    expect(codeOf(await allow(world, ticket, world.approver))).toBe("self_approval");
    await admin`update workspaces set settings = '{}'`;
    expect(codeOf(await allow(world, ticket, world.approver))).toBe("ok");
    await admin`update principals set owner_person_id = null where id = ${world.agent.principal}`;
  });
});

describe("a click's id", () => {
  test("names one verdict: on another ticket it is refused, and nothing happens there", async () => {
    const [one, two] = [await parked(world), await parked(world)];
    const first = await verdict(world, one.ticket, "allow");
    expect(codeOf(await decideTicket(world.db, world.approver, one.ticket.id, first))).toBe("ok");
    const second = { ...(await verdict(world, two.ticket, "allow")), decisionId: first.decisionId };
    expect(codeOf(await decideTicket(world.db, world.approver, two.ticket.id, second))).toBe("decision_id_reused");
    expect((await standing(world, two.runId)).call.status).toBe("awaiting");
    // Another person's click may have the same id: ids are each person's own.
    expect(codeOf(await decideTicket(world.db, world.approver2, two.ticket.id, second))).toBe("ok");
  });

  test("sent at once to tickets of eight runs: one verdict, seven refusals, no fault", async () => {
    for (let round = 0; round < 10; round += 1) {
      const all = await Promise.all(Array.from({ length: 8 }, () => parked(world)));
      const decisionId = randomUUID();
      const clicks = await Promise.all(
        all.map(async ({ ticket }) => ({ ...(await verdict(world, ticket, "allow")), decisionId })),
      );
      const codes = await Promise.all(
        all.map(async ({ ticket }, index) => {
          const click = clicks[index];
          if (!click) return "no click";
          return codeOf(await retryingBusy(() => decideTicket(world.db, world.approver, ticket.id, click)));
        }),
      );
      expect(codes.toSorted()).toEqual([...Array(7).fill("decision_id_reused"), "ok"]);
    }
  });

  test("one person by session and by key, at once, is one vote", async () => {
    const { runId, ticket } = await parked(world);
    const clicks = [await verdict(world, ticket, "allow"), await verdict(world, ticket, "allow")];
    const codes = await Promise.all(
      clicks.map(async (click, index) =>
        codeOf(
          await decideTicket(
            world.db,
            { ...world.approver, surface: index === 0 ? "console" : "api", credential: null },
            ticket.id,
            click,
          ),
        ),
      ),
    );
    expect(codes.toSorted()).toEqual(["not_awaiting", "ok"]);
    const [votes] = await admin<{ n: number }[]>`select count(*)::int as n from votes where ticket_id = ${ticket.id}`;
    expect(votes?.n).toBe(1);
    expect((await traceTypes(world, runId)).filter((type) => type === "approval_recorded")).toHaveLength(1);
  });
});
