import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRun } from "@/db/store/open-run";
import { publishSnapshot } from "@/db/store/snapshots";
import { figure } from "@/db/testing/figure";
import { aCall, allow, begin, codeOf, newWorld, type Parked, park, standing, type World } from "@/db/testing/world";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";

let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  // As the database's owner, with the triggers switched off: whoever does this is behind every guard but the last.
  admin = postgres(world.adminUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: { session_replication_role: "replica" },
  });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

const ARGS = {
  recipient: "DH5939281092",
  amount: 156.9,
  count: 3n,
  urgent: false,
  memo: null,
  lines: ["rent", { item: "lamp", price: 48.2 }],
  nested: { deep: { deeper: "value" } },
};

/** Each leaf of the arguments, changed; each key, dropped; and one key more. */
function changedArgs(): JsonValue[] {
  const leaves: JsonValue[] = [
    { ...ARGS, recipient: "AT6854532054" },
    { ...ARGS, recipient: "DH593928109\u200b2" },
    { ...ARGS, amount: 1569 },
    { ...ARGS, count: 4n },
    { ...ARGS, urgent: true },
    { ...ARGS, memo: "" },
    { ...ARGS, lines: ["rent!", { item: "lamp", price: 48.2 }] },
    { ...ARGS, lines: ["rent", { item: "lamp", price: 48.3 }] },
    { ...ARGS, lines: [{ item: "lamp", price: 48.2 }, "rent"] },
    { ...ARGS, nested: { deep: { deeper: "Value" } } },
    { ...ARGS, extra: true },
  ];
  const dropped = Object.keys(ARGS).map((key) =>
    Object.fromEntries(Object.entries(ARGS).filter(([name]) => name !== key)),
  );
  return [...leaves, ...dropped];
}

interface Swap {
  readonly name: string;
  readonly code: string;
  readonly change: (what: Parked) => Promise<unknown>;
  /** What the executor sends; as it was approved unless said otherwise. */
  readonly sent?: (what: Parked) => Parameters<typeof begin>[2];
}

const hashOf = (action: string, args: string, target: string) =>
  sha256Hex(`{"action":${canonicalJson(action)},"args":${args},"output":${target}}`);

function swaps(): Swap[] {
  const ofCall = ({ runId }: Parked) => admin`run = (select id from runs where run_id = ${runId})`;
  const all: Swap[] = [];
  for (const [index, args] of changedArgs().entries()) {
    const text = canonicalJson(args);
    const quiet = (what: Parked) => admin`update calls set args = ${text} where ${ofCall(what)}`;
    const covered = (what: Parked) =>
      admin`update calls set args = ${text}, proposal_hash = ${hashOf(what.call.action, text, what.call.target)} where ${ofCall(what)}`;
    const everywhere = (what: Parked) => {
      const hash = hashOf(what.call.action, text, what.call.target);
      return admin`update calls set args = ${text}, proposal_hash = ${hash}, approval_hash = ${hash} where ${ofCall(what)}`;
    };
    all.push({
      name: `args ${index} with both hashes of the call, executor sends them`,
      code: "proposal_hash_mismatch",
      change: everywhere,
      sent: () => ({ args: text }),
    });
    all.push({ name: `args ${index} in the database`, code: "proposal_hash_mismatch", change: quiet });
    all.push({ name: `args ${index} with its hash`, code: "proposal_hash_mismatch", change: covered });
    all.push({
      name: `args ${index} with its hash, executor sends them`,
      code: "proposal_hash_mismatch",
      change: covered,
      sent: () => ({ args: text }),
    });
    all.push({
      name: `args ${index} sent by the executor`,
      code: "proposal_hash_mismatch",
      change: async () => undefined,
      sent: () => ({ args: text }),
    });
  }
  for (const action of ["send_money_now", "Send_money", "send_money "]) {
    const covered = (what: Parked) =>
      admin`update calls set action = ${action}, proposal_hash = ${hashOf(action, what.call.args, what.call.target)} where ${ofCall(what)}`;
    all.push({ name: `action ${action} in the database`, code: "proposal_hash_mismatch", change: covered });
    all.push({
      name: `action ${action} sent`,
      code: "proposal_hash_mismatch",
      change: async () => undefined,
      sent: () => ({ action }),
    });
  }
  for (const target of ['"account:AT6854532054"', '"account:DH593928I092"', "null", '["account:DH5939281092"]']) {
    all.push({
      name: `target ${target} in the database`,
      code: "output_mismatch",
      change: (what) => admin`update calls set target = ${target} where ${ofCall(what)}`,
    });
    all.push({
      name: `target ${target} sent`,
      code: "output_mismatch",
      change: async () => undefined,
      sent: () => ({ output: canonicalJson(JSON.parse(target)) }),
    });
    all.push({
      name: `target ${target} in the database and sent`,
      code: "proposal_hash_mismatch",
      change: (what) =>
        admin`update calls set target = ${target}, proposal_hash = ${hashOf(what.call.action, what.call.args, target)} where ${ofCall(what)}`,
      sent: () => ({ output: canonicalJson(JSON.parse(target)) }),
    });
  }
  const other = "01a00000-0000-7000-8000-000000000000";
  all.push({
    name: "ticket's request id",
    code: "approval_request_mismatch",
    change: ({ ticket }) =>
      admin`update tickets set correlation_id = ${`${other}-${ticket.id}`} where id = ${ticket.id}`,
  });
  all.push({
    name: "call's request id",
    code: "approval_request_mismatch",
    change: (what) => admin`update calls set approval_request_id = ${other} where ${ofCall(what)}`,
  });
  all.push({
    name: "request id sent",
    code: "approval_request_mismatch",
    change: async () => undefined,
    sent: () => ({ requestId: other }),
  });
  all.push({
    name: "approval hash",
    code: "proposal_hash_mismatch",
    change: (what) => admin`update calls set approval_hash = ${"0".repeat(64)} where ${ofCall(what)}`,
  });
  all.push({
    name: "the approver, exchanged for a rule",
    code: "approval_request_mismatch",
    change: (what) =>
      admin`update calls set authorised_by = 'rule', approval_request_id = ${`rule:${what.runId}:s1.0`} where ${ofCall(what)}`,
    sent: ({ runId }) => ({ requestId: `rule:${runId}:s1.0` }),
  });
  all.push({
    name: "a deny, turned into an allow on the call alone",
    code: "approval_request_mismatch",
    change: ({ ticket }) => admin`update decisions set verdict = 'deny' where ticket_id = ${ticket.id}`,
  });
  all.push({
    name: "no decision at all",
    code: "approval_request_mismatch",
    change: ({ ticket }) => admin`delete from decisions where ticket_id = ${ticket.id}`,
  });
  all.push({
    name: "snapshot sent",
    code: "snapshot_mismatch",
    change: async () => undefined,
    sent: () => ({ snapshotId: "snap_other" }),
  });
  all.push({
    name: "snapshot not said",
    code: "snapshot_mismatch",
    change: async () => undefined,
    sent: () => ({ snapshotId: null }),
  });
  all.push({
    name: "catalogue sent",
    code: "fingerprint_mismatch",
    change: async () => undefined,
    sent: () => ({ catalogFingerprint: "f".repeat(64) }),
  });
  all.push({
    name: "catalogue not said",
    code: "fingerprint_mismatch",
    change: async () => undefined,
    sent: () => ({ catalogFingerprint: null }),
  });
  all.push({
    name: "the run's snapshot in the database",
    code: "snapshot_mismatch",
    change: async ({ runId }) => {
      await publishSnapshot(world.db, world.agent, "bank", { ...SNAPSHOT, build: "other" });
      await admin`update runs set snapshot_id = (select snapshot_id from agent_snapshots where build = 'other') where run_id = ${runId}`;
    },
  });
  all.push({
    name: "the run's principal",
    code: "unknown_run",
    change: ({ runId }) => admin`update runs set principal_id = ${world.otherAgent.principal} where run_id = ${runId}`,
  });
  return all;
}

