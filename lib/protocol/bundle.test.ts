import { describe, expect, test } from "vitest";
import { verifyBundle } from "./bundle";
import { hashJson, type JsonObject } from "./canonical-json";
import { sha256Hex } from "./hash";
import { genesisHash, type TraceType, traceEventText } from "./trace-event";

const ids = { workspace_id: "workspace-1", run_id: "run-1" };
const proposal = { action: "send_money", args: { id: 2512292042121000001n }, output: "account:1" };
const proposal_hash = hashJson(proposal);

function traceOf(events: readonly (readonly [TraceType, JsonObject])[]) {
  let prev_hash = genesisHash(ids.workspace_id, ids.run_id);
  return events.map(([type, payload], index) => {
    const at = "2026-01-02T03:04:05.000000Z";
    const actor = { kind: "agent", id: "p", name: "desk" } as const;
    const text = traceEventText({ v: 1, kind: "trace", ...ids, seq: index + 1, type, at, actor, payload, prev_hash });
    prev_hash = sha256Hex(text);
    return { text, hash: prev_hash };
  });
}

const trace = traceOf([
  ["checkpoint_saved", {}],
  ["proposal_recorded", { call_ref: "s1.0", proposal_hash }],
]);
const row = { call_ref: "s1.0", ...proposal, proposal_hash, approval_hash: proposal_hash };
const bundle = { v: 1, kind: "bundle", ...ids, trace, proposals: [row] };

function outcome(changed: JsonObject): string {
  const checked = verifyBundle({ ...bundle, ...changed });
  return checked.ok ? "ok" : `${checked.refusal.code} ${checked.refusal.at}`.trim();
}

describe("a bundle", () => {
  test("that nobody touched is whole, and says how much was checked", () => {
    expect(verifyBundle(bundle)).toEqual({ ok: true, value: { ...ids, events: 2, proposals: 1 } });
    expect(outcome({ proposals: [{ ...row, approval_hash: null }] })).toBe("ok");
  });

  test.each<readonly [string, JsonObject, string]>([
    ["its arguments changed", { proposals: [{ ...row, args: { id: 2512292042121000000n } }] }, "proposal_altered s1.0"],
    [
      "its arguments and their hash changed together",
      { proposals: [{ ...row, args: {}, proposal_hash: hashJson({ ...proposal, args: {} }), approval_hash: null }] },
      "proposal_not_in_trace s1.0",
    ],
    [
      "a proposal that no event recorded",
      { proposals: [row, { ...row, call_ref: "s2.0" }] },
      "proposal_not_in_trace s2.0",
    ],
    [
      "an approval of something else",
      { proposals: [{ ...row, approval_hash: sha256Hex("other") }] },
      "approval_of_something_else s1.0",
    ],
    ["an event left out", { trace: trace.slice(1) }, "chain_broken 1"],
    ["the ids of another run", { run_id: "run-2" }, "chain_broken 1"],
    ["another kind", { kind: "receipt" }, "not_a_bundle"],
    ["another version", { v: 2 }, "not_a_bundle"],
    ["no ids", { run_id: null }, "not_a_bundle"],
    ["no trace", { trace: null }, "not_a_bundle"],
    ["rows that are no events", { trace: [1] }, "not_a_bundle"],
    ["proposals that are none", { proposals: [{ call_ref: "s1.0" }] }, "not_a_bundle"],
  ])("with %s is found out", (_what, changed, expected) => {
    expect(outcome(changed)).toBe(expected);
  });

  test("is an object", () => {
    expect(verifyBundle([])).toMatchObject({ ok: false });
  });
});
