import { acrossWorkspaces, type Db } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";

/** A worker says that it lives every few seconds; one that has been silent this long counts as gone. */
export const WORKER_SILENCE_SECONDS = 15;

export interface SeenWorker {
  readonly workerId: string;
  readonly lastSeenAt: Instant;
  /** It has not been silent for longer than `WORKER_SILENCE_SECONDS`. */
  readonly polls: boolean;
}

const MOST_WORKERS = 50;

/** Worker processes that polled within the last day, those seen last first. They serve every workspace, so they belong to none. */
export async function seenWorkers(db: Db): Promise<{ readonly workers: readonly SeenWorker[]; readonly now: Instant }> {
  return acrossWorkspaces(db, async (sql) => {
    const workers = await sql<SeenWorker[]>`
      select worker_id, last_seen_at, last_seen_at > clock_timestamp() - make_interval(secs => ${WORKER_SILENCE_SECONDS}) as polls from workers
      where last_seen_at > clock_timestamp() - interval '1 day' order by last_seen_at desc limit ${MOST_WORKERS}`;
    const [clock] = await sql<{ now: Instant }[]>`select clock_timestamp() as now`;
    if (!clock) throw new Error("the database told no time");
    return { workers, now: clock.now };
  });
}
