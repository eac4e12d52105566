import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { makeKeyFor } from "@/db/store/identity";
import { ApiWorld } from "./testing/api-world";

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

/** What a busy machine may add to a wait; far below the thirty seconds that a wait without news would take. */
const BUSY_MS = 4_000;

async function decide(ticketId: string) {
  return api.post("approver", `/api/v1/tickets/${ticketId}/decision`, await api.verdict(ticketId));
}

/** A second key of the same agent: revoking it leaves the first alone. */
async function anotherKey(): Promise<string> {
  return (await makeKeyFor(api.world.db, api.world.workspace, "agent", "desk")).key;
}

async function revoke(key: string): Promise<void> {
  await inWorkspace(
    api.world.db,
    api.world.workspace,
    (tx) => tx.sql`
    update api_keys set revoked_at = clock_timestamp() where workspace_id = ${tx.workspace} and prefix = ${key.slice(0, 11)}`,
  );
}

async function timed<Value>(work: Promise<Value>): Promise<readonly [Value, number]> {
  const started = performance.now();
  return [await work, performance.now() - started];
}

describe("?wait=", () => {
  test("answers at once when there is news already", async () => {
    const { runId } = await api.parked();
    const [since, took] = await timed(api.get("agent", `/api/v1/runs/${runId}?wait=30&since=1`));
    expect(since.json.seq).toBe(2);
    expect(took).toBeLessThan(BUSY_MS);
    const [running] = await timed(api.get("agent", `/api/v1/runs/${await api.openRun()}?wait=30`));
    expect(running.json.state).toBe("running");
  });

  test("answers within a moment of the decision that it waits for", async () => {
    const { runId, ticketId } = await api.parked();
    const waiting = timed(api.get("agent", `/api/v1/runs/${runId}?wait=30`));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await decide(ticketId);
    const [answer, took] = await waiting;
    expect(answer.json).toMatchObject({ state: "running", decisions: [{ decision: "allow" }] });
    expect(took).toBeLessThan(BUSY_MS);
  });

  test("sees the change also when no notification comes", async () => {
    const { runId, ticketId } = await api.parked();
    const waiting = timed(api.get("agent", `/api/v1/runs/${runId}?wait=30&since=2`));
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Decided by a connection that tells nobody.
    const { allow } = await import("@/db/testing/world");
    expect((await allow(api.world, { id: ticketId })).ok).toBe(true);
    const [answer, took] = await waiting;
    expect(Number(answer.json.seq)).toBeGreaterThan(2);
    expect(took).toBeLessThan(BUSY_MS);
  });

  test("answers with what is there when the time is over", async () => {
    const { runId } = await api.parked();
    const [answer, took] = await timed(api.get("agent", `/api/v1/runs/${runId}?wait=1`));
    expect(answer.json.state).toBe("awaiting");
    expect(took).toBeGreaterThan(950);
  });

  test("35: tells nothing to a key that was revoked meanwhile", async () => {
    const { runId } = await api.parked();
    const key = await anotherKey();
    const waiting = api.send("agent", "GET", `/api/v1/runs/${runId}?wait=2`, { key });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await revoke(key);
    const answer = await waiting;
    expect([answer.status, answer.json.code]).toEqual([401, "unauthenticated"]);
    expect(answer.text).not.toContain(runId);
  });

  test("is held twenty times by one principal, no more; others are not affected", async () => {
    const { runId } = await api.parked();
    const waits = Array.from({ length: 21 }, () => api.get("agent", `/api/v1/runs/${runId}?wait=1`));
    const codes = (await Promise.all(waits)).map((answer) => answer.json.code ?? answer.status);
    expect(codes.filter((code) => code === "slow_down")).toHaveLength(1);
    expect((await api.get("agent", `/api/v1/runs/${runId}?wait=0`)).status).toBe(200);
  });

  test.each(["61", "-1", "x", "1.5"])("of %s is refused", async (wait) => {
    const { runId } = await api.parked();
    const answer = await api.get("agent", `/api/v1/runs/${runId}?wait=${wait}`);
    expect([answer.status, answer.json.path]).toEqual([422, "?wait"]);
  });
});

