import type { Db } from "@/db/client";
import journal from "@/db/migrations/meta/_journal.json";
import { WORKER_SILENCE_SECONDS } from "./workers";

/** What must be there before the console can do its work. */
export interface Readiness {
  readonly database: boolean;
  readonly migrations: boolean;
  readonly worker: boolean;
}

/** Look at the database. One that does not answer is an answer too: nothing is ready then. */
export async function readReadiness(db: Db): Promise<Readiness> {
  try {
    const [row] = await db.sql<{ applied: number; worker: boolean }[]>`
      select (select count(*)::int from drizzle.__drizzle_migrations) as applied,
             exists (select from workers
               where last_seen_at > clock_timestamp() - make_interval(secs => ${WORKER_SILENCE_SECONDS})) as worker`;
    return { database: true, migrations: row?.applied === journal.entries.length, worker: row?.worker === true };
  } catch {
    return { database: false, migrations: false, worker: false };
  }
}
