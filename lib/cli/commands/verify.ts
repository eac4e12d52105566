import { readFile } from "node:fs/promises";
import type { Db } from "@/db/client";
import { readTrace } from "@/db/queries/trace";
import { isArray, isObject, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import { type ChainRow, verifyChain } from "@/lib/protocol/trace-event";
import { CommandRefused } from "../refused";

/** Check a run's chain as the database holds it. */
export async function verifyRun(db: Db, workspace: string, runId: string): Promise<JsonObject> {
  const events = await readTrace(db, workspace, runId, { most: 10_000_000 });
  if (events.length === 0) throw new CommandRefused(`unknown_run:${runId}`);
  return verdictOn(events, { workspace_id: workspace, run_id: runId });
}

/** Check a bundle without a database. Null: there is no such file, so the word names a run. */
export async function verifyFile(file: string): Promise<JsonObject | null> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw cause;
  });
  if (text === null) return null;
  const read = readJson(text, { maxDepth: 256, maxKeys: 10_000_000 });
  if (!read.ok) throw new CommandRefused(read.refusal.code, `${read.refusal.path}: ${read.refusal.detail}`);
  const bundle = read.value;
  if (!isObject(bundle) || bundle.trace === undefined || !isArray(bundle.trace)) {
    throw new CommandRefused("invalid_body", "this is no bundle: it has no trace");
  }
  const rows = bundle.trace.map((row): ChainRow => {
    if (!isObject(row) || typeof row.text !== "string" || typeof row.hash !== "string") {
      throw new CommandRefused("invalid_body", "each event of a bundle has its text and its hash");
    }
    return { text: row.text, hash: row.hash };
  });
  const { workspace_id, run_id } = bundle;
  if (typeof workspace_id !== "string" || typeof run_id !== "string") {
    throw new CommandRefused("invalid_body", "a bundle names its workspace_id and run_id");
  }
  return verdictOn(rows, { workspace_id, run_id });
}

function verdictOn(
  rows: readonly ChainRow[],
  ids: { readonly workspace_id: string; readonly run_id: string },
): JsonObject {
  const verdict = verifyChain(rows, ids);
  if (verdict.ok) return { run_id: ids.run_id, verified: true, events: verdict.count };
  throw new CommandRefused("chain_broken", null, { run_id: ids.run_id, seq: verdict.seq, why: verdict.why });
}
