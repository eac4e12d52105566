import PgBoss from "pg-boss";
import { drainBy, payloadOf, type Queue, type QueueAddress, timeClaims } from "./queue";

const NAME = "bench";
/** The shortest that it takes; two seconds if nothing is said. It listens to nothing. */
const POLL_SECONDS = 0.5;

type Job = PgBoss.Job<{ n: number }>;

/**
 * pg-boss. Jobs are taken with `fetch` and `complete`: its `work` takes one batch a poll, so that one at a time would measure its
 * timer. Its upkeep rests meanwhile, which is in its favour.
 */
export async function openPgBoss({ ownerUrl, lanes }: QueueAddress): Promise<Queue> {
  const boss = new PgBoss({ connectionString: ownerUrl, max: lanes, supervise: false, schedule: false });
  boss.on("error", (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(NAME);
  await Promise.all(Array.from({ length: lanes }, () => boss.getDb().executeSql("select pg_sleep(0.05)", [])));
  const claim = async () => (await boss.fetch<Job["data"]>(NAME))[0];
  const ack = async (job: Job | undefined) => {
    if (!job) return false;
    await boss.complete(NAME, job.id);
    return true;
  };
  return {
    enqueue: (n) => boss.send(NAME, payloadOf(n)),
    drain: () => drainBy(lanes, async () => ack(await claim())),
    claimTimes: (times) => timeClaims(times, claim, ack),
    consume: async (started) => {
      await boss.work<Job["data"]>(NAME, { pollingIntervalSeconds: POLL_SECONDS }, async ([job]) => {
        if (job) started(job.data.n);
      });
      return () => boss.offWork(NAME);
    },
    age: (rows) =>
      boss.getDb().executeSql(
        `insert into pgboss.job (name, data, state, started_on, completed_on)
        select $1, $2::jsonb, (case when n % 10 = 0 then 'failed' else 'completed' end)::pgboss.job_state, now(), now()
        from generate_series(1, $3::int) n`,
        [NAME, payloadOf(0), rows],
      ),
    close: () => boss.stop(),
  };
}
