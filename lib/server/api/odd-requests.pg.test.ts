import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalJson, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { anyJson, anyText } from "@/lib/protocol/fixtures/random-json";
import { isRefusalCode } from "@/lib/protocol/refusals";
import { ApiWorld, CALLERS, type CallerName } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

const hash = "a".repeat(64);
const NOBODY = "00000000-0000-4000-8000-000000000000";
const money = { action: "send_money", args: { amount: 5 }, output: "account:1" };

/** A good body for each door that takes one, to be spoilt. */
const GOOD: readonly (readonly [string, JsonObject])[] = [
  [
    "/agents/a/snapshots",
    {
      tools: [{ name: "t", description: "d", input_schema: {}, annotations: {} }],
      provider: "p",
      model: "m",
      build: "b",
      mcp_servers: [],
    },
  ],
  ["/runs", { agent: "a", executor: "client", input: "i", parent: { run_id: "p", call: "s1.0" }, on_behalf_of: "x" }],
  [
    "/runs/{run}/calls",
    {
      step: 2,
      mode: "sequential",
      coupling: "all_or_nothing",
      messages: [{ id: "m", role: "user", text: "t" }],
      calls: [
        {
          ...money,
          schema: { type: "object" },
          options: [1],
          deadline_in_ms: 5,
          rebind: "same_args",
          resume_mode: "use_decision_as_tool_result",
        },
      ],
    },
  ],
  ["/runs/{run}/ask", { call_id: "q", question: "?", schema: {}, options: ["a"], deadline_ms: 1 }],
  ["/runs/{run}/waits", { call_id: "w", event: "e", schema: {} }],
  [
    "/runs/{run}/calls/{call}/begin",
    { ...money, request_id: "r", worker: "w", lease_ms: 1_000, snapshot_id: "s", catalog_fingerprint: "f" },
  ],
  ["/runs/{run}/calls/{call}/renew", { attempt: 1, lease_ms: 1_000 }],
  ["/runs/{run}/calls/{call}/complete", { attempt: 1, output: { a: [1] } }],
  ["/runs/{run}/calls/{call}/withdraw", { reason: "r" }],
  ["/runs/{run}/calls/{call}/settle", { verdict: "happened", output: {}, evidence: "e" }],
  ["/runs/{run}/pause", { reason: "r" }],
  [
    "/runs/{run}/resume",
    {
      correlation_id: "c",
      run_id: "r",
      thread_id: "t",
      result: { kind: "permission", decision: "allow" },
      decision_id: "d",
      proposal_hash: hash,
      view_digest: hash,
    },
  ],
  ["/runs/{run}/resume-failed", { error: "e" }],
  ["/runs/{run}/finish", { status: "failed", output: {} }],
  [
    "/tickets/{ticket}/decision",
    { decision_id: "d", decision: "allow", note: "n", payload: {}, proposal_hash: hash, view_digest: hash },
  ],
  ["/tickets/{ticket}/replace", { reason: "r", deadline_in_ms: 5 }],
  ["/tickets/{ticket}/cancel", { reason: "r" }],
  [
    "/mailboxes/{mailbox}/jobs",
    {
      agent: "writer",
      messages: [{ id: "m", role: "user", text: "t" }],
      origin: "A2A",
      sender_id: "s",
      parent_run_id: "p",
      request_extras: { a: [1] },
      priority: 1,
      dedupe_key: "d",
      available_at_ms: 1,
      max_attempts: 2,
    },
  ],
  ["/mailboxes/{mailbox}/claim", { worker: "w", lease_ms: 1_000, most: 1 }],
  ["/mailboxes/{mailbox}/interrupt", { reason: "r" }],
  ["/jobs/claim", { worker: "w", lease_ms: 1_000, most: 1 }],
  ["/jobs/{job}/ack", { claim_token: NOBODY }],
  ["/jobs/{job}/nack", { claim_token: NOBODY, error: "e", permanent: false }],
  ["/jobs/{job}/defer", { claim_token: NOBODY, until_ms: 1 }],
  ["/jobs/{job}/extend", { claim_token: NOBODY, lease_ms: 1_000 }],
  ["/jobs/{job}/cancel", { reason: "r" }],
  ["/jobs/{job}/requeue", { reason: "r" }],
];

/** One place of the body, anywhere in it, replaced, removed or joined by something that does not belong there. */
const spoilt = fc.record({
  place: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "leave"),
  junk: anyJson,
  name: anyText,
});

function spoil(
  value: JsonValue,
  { place, how, junk, name }: { place: number; how: string; junk: JsonValue; name: string },
): JsonValue {
  if (typeof value !== "object" || value === null) return how === "leave" ? value : junk;
  if (Array.isArray(value))
    return value.map((item, at) =>
      at === place % value.length ? spoil(item, { place: place >> 1, how, junk, name }) : item,
    );
  const entries = Object.entries(value);
  const at = entries.length === 0 ? 0 : place % entries.length;
  if (how === "add") return Object.fromEntries([...entries, [name, junk]]);
  if (how === "remove") return Object.fromEntries(entries.filter((_entry, index) => index !== at));
  return Object.fromEntries(
    entries.map(([key, item], index) => [
      key,
      index === at && how === "replace"
        ? place % 3 === 0
          ? junk
          : spoil(item, { place: place >> 1, how, junk, name })
        : item,
    ]),
  );
}

test("no request, however odd, gets anything but an answer or a refusal that the table explains", async () => {
  const { runId, ticketId } = await api.parked();
  const seen = new Map<string, number>();
  const calls = fc.constantFrom("s1.0", "s9.9", "toolu_1", "%00", "%E2%80%AE", "s1.0e1");
  const runs = fc.oneof(
    { arbitrary: fc.constant(runId), weight: 5 },
    { arbitrary: fc.constantFrom("none", "%00", "a%2Fb", "%F0%9F%98%80"), weight: 1 },
  );
  const tickets = fc.oneof(
    { arbitrary: fc.constant(ticketId), weight: 5 },
    { arbitrary: fc.constantFrom("x", hash, "%00"), weight: 1 },
  );
  const { job_id } = (await api.post("workerKey", "/api/v1/mailboxes/m/jobs", {})).json;
  const jobs = fc.constantFrom(String(job_id), NOBODY, "x", "%00", `${job_id}x`);
  const mailboxes = fc.constantFrom("m", "%E2%80%AE", "%00", "a%2Fb", "m".repeat(3_000));
  const places = fc.record({ run: runs, ticket: tickets, call: calls, job: jobs, mailbox: mailboxes });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...GOOD),
      fc.constantFrom<CallerName>(...CALLERS),
      places,
      spoilt,
      async ([path, body], caller, place, spoiling) => {
        const at = `/api/v1${path.replace(/\{(\w+)\}/g, (_all, name: keyof typeof place) => place[name])}`;
        const { status, json } = await api.send(caller, "POST", at, { body: canonicalJson(spoil(body, spoiling)) });
        expect(api.faults).toEqual([]);
        const code = status < 300 ? "ok" : String(json.code);
        seen.set(code, (seen.get(code) ?? 0) + 1);
        expect(code === "ok" || isRefusalCode(code), `${status} ${code}`).toBe(true);
      },
    ),
    { numRuns: 2_000 },
  );
  // The test would prove nothing if every request failed at the same place.
  for (const code of ["ok", "invalid_body", "unknown_field", "invalid_verdict", "not_permitted", "unknown_run"])
    expect(seen.get(code), code).toBeGreaterThan(5);
}, 120_000);
