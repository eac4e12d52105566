import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTrace } from "@/db/queries/trace";
import { figure } from "@/db/testing/figure";
import { allowed, begin, newWorld, report, type World } from "@/db/testing/world";
import { canonicalJson, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import { type TraceEvent, traceEventText, verifyChain } from "@/lib/protocol/trace-event";

/** As the table's owner, behind every guard: what the chain alone must show. */
let world: World;
let admin: postgres.Sql;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: { session_replication_role: "replica" },
  });
});
afterAll(async () => {
  await admin.end();
  await world.close();
});

interface Row {
  readonly seq: number;
  readonly eventText: string;
}

interface Tampering {
  readonly name: string;
  readonly sql: (seq: number, rows: readonly Row[]) => string;
  /** Where it must show. */
  readonly shows: (seq: number, length: number) => number;
  /** Only where a row follows, or is followed. */
  readonly fits?: (seq: number, length: number) => boolean;
}

const q = (text: string) => `'${text.replaceAll("'", "''")}'`;
const here = (seq: number) => seq;

/** The event of a row with a change, as a forger who knows the format writes it: canonical, hashed anew. */
function forged(rows: readonly Row[], seq: number, change: JsonObject): { text: string; hash: string } {
  const read = readJson(rows.find((row) => row.seq === seq)?.eventText ?? "");
  if (!read.ok) throw new Error("no JSON");
  const text = traceEventText({ ...(read.value as unknown as TraceEvent), ...(change as object) });
  return { text, hash: sha256Hex(text) };
}

const at = (seq: number) => `where run = :run and seq = ${seq}`;

const TAMPERINGS: readonly Tampering[] = [
  { name: "hash", sql: (n) => `update trace_events set hash = ${q("0".repeat(64))} ${at(n)}`, shows: here },
  { name: "prev_hash", sql: (n) => `update trace_events set prev_hash = ${q("1".repeat(64))} ${at(n)}`, shows: here },
  {
    name: "type",
    sql: (n) =>
      `update trace_events set type = case type when 'run_ended' then 'input_received' else 'run_ended' end ${at(n)}`,
    shows: here,
  },
  {
    name: "at, by a microsecond",
    sql: (n) => `update trace_events set at = at + interval '1 microsecond' ${at(n)}`,
    shows: here,
  },
  {
    name: "refusal_code",
    sql: (n) => `update trace_events set refusal_code = case when refusal_code is null then 'expired' end ${at(n)}`,
    shows: here,
  },
  { name: "text, a space", sql: (n) => `update trace_events set event_text = event_text || ' ' ${at(n)}`, shows: here },
  {
    name: "seq, moved to the end",
    sql: (n) => `update trace_events set seq = 1000 ${at(n)}`,
    shows: (n) => n,
    fits: (n, length) => n < length,
  },
  {
    name: "seq of the last",
    sql: (n) => `update trace_events set seq = 1000 ${at(n)}`,
    shows: here,
    fits: (n, length) => n === length,
  },
  {
    name: "text and hash, rewritten",
    sql: (n, rows) => {
      const { text, hash } = forged(rows, n, { payload: { verdict: "allow" } });
      return `update trace_events set event_text = ${q(text)}, hash = ${q(hash)}, refusal_code = null ${at(n)}`;
    },
    shows: (n) => n + 1,
    fits: (n, length) => n < length,
  },
  {
    name: "another workspace in the text, hashed anew",
    sql: (n, rows) => {
      const { text, hash } = forged(rows, n, { workspace_id: "00000000-0000-7000-8000-000000000000" });
      return `update trace_events set event_text = ${q(text)}, hash = ${q(hash)} ${at(n)}`;
    },
    shows: here,
  },
  { name: "deleted", sql: (n) => `delete from trace_events ${at(n)}`, shows: here, fits: (n, length) => n < length },
  {
    name: "deleted, and those behind it moved up",
    sql: (n) =>
      `delete from trace_events ${at(n)}; update trace_events set seq = -seq where run = :run and seq > ${n};
       update trace_events set seq = -seq - 1 where run = :run and seq < 0`,
    shows: here,
    fits: (n, length) => n < length,
  },
  {
    name: "swapped with the next",
    sql: (n) =>
      `update trace_events set seq = -1 ${at(n)}; update trace_events set seq = ${n} ${at(n + 1)};
       update trace_events set seq = ${n + 1} where run = :run and seq = -1`,
    shows: here,
    fits: (n, length) => n < length,
  },
  {
    name: "one inserted behind it, linked to it",
    sql: (n, rows) => {
      const { text, hash } = forged(rows, n, { seq: n + 1, prev_hash: sha256Hex(rows[n - 1]?.eventText ?? "") });
      return `update trace_events set seq = -seq where run = :run and seq > ${n};
        update trace_events set seq = -seq + 1 where run = :run and seq < 0;
        insert into trace_events (workspace_id, run, seq, prev_hash, event_text, hash, type, at, refusal_code)
        select workspace_id, run, ${n + 1}, ${q(`x${hash.slice(1)}`)}, ${q(text)}, ${q(hash)}, type, at, refusal_code from trace_events ${at(n)};`;
    },
    shows: (n) => n + 1,
    fits: (n, length) => n < length,
  },
  {
    name: "the next linked past it",
    sql: (n, rows) => {
      const { text, hash } = forged(rows, n + 1, { prev_hash: sha256Hex(rows[n - 2]?.eventText ?? "") });
      return `update trace_events set event_text = ${q(text)}, hash = ${q(hash)} ${at(n + 1)}`;
    },
    shows: (n) => n + 1,
    fits: (n, length) => n > 1 && n < length,
  },
];

