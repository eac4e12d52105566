import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure } from "@/db/testing/figure";
import { allowed, begin, newWorld, type Parked, traceTypes, type World } from "@/db/testing/world";
import { setPolicy } from "./set-policy";

let world: World;
let app: postgres.Sql;
let what: Parked;
beforeAll(async () => {
  world = await newWorld();
  app = postgres(world.appUrl, { max: 1, onnotice: () => undefined });
  what = await allowed(world);
  // A refusal, so that every table of history has a row to be rewritten.
  await begin(world, what, { requestId: "another" });
  await setPolicy(world.db, world.owner, "agent-of-desk", { default: "ask", rules: [] });
});
afterAll(async () => {
  await app.end();
  await world.close();
});

const TABLES = ["trace_events", "refusals", "votes", "decisions", "agent_snapshots", "policy_versions"] as const;

/** A column of each table that somebody would want to say something else. */
const TELLING: Readonly<Record<(typeof TABLES)[number], string>> = {
  trace_events: "event_text",
  refusals: "code",
  votes: "verdict",
  decisions: "verdict",
  agent_snapshots: "catalog",
  policy_versions: "document",
};

function attempts(table: (typeof TABLES)[number]): readonly string[] {
  const column = TELLING[table];
  return [
    `update ${table} set ${column} = ${column}`,
    `update ${table} set ${column} = 'rewritten'`,
    `delete from ${table}`,
    `delete from ${table} where false`,
    `truncate ${table} cascade`,
    `alter table ${table} disable trigger all`,
    `alter table ${table} disable row level security`,
    `alter table ${table} drop column ${column}`,
    `alter table ${table} rename to ${table}_old`,
    `alter table ${table} owner to current_user`,
    `drop trigger refuse_truncate on ${table}`,
    `create rule nothing as on insert to ${table} do instead nothing`,
    `create trigger mine before insert on ${table} for each row execute function refuse_change()`,
    `drop table ${table} cascade`,
    // Without the right to grant it gives nothing and only warns.
    `grant all on ${table} to public; delete from ${table}`,
  ];
}

const BEHIND_THE_GUARDS = [
  "set session_replication_role = replica",
  "set local session_replication_role = replica",
  "select set_config('session_replication_role', 'replica', false)",
  "create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'",
  "drop function refuse_change() cascade",
  "alter function refuse_change() owner to current_user",
  "alter role holdpoint_app superuser",
  "alter role current_user bypassrls",
  "set session authorization default_owner",
  "create function public.mine() returns int language sql as 'select 1'",
];

/** Each in a transaction of its own that is rolled back, so that one that worked would not hide the next. */
async function tryAs(role: string | null, statement: string): Promise<string> {
  try {
    await app.begin(async (sql) => {
      if (role !== null) await sql.unsafe(`set local role ${role}`);
      await sql`select set_config('holdpoint.workspace', ${world.workspace}, true)`;
      await sql.unsafe(statement);
      throw new Error("it worked");
    });
    return "it worked";
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code ?? message;
  }
}

test("the app's login can rewrite no history, and take down no guard, in any of its roles", async () => {
  const before = await contentsOf();
  const went: string[] = [];
  let tried = 0;
  for (const role of [null, "holdpoint_app", "holdpoint_worker"]) {
    for (const statement of [...TABLES.flatMap(attempts), ...BEHIND_THE_GUARDS]) {
      const outcome = await tryAs(role, statement);
      tried += 1;
      // 42501: no right. 22023: there is no such role to become.
      if (outcome !== "42501" && outcome !== "22023") went.push(`${role ?? "login"}: ${statement}: ${outcome}`);
    }
  }
  expect(went).toEqual([]);
  expect(await contentsOf()).toBe(before);
  expect(await traceTypes(world, what.runId)).toContain("approval_recorded");
  figure(
    "history",
    `${tried} statements by the app's login over ${TABLES.length} tables (update, delete, truncate, alter, drop, triggers, replication role): 0 succeeded`,
  );
});

test("the same role adds to every one of these tables by the verbs, so the refusals are not for want of a connection", async () => {
  const next = await allowed(world);
  expect(await traceTypes(world, next.runId)).toContain("approval_recorded");
});

test("of a decision the app marks that it was voided, once, and never what was decided", async () => {
  const mine = await allowed(world);
  const void1 = `update decisions set voided_at = clock_timestamp() where ticket_id = '${mine.ticket.id}'`;
  expect(await tryAs("holdpoint_app", void1)).toBe("it worked");
  expect(await tryAs("holdpoint_app", `${void1}; update decisions set voided_at = null`)).toBe("23514");
  for (const column of [
    "verdict",
    "actor",
    "person_id",
    "approval_hash",
    "approval_request_id",
    "decided_at",
    "note",
  ]) {
    expect(await tryAs("holdpoint_app", `update decisions set ${column} = ${column}`), column).toBe("42501");
  }
});

/** What every table says, as its owner reads it. */
async function contentsOf(): Promise<string> {
  const admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  const rows = await Promise.all(TABLES.map((table) => admin.unsafe(`select * from ${table} order by 1, 2, 3`)));
  await admin.end();
  expect(rows.every((of) => of.length > 0)).toBe(true);
  return JSON.stringify(rows);
}
