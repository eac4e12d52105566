import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { type JsonValue, readJson } from "./canonical-json";
import { parseBody } from "./wire";
import { snapshotBody } from "./wire/agents";
import { askBody, beginBody, completeBody, proposeBody, settleBody, waitBody } from "./wire/calls";
import { openRunBody } from "./wire/runs";
import { decisionBody, resumeBody } from "./wire/tickets";

const hash = "a".repeat(64);
const begin = { request_id: "r", action: "a", args: {}, output: null };
const decision = { decision_id: "d", decision: "allow", proposal_hash: hash, view_digest: hash };
const call = { action: "send", args: { to: "ops" } };
const resume = { correlation_id: "c", run_id: "r", thread_id: "t" };
const uploaded = { format: "json", version: "1", sha256: hash };

/** `ok`, or the refusal's code and path. */
function outcome(schema: z.ZodType, body: JsonValue): string {
  const parsed = parseBody(schema, body);
  return parsed.ok ? "ok" : `${parsed.refusal.code} ${parsed.refusal.path}`.trim();
}

const ACCEPTED: readonly (readonly [string, z.ZodType, JsonValue])[] = [
  ["a run without ids", openRunBody, { agent: "writer" }],
  [
    "a run with all",
    openRunBody,
    { run_id: "A-z0.9_:~", agent: "a", executor: "worker", parent: { run_id: "p", call: "s1.0" } },
  ],
  ["a step", proposeBody, { step: 1, calls: [call] }],
  [
    "arguments of any type",
    proposeBody,
    { step: 1, calls: [null, 1n, "x", [], { __proto__: 1 }].map((args) => ({ action: "a", args })) },
  ],
  ["two hundred calls", proposeBody, { step: 1, calls: Array(200).fill(call) }],
  ["an agent's word of 256 emoji", askBody, { call_id: "😀".repeat(256), question: "?" }],
  ["an event", waitBody, { call_id: "c", event: "paid" }],
  ["a begin", beginBody, { ...begin, worker: "w", lease_ms: 1_000 }],
  ["a result of null", completeBody, { attempt: 1, output: null }],
  ["an error", completeBody, { attempt: 1, error: "no" }],
  ["a settlement", settleBody, { verdict: "did_not_happen", evidence: "no file" }],
  ["a decision", decisionBody, decision],
  ["a resume", resumeBody, { ...resume, result: { kind: "continue" } }],
  ["a snapshot", snapshotBody, { tools: [{ name: "t", input_schema: { type: "object" } }] }],
];

