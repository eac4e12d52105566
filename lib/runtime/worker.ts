import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@/db/client";

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly writeRoots: readonly string[];
  readonly stop: AbortSignal;
}

/** Be seen once a second, until told to stop. The work itself is not here yet. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const db = await connect(options.databaseUrl, { role: "holdpoint_worker", max: 4 });
  const workerId = randomUUID();
  while (!options.stop.aborted) {
    await db.sql`
      insert into workers (worker_id, last_seen_at) values (${workerId}, clock_timestamp())
      on conflict (worker_id) do update set last_seen_at = excluded.last_seen_at`;
    await sleep(1_000, undefined, { signal: options.stop }).catch(() => undefined);
  }
  await db.close();
}