const SNAPSHOT = {
  provider: "acme",
  model: "m1",
  mcpServers: null,
  tools: [{ name: "send_money", description: "Send money" }],
  build: "b1",
};

async function approved(): Promise<Parked & { readonly now: NonNullable<Parameters<typeof begin>[2]> }> {
  const snapshot = await publishSnapshot(world.db, world.agent, "bank", SNAPSHOT);
  if (!snapshot.ok) throw new Error(snapshot.refusal.code);
  const { snapshotId, catalogFingerprint } = snapshot.value;
  const opened = await openRun(world.db, world.agent, {
    runId: null,
    agent: "bank",
    snapshotId,
    threadId: null,
    input: null,
    executor: "client",
    onBehalfOf: null,
    parent: null,
  });
  if (!opened.ok) throw new Error(opened.refusal.code);
  const { runId } = opened.value;
  const answer = (await park(world, runId, [aCall({ args: ARGS })])).calls[0];
  if (!answer?.ticket) throw new Error("no ticket");
  await allow(world, answer.ticket);
  return { runId, ticket: answer.ticket, call: answer.call, now: { snapshotId, catalogFingerprint } };
}

test("every field that is swapped after approval is refused with its reason, and nothing is granted", {
  timeout: 300_000,
}, async () => {
  const codes = new Map<string, number>();
  const wrong: string[] = [];
  let tried = 0;
  // Three rounds: before any attempt, and the same for the executor that comes back twice.
  for (const swap of [...swaps(), ...swaps(), ...swaps()]) {
    const what = await approved();
    await swap.change(what);
    const outcome = await begin(world, what, { ...what.now, ...swap.sent?.(what) });
    const code = codeOf(outcome);
    tried += 1;
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (code !== swap.code) wrong.push(`${swap.name}: ${code}`);
    const { call } = await standing(world, what.runId);
    if (call.attempt !== 0) wrong.push(`${swap.name}: an attempt was granted`);
  }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThanOrEqual(300);
  for (let round = 0; round < 5; round += 1) {
    const what = await approved();
    expect(codeOf(await begin(world, what, what.now))).toBe("ok");
  }
  const words = [...codes].map(([code, times]) => `${code} ${times}`).join(", ");
  figure(
    "what runs is what was approved",
    `${tried} swaps after approval: ${tried} refused (${words}), 0 granted; unswapped: 5 of 5 granted`,
  );
});
