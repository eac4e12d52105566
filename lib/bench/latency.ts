import { mkdtempSync, rmSync, watch } from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { decideTicket } from "@/db/store/decide";
import { runWorker } from "@/lib/runtime/worker";
import { percentile } from "./load";
import { type Bench, clickOn, must, openBenchRun, parkOne } from "./verbs";

/** From the click that allows to the file that the worker makes, on an idle system: the whole way through a real worker. */
export async function measureLatency(bench: Bench, databaseUrl: string, times: number) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
  const stop = new AbortController();
  const working = runWorker({ databaseUrl, writeRoots: [folder], stop: stop.signal });
  try {
    await sleep(1_500);
    const taken: number[] = [];
    for (let index = 0; index < times; index += 1) taken.push(await once(bench, folder, `${index}.txt`));
    return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
  } finally {
    stop.abort();
    await working;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function once(bench: Bench, folder: string, name: string): Promise<number> {
  const runId = await openBenchRun(bench, "worker");
  const what = await parkOne(bench, runId, {
    action: "write_file",
    args: { content: name },
    output: path.join(folder, name),
  });
  const click = await clickOn(bench, what.ticket.id);
  const made = new Promise<number>((resolve) => {
    const watcher = watch(folder, (_event, file) => {
      if (file !== name) return;
      watcher.close();
      resolve(performance.now());
    });
  });
  await sleep(20);
  const began = performance.now();
  must(await decideTicket(bench.db, bench.approver, what.ticket.id, click));
  return (await made) - began;
}
