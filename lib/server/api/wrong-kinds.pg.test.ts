import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { figure } from "@/db/testing/figure";
import { canonicalJson, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { RefusalRate } from "./refusal-rate";
import { serve } from "./serve";
import { ApiWorld, type CallerName, doorAt } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

/** As it would be sent, byte for byte, and never slowed down. */
async function sendBytes(caller: CallerName, path: string, body: string | Uint8Array): Promise<number> {
  const url = `http://holdpoint.test${path}`;
  const headers = { authorization: `Bearer ${api.keys[caller]}`, "idempotency-key": randomUUID() };
  const sent = typeof body === "string" ? body : Buffer.from(body);
  const request = new Request(url, { method: "POST", headers, body: sent });
  const answer = await serve(doorAt("POST", path), request, { ...api.services, refusalRate: new RefusalRate() });
  await answer.text();
  return answer.status;
}

/** Each of them, eight at a time. Gives how many were answered with which status. */
async function statusesOf(
  bodies: readonly (string | Uint8Array)[],
  send: (body: string | Uint8Array) => Promise<number>,
) {
  const seen = new Map<number, number>();
  const left = [...bodies];
  const one = async () => {
    for (let body = left.pop(); body !== undefined; body = left.pop()) {
      const status = await send(body);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return seen;
}

/** The rows as they stand, with the transaction that wrote them last. */
async function rowsOf(ticketId: string): Promise<unknown> {
  const { db, workspace } = api.world;
  return inWorkspace(
    db,
    workspace,
    (tx) => tx.sql`
      select t.xmin::text as t_xmin, t.*, c.xmin::text as c_xmin, c.status as call_status, c.args, c.proposal_hash
      from tickets t join calls c on c.workspace_id = t.workspace_id and c.run = t.run
      where t.workspace_id = ${workspace} and t.id = ${ticketId}`,
  );
}

const JUNK: readonly JsonValue[] = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    1e3,
    1e21,
    2n ** 64n,
    "",
    " ",
    "allow ",
    " allow",
    "ALLOW",
    "Allow",
    "ａｌｌｏｗ",
    "allow\u0000",
  ],
  ...[
    "deny\n",
    "yes",
    "true",
    "1",
    "approve",
    "approved",
    "answer",
    "continue",
    "permission",
    "tool_result",
    "input",
    "null",
  ],
  ...[
    "constructor",
    "__proto__",
    "toString",
    "\u202eallow",
    "allow\ufeff",
    "a".repeat(64),
    "A".repeat(64),
    "0x1",
    [],
    ["allow"],
  ],
  ...[
    [["allow"]],
    {},
    { decision: "allow" },
    { kind: "permission", decision: "allow" },
    { allow: true },
    { toString: "allow" },
  ],
];

/** A good body with one field after the other replaced; those that would still be good are left out. */
function spoilt(good: JsonObject, fields: readonly string[], junk: readonly JsonValue[] = JUNK): string[] {
  return fields.flatMap((name) =>
    junk.filter((value) => value !== good[name]).map((value) => canonicalJson({ ...good, [name]: value })),
  );
}

const notText = JUNK.filter((value) => typeof value !== "string");
const HASH = /^[0-9a-f]{64}$/;

test("T38: what is no verdict, a verdict of another kind, or one with more to it changes no row of the ticket", async () => {
  const { runId, ticketId, requestId } = await api.parked();
  const { decision_id: _unused, ...verdict } = await api.verdict(ticketId);
  const good = (): JsonObject => ({ decision_id: randomUUID(), ...verdict });
  const hashes = JUNK.filter(
    (value) => typeof value !== "string" || !HASH.test(value) || value !== verdict.proposal_hash,
  );
  const decisions = [
    ...spoilt(good(), ["decision"]),
    ...spoilt(good(), ["proposal_hash", "view_digest"], hashes),
    ...spoilt(good(), ["decision_id", "note", "reason"], notText),
    ...spoilt(good(), ["payload", "answer", "extra", "approved", "result", "tool", "args", "DECISION"]),
    ...JUNK.map((value) => canonicalJson(value)),
  ];
  const result = { kind: "permission", decision: "allow" };
  const { decision: _verb, ...named } = good();
  const command: JsonObject = { ...named, correlation_id: requestId, run_id: runId, thread_id: runId };
  const results: JsonValue[] = [
    ...JUNK.filter((value) => canonicalJson(value) !== canonicalJson({ ...result })),
    ...JUNK.filter((value) => value !== "permission").map((kind): JsonValue => ({ ...result, kind })),
    ...JUNK.map((decision): JsonValue => ({ ...result, decision })),
    ...JUNK.map((payload): JsonValue => ({ ...result, payload })),
    ...JUNK.map((extra): JsonValue => ({ ...result, extra })),
    { kind: "input", input: "allow" },
    { kind: "continue" },
    { kind: "tool_result", call_id: "s1.0", output: { decision: "allow" } },
  ];
  const resumes = [
    ...results.map((value) => canonicalJson({ ...command, result: value })),
    ...spoilt({ ...command, result }, ["correlation_id", "run_id", "thread_id", "snapshot_id", "catalog_fingerprint"]),
  ];
  const before = await rowsOf(ticketId);
  const seen = await statusesOf(decisions, (body) =>
    sendBytes("approver", `/api/v1/tickets/${ticketId}/decision`, body),
  );
  const resumed = await statusesOf(resumes, (body) => sendBytes("approver", `/api/v1/runs/${runId}/resume`, body));
  expect(decisions.length + resumes.length).toBeGreaterThan(900);
  for (const status of [...seen.keys(), ...resumed.keys()]) expect([404, 409, 422]).toContain(status);
  expect(await rowsOf(ticketId)).toEqual(before);
  expect(api.faults).toEqual([]);
  expect((await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, good())).status).toBe(200);
  figure("answers that are none", `${decisions.length + resumes.length} sent: every one refused, no row changed`);
});

