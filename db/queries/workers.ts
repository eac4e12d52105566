import { acrossWorkspaces, type Db } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";

export interface SeenWorker {
  readonly workerId: string;
  readonly lastSeenAt: Instant;
  /** It said so within the last minute; a worker says so every few seconds. */
  readonly polls: boolean;
}

const MOST_WORKERS = 50;

/** Worker processes that polled within the last day, those seen last first. They serve every workspace, so they belong to none. */
export async function seenWorkers(db: Db): Promise<{ readonly workers: readonly SeenWorker[]; readonly now: Instant }> {
  return acrossWorkspaces(db, async (sql) => {
    const workers = await sql<SeenWorker[]>`
      select worker_id, last_seen_at, last_seen_at > clock_timestamp() - interval '1 minute' as polls from workers
      where last_seen_at > clock_timestamp() - interval '1 day' order by last_seen_at desc limit ${MOST_WORKERS}`;
    const [clock] = await sql<{ now: Instant }[]>`select clock_timestamp() as now`;
    if (!clock) throw new Error("the database told no time");
    return { workers, now: clock.now };
  });
}
