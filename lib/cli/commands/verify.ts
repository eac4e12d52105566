import { readFile } from "node:fs/promises";
import type { Db } from "@/db/client";
import { readTrace } from "@/db/queries/trace";
import { verifyBundle } from "@/lib/protocol/bundle";
import { type JsonObject, readJsonBytes } from "@/lib/protocol/canonical-json";
import { type ChainRow, verifyChain } from "@/lib/protocol/trace-event";
import { CommandRefused } from "../refused";

/** Check a run's chain as the database holds it. */
export async function verifyRun(db: Db, workspace: string, runId: string): Promise<JsonObject> {
  const events = await readTrace(db, workspace, runId, { most: 10_000_000 });
  if (events.length === 0) throw new CommandRefused(`unknown_run:${runId}`, `No file and no run is called ${runId}.`);
  return verdictOn(events, { workspace_id: workspace, run_id: runId });
}

/** Check a bundle without a database: chain, proposals, and what was approved. Null: there is no such file, so the word names a run. */
export async function verifyFile(file: string): Promise<JsonObject | null> {
  // As bytes: what is no UTF-8 would be mended by a decoder, and another file would verify.
  const bytes = await readFile(file).catch((cause: unknown) => {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw cause;
  });
  if (bytes === null) return null;
  const read = readJsonBytes(bytes, { maxDepth: 256, maxKeys: 10_000_000 });
  if (!read.ok) throw new CommandRefused(read.refusal.code, `${read.refusal.path}: ${read.refusal.detail}`);
  const verdict = verifyBundle(read.value);
  if (verdict.ok) return { ...verdict.value, verified: true };
  const { code, at, detail } = verdict.refusal;
  if (code === "not_a_bundle") {
    throw new CommandRefused(
      code,
      `${file} is no bundle of a run (${detail}). Download one on the run's page, or by GET /api/v1/runs/{run_id}/bundle.`,
      { at },
    );
  }
  throw new CommandRefused(code, detail, { at });
}

function verdictOn(
  rows: readonly ChainRow[],
  ids: { readonly workspace_id: string; readonly run_id: string },
): JsonObject {
  const verdict = verifyChain(rows, ids);
  if (verdict.ok) return { run_id: ids.run_id, verified: true, events: verdict.count };
  throw new CommandRefused("chain_broken", null, { run_id: ids.run_id, seq: verdict.seq, why: verdict.why });
}
