import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBundle } from "@/lib/protocol/bundle";
import { isArray, isObject, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import { ApiWorld, type CallerName } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

const ARGS = { amount: 5, to: "DE89" };
const editable = (over: JsonObject = {}) =>
  api.parked({ call_id: "pay", args: ARGS, resume_mode: "pass_decision_to_tool", ...over });

/** An allow with other arguments, as text: what a number or a key looks like must reach the store as it was written. */
async function edit(ticketId: string, payload: string, caller: CallerName = "approver") {
  const { decision_id, proposal_hash, view_digest } = await api.verdict(ticketId);
  const head = JSON.stringify({ decision_id, decision: "allow", proposal_hash, view_digest });
  const body = `${head.slice(0, -1)},"payload":${payload}}`;
  return api.send(caller, "POST", `/api/v1/tickets/${ticketId}/decision`, { body });
}

const begin = (runId: string, call: string, request_id: string, args: JsonObject) =>
  api.post("agent", `/api/v1/runs/${runId}/calls/${call}/begin`, {
    request_id,
    action: "send_money",
    args,
    output: "account:1",
  });

async function stateOf(runId: string): Promise<string> {
  const { text } = await api.get("agent", `/api/v1/runs/${runId}`);
  return text;
}

describe("over HTTP an edit", () => {
  test("is begun with its own arguments alone, under its own request, and its bundle verifies", async () => {
    const { runId, ticketId, requestId } = await editable();
    expect((await edit(ticketId, '{"amount":3,"to":"DE89"}')).status).toBe(200);
    const old = await begin(runId, "s1.0", requestId, ARGS);
    expect([old.status, old.json.code, old.json.replaced_by]).toEqual([409, "call_cancelled", "s1.0e1"]);
    const { json } = await api.get("approver", `/api/v1/tickets?run_id=${runId}&status=answered`);
    const [ticket] = json.items as JsonObject[];
    const request = String(ticket?.request_id);
    expect((await begin(runId, "pay", request, ARGS)).json.code).toBe("proposal_hash_mismatch");
    expect((await begin(runId, "pay", requestId, { ...ARGS, amount: 3 })).json.code).toBe("approval_request_mismatch");
    expect(await begin(runId, "pay", request, { ...ARGS, amount: 3 })).toMatchObject({
      status: 200,
      json: { attempt: 1 },
    });

    const bundle = readJson((await api.get("operatorKey", `/api/v1/runs/${runId}/bundle`)).text, {
      maxDepth: 99,
      maxKeys: 1e6,
    });
    if (!bundle.ok || !isObject(bundle.value)) throw new Error("no bundle");
    expect(verifyBundle(bundle.value)).toMatchObject({ ok: true, value: { proposals: 2 } });
    const { proposals } = bundle.value;
    if (proposals === undefined || !isArray(proposals)) throw new Error("no proposals");
    const forged = proposals.map((row) => (isObject(row) && row.call_ref === "s1.0e1" ? { ...row, args: ARGS } : row));
    expect(verifyBundle({ ...bundle.value, proposals: forged })).toMatchObject({
      refusal: { code: "proposal_altered" },
    });
  });

  test("keeps every digit, and is none where only the spelling differs", async () => {
    const long = await editable({ args: { id: 1 } });
    await edit(long.ticketId, '{"id":2512292042121000001}');
    expect((await api.get("approver", `/api/v1/tickets?run_id=${long.runId}&status=answered`)).text).toContain(
      "2512292042121000001",
    );
    const same = await editable();
    await edit(same.ticketId, '{ "to" : "DE\\u0038\\u0039", "amount": 5.0 }');
    expect(await stateOf(same.runId)).not.toContain("s1.0e1");
  });

  test.each([
    ["a key twice", '{"amount":3,"\\u0061mount":4}', "duplicate_key"],
    ["a number that no double can hold", '{"amount":1e400}', "number_not_representable"],
    ["half a surrogate pair", '{"to":"\\ud800"}', "invalid_unicode"],
    ["65 levels", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, "too_deep"],
    ["10,001 keys", `{${Array.from({ length: 10_001 }, (_, n) => `"k${n}":0`).join(",")}}`, "too_many_keys"],
    ["more than a body holds", `{"to":"${"x".repeat(1_048_576)}"}`, "too_large"],
  ])("with %s is refused, and nothing has changed", async (_what, payload, code) => {
    const { runId, ticketId } = await editable();
    const before = await stateOf(runId);
    expect((await edit(ticketId, payload)).json.code).toBe(code);
    expect(await stateOf(runId)).toBe(before);
  });

  test.each(["agent", "anotherAgent", "operatorKey", "workerKey", "operator"] as const)(
    "by %s is refused, and nothing has changed",
    async (caller) => {
      const { runId, ticketId } = await editable();
      const before = await stateOf(runId);
      const { status } = await edit(ticketId, '{"amount":3}', caller);
      expect([403, 404]).toContain(status);
      expect(JSON.parse(await stateOf(runId)).calls).toEqual(JSON.parse(before).calls);
    },
  );

  test("is refused on a call that takes no payload, and cannot rename the tool or move its target", async () => {
    const plain = await api.parked({ args: ARGS });
    expect((await edit(plain.ticketId, '{"amount":3}')).json.code).toBe("result_kind_mismatch");
    const { ticketId } = await editable();
    const body = { ...(await api.verdict(ticketId)), payload: { amount: 3 } };
    for (const extra of ["action", "output", "tool", "args"]) {
      const said = { ...body, decision_id: randomUUID(), [extra]: "delete_all" };
      const sent = await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, said);
      expect([sent.status, sent.json.code]).toEqual([422, "unknown_field"]);
    }
  });
});