/** Where `HERE` stands, JSON that has no one meaning, or none. */
const NOT_ONE_MEANING: readonly string[] = [
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"__proto__":1,"__proto__":2}',
  '{"":1,"":2}',
  '{"é":1,"\\u00e9":2}',
  "1e400",
  "-1e400",
  "NaN",
  "Infinity",
  "-Infinity",
  "01",
  "+1",
  "1.",
  ".5",
  "0x10",
  "1_000",
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\x41"',
  '"\\u00g0"',
  '"a\tb"',
  "'a'",
  "undefined",
  "[1,]",
  '{"a":1,}',
  "{a:1}",
  "// no\n1",
  "/* no */ 1",
  `${"[".repeat(65)}${"]".repeat(65)}`,
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  `{${Array.from({ length: 10_001 }, (_, at) => `"k${at}":0`).join(",")}}`,
];

/** Whole bodies, made from a good one. */
const spoil = (good: string): readonly (string | Uint8Array)[] => [
  `\ufeff${good}`,
  `${good} x`,
  `${good}${good}`,
  `${good}\u0000`,
  good.slice(0, -1),
  "",
  " ",
  Buffer.from(good.replace("HERE", '"\u00e9"'), "latin1"),
  Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.from([0xff]), Buffer.from("}")]),
  Buffer.from(good, "utf16le"),
];

const DOORS: readonly (readonly [CallerName, string, string])[] = [
  ["agent", "/api/v1/runs/RUN/calls", '{"step":1,"calls":[{"action":"a","args":HERE}]}'],
  ["workerKey", "/api/v1/mailboxes/exact/jobs", '{"request_extras":HERE}'],
];

test.each(DOORS)(
  "T87: %s at %s: what has no one meaning is refused, and nothing is stored",
  async (caller, path, good) => {
    const runId = await api.openRun();
    const at = path.replace("RUN", runId);
    const bodies = [...NOT_ONE_MEANING.map((text) => good.replace("HERE", () => text)), ...spoil(good)];
    expect(bodies.length).toBeGreaterThan(40);
    const seen = await statusesOf(bodies, (body) => sendBytes(caller, at, body));
    expect([...seen.keys()]).toEqual([422]);
    expect((await api.get("agent", `/api/v1/runs/${runId}`)).json.batches).toEqual([]);
    expect((await api.get("operatorKey", "/api/v1/jobs?mailbox_id=exact")).json.items).toEqual([]);
    expect(Object.hasOwn(Object.prototype, "a")).toBe(false);
    expect(await sendBytes(caller, at, good.replace("HERE", '{"__proto__":{"a":1},"n":9007199254740993,"z":-0}'))).toBe(
      201,
    );
  },
);

test("T87: what was accepted into the queue comes out of it exactly", async () => {
  const extras = '{"__proto__":{"a":1},"n":9007199254740993,"s":"\\u0000é","z":0}';
  const sent = await api.send("workerKey", "POST", "/api/v1/mailboxes/whole/jobs", {
    body: `{"request_extras":${extras}}`,
  });
  expect(sent.text).toContain(`"request_extras":${extras}`);
  const claimed = await api.post("workerKey", "/api/v1/mailboxes/whole/claim", { worker: "w" });
  expect(claimed.text).toContain(`"request_extras":${extras}`);
});