const REFUSED: readonly (readonly [string, z.ZodType, JsonValue, string])[] = [
  ["no object", openRunBody, null, "invalid_body"],
  ["no agent", openRunBody, {}, "invalid_body agent"],
  ["an unknown field", openRunBody, { agent: "a", tenant: "x" }, "unknown_field tenant"],
  [
    "an unknown field inside",
    openRunBody,
    { agent: "a", parent: { run_id: "p", call: "c", x: 1 } },
    "unknown_field parent.x",
  ],
  ["a run id of other characters", openRunBody, { agent: "a", run_id: "a/b" }, "invalid_body run_id"],
  ["a run id too long", openRunBody, { agent: "a", run_id: "a".repeat(129) }, "invalid_body run_id"],
  ["an executor of nobody's", openRunBody, { agent: "a", executor: "cli" }, "invalid_body executor"],
  ["a name that no column can hold", openRunBody, { agent: "a\0" }, "invalid_body agent"],
  ["a first message that no column can hold", openRunBody, { agent: "a", input: "\0" }, "invalid_body input"],
  ["step 0", proposeBody, { step: 0, calls: [call] }, "invalid_body step"],
  ["a fractional step", proposeBody, { step: 1.5, calls: [call] }, "invalid_body step"],
  ["no call", proposeBody, { step: 1, calls: [] }, "invalid_body calls"],
  ["201 calls", proposeBody, { step: 1, calls: Array(201).fill(call) }, "too_large calls"],
  ["a call without arguments", proposeBody, { step: 1, calls: [call, { action: "a" }] }, "invalid_body calls[1].args"],
  [
    "a field that a call does not have",
    proposeBody,
    { step: 1, calls: [{ ...call, approved: true }] },
    "unknown_field calls[0].approved",
  ],
  [
    "a class that does not exist",
    proposeBody,
    { step: 1, calls: [{ ...call, idempotency: "safe" }] },
    "invalid_body calls[0].idempotency",
  ],
  [
    "two deadlines",
    askBody,
    { call_id: "c", question: "?", deadline_ms: 1, deadline_in_ms: 1 },
    "invalid_body deadline_in_ms",
  ],
  [
    "two states",
    proposeBody,
    { step: 1, calls: [call], state: { ...uploaded, ref: "r" }, state_upload: uploaded },
    "invalid_body state_upload",
  ],
  ["an agent's word of 257 characters", askBody, { call_id: "😀".repeat(257), question: "?" }, "invalid_body call_id"],
  ["a lease too short", beginBody, { ...begin, lease_ms: 999 }, "invalid_body lease_ms"],
  ["a lease too long", beginBody, { ...begin, lease_ms: 3_600_001 }, "invalid_body lease_ms"],
  ["a begin without a target", beginBody, { request_id: "r", action: "a", args: {} }, "invalid_body output"],
  ["a report of nothing", completeBody, { attempt: 1 }, "invalid_body"],
  ["a report of both", completeBody, { attempt: 1, output: 1, error: 1 }, "invalid_body"],
  ["an odd settlement", settleBody, { verdict: "maybe", evidence: "e" }, "invalid_verdict verdict"],
  [
    "no verdict",
    decisionBody,
    { decision_id: "d", proposal_hash: hash, view_digest: hash },
    "invalid_verdict decision",
  ],
  ["another case", decisionBody, { ...decision, decision: "ALLOW" }, "invalid_verdict decision"],
  ["true for allow", decisionBody, { ...decision, decision: true }, "invalid_verdict decision"],
  ["a hash in capitals", decisionBody, { ...decision, proposal_hash: "A".repeat(64) }, "invalid_body proposal_hash"],
  [
    "a decision without its view",
    decisionBody,
    { decision_id: "d", decision: "allow", proposal_hash: hash },
    "invalid_body view_digest",
  ],
  ["a resume without an answer", resumeBody, resume, "invalid_verdict result"],
];

describe("a request body", () => {
  test.each(ACCEPTED)("with %s is accepted", (_what, schema, body) => {
    expect(outcome(schema, body)).toBe("ok");
  });

  test.each(REFUSED)("with %s is refused at its path", (_what, schema, body, expected) => {
    expect(outcome(schema, body)).toBe(expected);
  });

  test("keeps arguments as they were read: large integers, __proto__, and the very same value", () => {
    const read = readJson('{"step":1,"calls":[{"action":"a","args":{"id":2512292042121000001,"__proto__":{"x":1}}}]}');
    if (!read.ok) throw new Error(read.refusal.detail);
    const parsed = parseBody(proposeBody, read.value);
    if (!parsed.ok) throw new Error(parsed.refusal.path);
    const args = parsed.value.calls[0]?.args as Readonly<Record<string, JsonValue>>;
    expect(args.id).toBe(2512292042121000001n);
    expect(Object.hasOwn(args, "__proto__")).toBe(true);
  });

  test("does not take __proto__ for one of its own fields", () => {
    const read = readJson('{"agent":"a","__proto__":{"executor":"worker"}}');
    if (!read.ok) throw new Error(read.refusal.detail);
    expect(outcome(openRunBody, read.value)).toBe("unknown_field __proto__");
  });

  test("counts depth and keys from each call's own arguments", () => {
    const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);
    const step = (args: JsonValue) => ({ step: 1, calls: [call, { action: "a", args }] });
    expect(outcome(proposeBody, step(nested(64)))).toBe("ok");
    expect(outcome(proposeBody, step({ x: nested(64) }))).toBe(`too_deep calls[1].args.x${"[0]".repeat(63)}`);
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, 0]));
    expect(outcome(proposeBody, step(many))).toBe("too_many_keys calls[1].args");
  });
});