/** A run with a call that was allowed, refused twice and reported: some nine events of six types. */
async function aRun(): Promise<string> {
  const what = await allowed(world);
  await begin(world, what, { requestId: "another" });
  await begin(world, what, { output: canonicalJson("elsewhere") });
  await begin(world, what);
  await report(world, what, 1);
  return what.runId;
}

test("every edit, deletion, swap, insertion and new link of a stored trace is found, at its place", {
  timeout: 120_000,
}, async () => {
  const runId = await aRun();
  const [run] = await admin<{ id: string }[]>`select id from runs where run_id = ${runId}`;
  const rows = await admin<
    Row[]
  >`select seq, event_text as "eventText" from trace_events where run = ${run?.id ?? ""} order by seq`;
  const verify = async () =>
    verifyChain(await readTrace(world.db, world.workspace, runId), { workspace_id: world.workspace, run_id: runId });
  expect(await verify()).toEqual({ ok: true, count: rows.length });
  const backup = await admin`create table kept as select * from trace_events where run = ${run?.id ?? ""}`;
  expect(backup.count).toBe(rows.length);

  const wrong: string[] = [];
  let tried = 0;
  for (const { name, sql, shows, fits = () => true } of TAMPERINGS) {
    for (const { seq } of rows) {
      if (!fits(seq, rows.length)) continue;
      await admin.unsafe(sql(seq, rows).replaceAll(":run", `'${run?.id}'`));
      const verdict = await verify();
      tried += 1;
      const where = verdict.ok ? "not found" : verdict.seq;
      if (where !== shows(seq, rows.length)) wrong.push(`${name} at ${seq}: ${where}`);
      await admin.unsafe(`delete from trace_events where run = '${run?.id}';
        insert into trace_events overriding system value select * from kept`);
    }
  }
  expect(wrong).toEqual([]);
  expect(await verify()).toEqual({ ok: true, count: rows.length });
  figure(
    "history is verified",
    `${tried} tamperings of a stored trace (each column, deleted, swapped, inserted, linked anew): ${tried} found at their place; the untouched trace: whole`,
  );
});

test("a last event that was cut off is not seen by the chain alone, and is by what was exported before", async () => {
  const runId = await aRun();
  const events = await readTrace(world.db, world.workspace, runId);
  const [run] = await admin<{ id: string }[]>`select id from runs where run_id = ${runId}`;
  await admin`delete from trace_events where run = ${run?.id ?? ""} and seq = ${events.length}`;
  const left = await readTrace(world.db, world.workspace, runId);
  expect(verifyChain(left, { workspace_id: world.workspace, run_id: runId })).toEqual({
    ok: true,
    count: events.length - 1,
  });
});
