import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Db, inWorkspace } from "@/db/client";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { ApiWorld, type CallerName } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

/** A server with so many connections. */
async function withPool<Value>(max: number, use: (db: Db) => Promise<Value>): Promise<Value> {
  const db = await connect(api.world.appUrl, { role: "holdpoint_app", max });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

const call = { action: "send_money", args: { amount: 5 }, output: "account:1" };

// A door that asked the database beside its own transaction would wait for itself for ever.
test("T76: with one connection every verb of a run's day is answered", async () => {
  await withPool(1, async (db) => {
    const send = async (caller: CallerName, path: string, body: JsonObject) => {
      const sent = await api.send(caller, "POST", `/api/v1/${path}`, { body, db });
      expect(sent.status, sent.text).toBeLessThan(300);
      return sent.json;
    };
    const read = async (caller: CallerName, path: string) => {
      const sent = await api.send(caller, "GET", `/api/v1/${path}`, { db });
      expect(sent.status, sent.text).toBeLessThan(300);
    };
    await send("agent", "agents/writer/snapshots", { tools: [{ name: "send_money" }] });
    const { run_id } = await send("agent", "runs", { agent: "writer" });
    const parked = await send("agent", `runs/${run_id}/calls`, { step: 1, calls: [call] });
    const [{ ticket }] = parked.calls as unknown as [{ ticket: { ticket_id: string; request_id: string } }];
    await send("approver", `tickets/${ticket.ticket_id}/decision`, await api.verdict(ticket.ticket_id));
    const catalog = (await api.get("agent", `/api/v1/runs/${run_id}`)).json;
    const { snapshot_id = null, catalog_fingerprint = null } = catalog;
    await send("agent", `runs/${run_id}/calls/s1.0/begin`, {
      ...call,
      request_id: ticket.request_id,
      snapshot_id,
      catalog_fingerprint,
    });
    await send("agent", `runs/${run_id}/calls/s1.0/renew`, { attempt: 1 });
    await send("agent", `runs/${run_id}/calls/s1.0/complete`, { attempt: 1, output: "done" });
    await send("agent", `runs/${run_id}/ask`, { call_id: "q", question: "?" });
    await send("agent", `runs/${run_id}/calls/q/withdraw`, { reason: "no more" });
    await send("operator", `runs/${run_id}/pause`, { reason: "lunch" });
    for (const path of ["", "/trace", "?wait=0"]) await read("agent", `runs/${run_id}${path}`);
    await read("operatorKey", `runs/${run_id}/bundle`);
    await read("approver", "tickets?status=open");
    await send("operatorKey", `runs/${run_id}/cancel`, { reason: "over" });
    const { job_id } = await send("workerKey", "mailboxes/m/jobs", {});
    await send("workerKey", "mailboxes/m/claim", { worker: "w" });
    await send("operatorKey", "mailboxes/m/interrupt", { reason: "r" });
    await send("operatorKey", `jobs/${job_id}/cancel`, { reason: "r" });
    await read("operatorKey", "jobs");
  });
});

test("T76: a hundred decisions at once over five connections: each is kept or told to come again, none hangs, and nothing is left open", async () => {
  const tickets: string[] = [];
  for (let run = 0; run < 5; run += 1) {
    const runId = await api.openRun();
    const calls = Array.from({ length: 20 }, (_, index) => ({ ...call, args: { index } }));
    const { json } = await api.post("agent", `/api/v1/runs/${runId}/calls`, { step: 1, calls });
    tickets.push(...(json.calls as unknown as { ticket: { ticket_id: string } }[]).map((one) => one.ticket.ticket_id));
  }
  const verdicts = await Promise.all(tickets.map((ticket) => api.verdict(ticket)));
  await withPool(5, async (db) => {
    const decideAll = () =>
      Promise.all(
        tickets.map((ticket, index) =>
          api.send("approver", "POST", `/api/v1/tickets/${ticket}/decision`, { body: verdicts[index] ?? {}, db }),
        ),
      );
    for (const { status } of await decideAll()) expect([200, 503]).toContain(status);
    // Those that were told to come again, do; the others get their first answer.
    let left = 100;
    while (left > 0) left = (await decideAll()).filter(({ status }) => status !== 200).length;
    const [held] = await db.sql<{ many: number }[]>`
      select count(*) as many from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    expect(held?.many).toBe(0);
  });
  const { db, workspace } = api.world;
  const [kept] = await inWorkspace(
    db,
    workspace,
    (tx) => tx.sql<{ many: number }[]>`select count(*) as many from decisions where ticket_id in ${tx.sql(tickets)}`,
  );
  expect(kept?.many).toBe(100);
  expect(api.faults).toEqual([]);
});
