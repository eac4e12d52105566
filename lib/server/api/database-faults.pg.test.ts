import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure } from "@/db/testing/figure";
import { ApiWorld } from "./testing/api-world";

let api: ApiWorld;
let admin: postgres.Sql;
beforeAll(async () => {
  api = await ApiWorld.open();
  admin = postgres(api.world.adminUrl, { max: 1, onnotice: () => undefined });
  await admin.unsafe(`
    create table faults (state text not null, relation text not null);
    grant select on faults to public;
    create function fail_on_write() returns trigger language plpgsql as $$
    declare found text := (select state from faults where relation = tg_table_name limit 1);
    begin
      if found is not null then raise exception 'injected' using errcode = found; end if;
      return new;
    end $$`);
  for (const table of TABLES)
    await admin.unsafe(
      `create trigger zz_fault before insert or update on ${table} for each row execute function fail_on_write()`,
    );
});
afterAll(async () => {
  await admin.end();
  await api.close();
});

/** What a decision writes, first to last. */
const TABLES = ["tickets", "calls", "votes", "decisions", "trace_events"] as const;
const STATES = [
  "40001",
  "40P01",
  "55P03",
  "57014",
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  "53300",
  "08000",
  "08003",
  "08006",
];

test("T77: a decision that the database turned down at any write, for any passing reason, did nothing, says so, and goes through when it is sent again", async () => {
  const { runId, ticketId } = await api.parked();
  const body = await api.verdict(ticketId);
  const decide = () => api.post("approver", `/api/v1/tickets/${ticketId}/decision`, body);
  const before = (await api.get("agent", `/api/v1/runs/${runId}`)).json;
  let met = 0;
  for (const table of TABLES) {
    for (const state of STATES) {
      await admin`insert into faults values (${state}, ${table})`;
      const { status, json } = await decide();
      expect([table, state, status, json.code]).toEqual([table, state, 503, "busy"]);
      await admin`truncate faults`;
      met += 1;
    }
  }
  expect(met).toBe(TABLES.length * STATES.length);
  expect(api.faults).toEqual([]);
  expect((await api.get("agent", `/api/v1/runs/${runId}`)).json).toEqual(before);
  expect((await decide()).status).toBe(200);
  const { json } = await api.get("agent", `/api/v1/runs/${runId}/trace`);
  const types = (json.events as unknown as { type: string }[]).map(({ type }) => type);
  expect(types.filter((type) => type === "approval_recorded")).toHaveLength(1);
  figure(
    "a database that turns a write down",
    `${met} of ${met} times a decision did nothing and said so; then it went through, once`,
  );
});

test("T34: one that fails for a reason that does not pass is a fault, nothing of it is kept, and the ticket is still open", async () => {
  const { runId, ticketId } = await api.parked();
  const body = await api.verdict(ticketId);
  for (const table of TABLES) {
    await admin`insert into faults values ('XX000', ${table})`;
    const { status, json } = await api.post("approver", `/api/v1/tickets/${ticketId}/decision`, body);
    expect([status, json.code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify(json)).not.toContain("injected");
    await admin`truncate faults`;
    expect((await api.get("approver", `/api/v1/tickets/${ticketId}`)).json).toMatchObject({ status: "open" });
  }
  expect(api.faults).toHaveLength(TABLES.length);
  const { json } = await api.get("agent", `/api/v1/runs/${runId}`);
  expect(json).toMatchObject({ state: "awaiting", decisions: [] });
});