describe("the trace's stream", () => {
  /** Collects frames until `enough` says so or the stream ends. */
  async function follow(
    runId: string,
    headers: Readonly<Record<string, string>>,
    enough: (text: string) => boolean,
    key?: string,
  ) {
    const gone = new AbortController();
    const options = { headers: { accept: "text/event-stream", ...headers }, ...(key === undefined ? {} : { key }) };
    const response = await api.request("agent", "GET", `/api/v1/runs/${runId}/trace`, options, gone.signal);
    const reader = response.body?.getReader();
    const utf8 = new TextDecoder();
    let text = "";
    while (reader && !enough(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += utf8.decode(value);
    }
    gone.abort();
    await reader?.cancel();
    return { response, text, ids: [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)) };
  }

  test("gives every event once, in order, as it is committed, and ends after the run's end", async () => {
    const { runId, ticketId } = await api.parked();
    const following = follow(runId, {}, () => false);
    await decide(ticketId);
    await api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    const { response, text, ids } = await following;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(ids).toEqual(ids.map((_id, index) => index + 1));
    expect(text).toContain('"type":"run_ended"');
    expect(text.endsWith("event: end\ndata: {}\n\n")).toBe(true);
    const { json } = await api.get("agent", `/api/v1/runs/${runId}/trace`);
    expect(text.match(/^data: \{"actor".*$/gm)?.map((line) => JSON.parse(line.slice(6)))).toEqual(json.events);
  });

  test("goes on behind Last-Event-ID without gap or repeat", async () => {
    const { runId, ticketId } = await api.parked();
    const first = await follow(runId, {}, (text) => text.includes("id: 2\n"));
    expect(first.ids).toEqual([1, 2]);
    await decide(ticketId);
    await api.post("agent", `/api/v1/runs/${runId}/finish`, { status: "completed" });
    const second = await follow(runId, { "last-event-id": "2" }, () => false);
    expect(second.ids[0]).toBe(3);
    const { json } = await api.get("agent", `/api/v1/runs/${runId}`);
    expect([...first.ids, ...second.ids]).toEqual(Array.from({ length: Number(json.seq) }, (_, index) => index + 1));
  });

  test("stays open for the late fact of a call in flight, then ends", async () => {
    const { runId, ticketId, requestId } = await api.parked();
    await decide(ticketId);
    const begin = { action: "send_money", args: { amount: 5 }, output: "account:1", request_id: requestId };
    expect((await api.post("agent", `/api/v1/runs/${runId}/calls/s1.0/begin`, begin)).status).toBe(200);
    const following = follow(runId, {}, () => false);
    await api.post("operator", `/api/v1/runs/${runId}/cancel`, { reason: "stop" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(
      (await api.post("agent", `/api/v1/runs/${runId}/calls/s1.0/complete`, { attempt: 1, output: null })).status,
    ).toBe(200);
    const { text } = await following;
    expect(text.indexOf('"type":"action_executed"')).toBeGreaterThan(text.indexOf('"type":"run_ended"'));
    expect(text.endsWith("event: end\ndata: {}\n\n")).toBe(true);
  });

  test("closes within two seconds of a revocation", async () => {
    const { runId } = await api.parked();
    const key = await anotherKey();
    const following = timed(follow(runId, {}, () => false, key));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await revoke(key);
    const [{ text }, took] = await following;
    expect(took).toBeLessThan(2_300 + BUSY_MS);
    expect(text).not.toContain("event: end");
  });

  test("lets go of its place when its reader leaves", async () => {
    const { runId } = await api.parked();
    for (let round = 0; round < 25; round += 1) await follow(runId, {}, (text) => text.includes("id: 2\n"));
    expect((await api.get("agent", `/api/v1/runs/${runId}?wait=0`)).status).toBe(200);
  });

  test("does not begin at a place that is no number", async () => {
    const { runId } = await api.parked();
    const answer = await api.get("agent", `/api/v1/runs/${runId}/trace`, {
      accept: "text/event-stream",
      "last-event-id": "x",
    });
    expect([answer.status, answer.json.path]).toEqual([422, "Last-Event-ID"]);
  });
});
