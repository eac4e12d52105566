import { subscribe } from "node:diagnostics_channel";
import { appendFileSync, readFileSync } from "node:fs";
import type postgres from "postgres";
import { ANSWERED, type Answered } from "@/db/client";
import { figure } from "./figure";

/** Refusals that this test file's own process was given, by workspace. Source: http-api "Refusals": every one of them is a row. */
const returned = new Map<string, number>();
/** A verb's refusal that its outer transaction hands on is one refusal. */
const known = new WeakSet<object>();
let othersWrite = false;

subscribe(ANSWERED, (message) => {
  const { workspace, answer } = message as Answered;
  const refusal = recordedRefusal(answer);
  if (refusal === null || known.has(refusal)) return;
  known.add(refusal);
  returned.set(workspace, (returned.get(workspace) ?? 0) + 1);
});

/** From now on other processes write to this file's database; what they were given is not known here. */
export function othersWriteToo(): void {
  othersWrite = true;
}

/** What a store verb refused with a code that is kept; `in_progress` is an answer that time cures. */
function recordedRefusal(answer: unknown): object | null {
  if (typeof answer !== "object" || answer === null || !("ok" in answer) || answer.ok !== false) return null;
  if (!("refusal" in answer) || typeof answer.refusal !== "object" || answer.refusal === null) return null;
  const { refusal } = answer;
  return "traceSeq" in refusal && "code" in refusal && refusal.code !== "in_progress" ? refusal : null;
}

/**
 * Before a suite's database goes: as many rows in the ledger as refusals were given, none without its reason, and one for each
 * refusal in a trace. Throws what differs, so that the suite fails.
 */
export async function checkRefusals(sql: postgres.Sql, log: string): Promise<void> {
  const [kept] = await sql<{ rows: number; bare: number; unledgered: number }[]>`
    select count(*)::int as rows, count(*) filter (where code = '')::int as bare,
      (select count(*)::int from trace_events t where refusal_code is not null and not exists (
        select from refusals where workspace_id = t.workspace_id and run = t.run and seq = t.seq)) as unledgered
    from refusals`;
  if (!kept) throw new Error("the ledger could not be counted");
  const workspaces = await sql<{ id: string }[]>`select id from workspaces`;
  const given = workspaces.reduce((sum, { id }) => sum + (returned.get(id) ?? 0), 0);
  const counts = { given, ...kept, others: othersWrite };
  appendFileSync(log, `${JSON.stringify(counts)}\n`);
  const isWhole = othersWrite ? kept.rows >= given : kept.rows === given;
  if (!isWhole || kept.bare > 0 || kept.unledgered > 0) {
    throw new Error(`refusals given and refusals kept differ: ${JSON.stringify(counts)}`);
  }
}

/** At the end of the whole run: what all suites counted. */
export function printRefusals(log: string): void {
  const suites = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { given: number; rows: number; others: boolean });
  const alone = suites.filter((suite) => !suite.others);
  const sum = (field: "given" | "rows", of: typeof suites) => of.reduce((total, suite) => total + suite[field], 0);
  figure(
    "every refusal given is kept",
    `${sum("given", alone)} given, ${sum("rows", alone)} kept over ${alone.length} databases; ` +
      `${sum("rows", suites) - sum("rows", alone)} kept in ${suites.length - alone.length} more, where other processes write too`,
  );
}
