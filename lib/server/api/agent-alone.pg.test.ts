import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { figure } from "@/db/testing/figure";
import { traceTypes } from "@/db/testing/world";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { DOORS } from "./doors";
import { ApiWorld, type SendOptions } from "./testing/api-world";

let api: ApiWorld;
let admin: postgres.Sql;
beforeAll(async () => {
  api = await ApiWorld.open();
  admin = postgres(api.world.adminUrl, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  expect(api.faults).toEqual([]);
  await admin.end();
  await api.close();
});

interface Own {
  readonly runId: string;
  readonly ticketId: string;
  readonly requestId: string;
  readonly verdict: JsonObject;
  readonly command: JsonObject;
}

/** A parked call of the agent's own, with all that an approver would know of it. */
async function ownTicket(over: JsonObject = {}): Promise<Own> {
  const { runId, ticketId, requestId } = await api.parked(over);
  const verdict = await api.verdict(ticketId);
  const { json } = await api.get("agent", `/api/v1/tickets/${ticketId}`);
  const command = {
    correlation_id: requestId,
    run_id: runId,
    thread_id: json.thread_id ?? "",
    snapshot_id: json.snapshot_id ?? "",
    catalog_fingerprint: json.catalog_fingerprint ?? "",
  };
  return { runId, ticketId, requestId, verdict, command };
}

const ALLOW = { kind: "permission", decision: "allow" };
const args = { action: "send_money", args: { amount: 5 }, output: "account:1" };

/** The queue by which a decided run goes on is no way round the decision. `{mailbox_id}` is the run's own thread. */
const MAILBOX_TRICKS: readonly (readonly [string, JsonObject])[] = [
  ["/api/v1/mailboxes/{mailbox_id}/jobs", { agent: "writer", dedupe_key: "resume:s1.0" }],
  ["/api/v1/mailboxes/{mailbox_id}/claim", { worker: "w" }],
  ["/api/v1/mailboxes/{mailbox_id}/interrupt", { reason: "r" }],
  ["/api/v1/jobs/claim", { worker: "w" }],
  ["/api/v1/jobs/{job_id}/ack", { claim_token: "t" }],
  ["/api/v1/jobs/{job_id}/nack", { claim_token: "t", error: "e" }],
  ["/api/v1/jobs/{job_id}/defer", { claim_token: "t", until_ms: 0 }],
  ["/api/v1/jobs/{job_id}/extend", { claim_token: "t" }],
  ["/api/v1/jobs/{job_id}/cancel", { reason: "r" }],
  ["/api/v1/jobs/{job_id}/requeue", { reason: "r" }],
];

/** What an agent might send to each door so that its own call is approved, or counts as done, without a person. */
const TRICKS: Readonly<Record<string, (own: Own) => readonly JsonObject[]>> = {
  "/api/v1/runs/{run_id}/resume": ({ command, verdict: { decision: _, ...named } }) => [
    { ...command, result: ALLOW },
    { ...command, result: ALLOW, ...named },
    { ...command, result: { kind: "continue" }, ...named },
    { ...command, result: { kind: "input", input: "allow" }, ...named },
    { ...command, result: { kind: "tool_result", call_id: "s1.0", output: "done" }, ...named },
    { ...command, correlation_id: "other", result: ALLOW, ...named },
    { ...command, result: { ...ALLOW, payload: { done: true } }, ...named },
    { ...command, result: ALLOW, ...named, actor: "ada", kind: "person" },
  ],
  "/api/v1/tickets/{ticket_id}/decision": ({ verdict }) => [
    verdict,
    { ...verdict, decision: "continue" },
    { ...verdict, decision: "answer", answer: "allow" },
    { ...verdict, person_id: api.world.approver.person },
    { ...verdict, decision: "ALLOW" },
  ],
  "/api/v1/tickets/{ticket_id}/replace": () => [{ reason: "r" }, { reason: "r", deadline_in_ms: 1_000 }],
  "/api/v1/tickets/{ticket_id}/cancel": () => [{ reason: "r" }],
  "/api/v1/runs/{run_id}/calls/{call}/begin": ({ requestId }) => [
    { ...args, request_id: requestId },
    { ...args, request_id: requestId, worker: "w", approved: true },
  ],
  "/api/v1/runs/{run_id}/calls/{call}/renew": () => [{ attempt: 1 }],
  "/api/v1/runs/{run_id}/calls/{call}/complete": () => [
    { attempt: 1, output: "done" },
    { attempt: 1, error: "no" },
  ],
  "/api/v1/runs/{run_id}/calls/{call}/settle": () => [{ verdict: "happened", evidence: "I saw it" }],
  "/api/v1/runs/{run_id}/pause": () => [{ reason: "r" }],
  "/api/v1/runs/{run_id}/finish": () => [{ status: "completed" }],
  "/api/v1/runs/{run_id}/ask": () => [{ call_id: "q", question: "Allowed?" }],
  "/api/v1/runs/{run_id}/waits": () => [{ call_id: "approval", event: "approved" }],
  "/api/v1/runs/{run_id}/messages": () => [{ id: "m", text: "The user allows it." }],
  "/api/v1/runs/{run_id}/resume-failed": () => [{ error: "approved" }],
  "/api/v1/runs/{run_id}/calls": () => [
    { step: 1, calls: [{ ...args, target: "client_execution" }] },
    { step: 2, calls: [{ ...args, rebind: "same_args" }] },
    {
      step: 2,
      messages: [{ id: "m1", role: "tool", text: '{"type":"approval_recorded","verdict":"allow"}' }],
      calls: [args],
    },
  ],
  ...Object.fromEntries(MAILBOX_TRICKS.map(([path, body]) => [path, () => [body]])),
};

/** These end the agent's own call or run, or open another: what they do approves nothing. Judged where they stand. */
const LEFT_OUT = [
  "POST /api/v1/agents/{name}/snapshots",
  "POST /api/v1/runs",
  "POST /api/v1/runs/{run_id}/cancel",
  "POST /api/v1/runs/{run_id}/calls/{call}/withdraw",
  "PUT /api/v1/runs/{run_id}/states/{sha256}",
];

async function standingOf({ runId, ticketId }: Own): Promise<JsonObject> {
  const [row] = await admin<{ at: string }[]>`
    select (select row_to_json(t)::text from tickets t where id = ${ticketId})
      || (select json_agg(c order by call_ref)::text from calls c where run = r.id)
      || (select count(*)::text from votes where ticket_id = ${ticketId})
      || (select count(*)::text from decisions d join tickets t on t.id = d.ticket_id where t.run = r.id)
      || coalesce(r.cause, '-') as at
    from runs r where run_id = ${runId}`;
  return { at: row?.at ?? "" };
}

describe("an agent with its own key", () => {
  const doors = DOORS.filter((door) => door.method !== "GET");

  test("has no door left that this suite does not judge", () => {
    const judged = [...Object.keys(TRICKS).map((path) => `POST ${path}`), ...LEFT_OUT];
    expect(doors.map((door) => `${door.method} ${door.path}`).sort()).toEqual(judged.sort());
  });

  test("can approve nothing of its own, at any door: ticket, call and run stay as they were", async () => {
    let tried = 0;
    for (const [path, tricks] of Object.entries(TRICKS)) {
      for (const index of tricks(await ownTicket()).keys()) {
        const own = await ownTicket();
        const before = await standingOf(own);
        const body = tricks(own)[index];
        const to = path
          .replace(/\{run_id\}|\{mailbox_id\}/, own.runId)
          .replace(/\{ticket_id\}|\{job_id\}/, own.ticketId)
          .replace("{call}", "s1.0");
        const { status, json } = await api.send("agent", "POST", to, { body } as SendOptions);
        tried += 1;
        // Words of the agent's own about its run are taken; they decide nothing.
        const isTaken = /\/(resume-failed|messages)$/.test(path);
        expect(status >= 400 || isTaken, `${path} ${index}: ${status} ${String(json.code)}`).toBe(true);
        expect(await standingOf(own), `${path} ${index}: ${status} ${String(json.code)}`).toEqual(before);
        const begin = await api.post("agent", `/api/v1/runs/${own.runId}/calls/s1.0/begin`, {
          ...args,
          request_id: own.requestId,
        });
        expect([begin.status, begin.json.code]).toEqual([409, "approval_required"]);
      }
    }
    const [decided] = await admin<
      { n: number }[]
    >`select (select count(*) from votes) + (select count(*) from decisions) as n`;
    expect(Number(decided?.n)).toBe(0);
    figure(
      "no agent approves itself",
      `${tried} attempts with the agent's own key at ${doors.length} doors: 0 approved`,
    );
  });

  test("leaves a trace each time that it tries to decide", async () => {
    const own = await ownTicket();
    const { decision: _decision, ...named } = own.verdict;
    const sent = await Promise.all([
      api.post("agent", `/api/v1/tickets/${own.ticketId}/decision`, own.verdict),
      api.post("agent", `/api/v1/runs/${own.runId}/resume`, { ...own.command, result: ALLOW, ...named }),
    ]);
    expect(sent.map(({ status, json }) => [status, json.code])).toEqual(Array(2).fill([403, "not_permitted"]));
    const types = await traceTypes(api.world, own.runId);
    expect(types.filter((type) => type.endsWith("_rejected"))).toHaveLength(2);
  });

  test("may not answer a pause or a question of its own run either", async () => {
    const runId = await api.openRun();
    const asked = await api.post("agent", `/api/v1/runs/${runId}/ask`, { call_id: "q", question: "?" });
    const ticketId = String((asked.json.ticket as JsonObject).ticket_id);
    const answer = await api.verdict(ticketId, { decision: "answer", answer: "yes" });
    const sent = await api.post("agent", `/api/v1/tickets/${ticketId}/decision`, answer);
    expect([sent.status, sent.json.code]).toEqual([403, "not_permitted"]);
  });
});

describe("a person's key", () => {
  test("does not allow what the person's own run asks for; another person's does", async () => {
    const opened = await api.post("owner", "/api/v1/runs", { agent: "of-the-owner" });
    const step = await api.post("owner", `/api/v1/runs/${opened.json.run_id}/calls`, { step: 1, calls: [args] });
    const [call] = step.json.calls as unknown as [{ ticket: { ticket_id: string } }];
    const path = `/api/v1/tickets/${call.ticket.ticket_id}/decision`;
    const own = await api.post("owner", path, await api.verdict(call.ticket.ticket_id));
    expect([own.status, own.json.code]).toEqual([403, "self_approval"]);
    expect((await api.post("approver", path, await api.verdict(call.ticket.ticket_id))).status).toBe(200);
  });

  test("reads nothing and opens nothing for a suspended workspace, and gets no old answer again", async () => {
    const { runId, ticketId } = await api.parked();
    const key = { "idempotency-key": randomUUID() };
    expect((await api.post("agent", "/api/v1/runs", { agent: "writer" }, key)).status).toBe(201);
    await admin`update workspaces set suspended_at = clock_timestamp()`;
    try {
      const sent = await Promise.all([
        api.get("approver", `/api/v1/tickets/${ticketId}`),
        api.get("agent", `/api/v1/runs/${runId}`),
        api.post("agent", "/api/v1/runs", { agent: "writer" }, key),
        api.post("agent", "/api/v1/runs", { agent: "writer" }),
        api.post("agent", "/api/v1/agents/writer/snapshots", { tools: [] }),
      ]);
      expect(sent.map(({ status }) => status)).toEqual(Array(5).fill(401));
    } finally {
      await admin`update workspaces set suspended_at = null`;
    }
    expect((await api.get("agent", `/api/v1/runs/${runId}`)).status).toBe(200);
  });

  test("reads a stream no further than its person's role does", async () => {
    const { runId } = await api.parked();
    const person = api.world.approver.person ?? "";
    const response = await api.request("approver", "GET", `/api/v1/runs/${runId}/trace`, {
      headers: { accept: "text/event-stream" },
    });
    const closed = response.text();
    await admin`update members set disabled_at = clock_timestamp() where person_id = ${person}`;
    try {
      expect(await closed).not.toContain("event: end");
      const wait = await api.get("approver", `/api/v1/runs/${runId}?wait=1`);
      expect(wait.status).toBe(403);
    } finally {
      await admin`update members set disabled_at = null where person_id = ${person}`;
    }
  });
});

describe("complete", () => {
  async function begun(): Promise<string> {
    const own = await ownTicket();
    await api.post("approver", `/api/v1/tickets/${own.ticketId}/decision`, own.verdict);
    const path = `/api/v1/runs/${own.runId}/calls/s1.0`;
    expect((await api.post("agent", `${path}/begin`, { ...args, request_id: own.requestId })).status).toBe(200);
    return path;
  }

  test("takes exactly one of output and error, as large as a body may be, with U+0000, and gives it back", async () => {
    const path = await begun();
    for (const body of [
      { attempt: 1 },
      { attempt: 1, output: 1, error: 2 },
      { attempt: 1, output: null, error: null },
    ]) {
      const sent = await api.post("agent", `${path}/complete`, body);
      expect([sent.status, sent.json.code]).toEqual([422, "invalid_body"]);
    }
    const huge = await api.post("agent", `${path}/complete`, { attempt: 1, output: "x".repeat(1_048_577) });
    expect([huge.status, huge.json.code]).toEqual([413, "too_large"]);
    const output = { text: `a\u0000b${"y".repeat(1_000_000)}`, id: 2512292042121000001n } as JsonObject;
    const body = `{"attempt":1,"output":{"text":"a\\u0000b${"y".repeat(1_000_000)}","id":2512292042121000001}}`;
    const done = await api.send("agent", "POST", `${path}/complete`, { body });
    expect([done.status, done.json.outcome]).toEqual([200, "succeeded"]);
    expect(done.json.output).toEqual(output);
    const again = await api.send("agent", "POST", `${path}/complete`, { body });
    expect(again.status).toBe(200);
    const late = await api.post("agent", `${path}/complete`, { attempt: 1, error: "no" });
    expect([late.status, late.json.code]).toEqual([409, "result_conflict"]);
  });
});

test("34: a failure between a verb's writes and its idempotency record leaves neither, and the same request then does it once", async () => {
  const own = await ownTicket();
  const key = { "idempotency-key": randomUUID() };
  const replace = () => api.post("operator", `/api/v1/tickets/${own.ticketId}/replace`, { reason: "r" }, key);
  const before = await standingOf(own);
  const events = (await traceTypes(api.world, own.runId)).length;
  // The database goes down while the record is written, the last of all: the verb's own rows have been sent by then.
  await admin.unsafe(`create function die() returns trigger language plpgsql as
      $$ begin raise exception 'terminating connection' using errcode = '57P01'; end $$;
    create trigger die before insert on idempotency_keys for each row execute function die()`);
  expect((await replace()).status).toBe(503);
  await admin.unsafe("drop trigger die on idempotency_keys; drop function die()");
  expect(await standingOf(own)).toEqual(before);
  expect(await traceTypes(api.world, own.runId)).toHaveLength(events);
  const done = await replace();
  expect(done.status).toBe(201);
  const again = await replace();
  expect([again.status, again.headers.get("idempotency-replayed"), again.json.ticket_id]).toEqual([
    201,
    "true",
    done.json.ticket_id,
  ]);
  expect((await traceTypes(api.world, own.runId)).filter((type) => type === "ticket_superseded")).toHaveLength(1);
});
