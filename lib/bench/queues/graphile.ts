import { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import { Logger, makeWorkerUtils, type RunnerOptions, run, runOnce, type WorkerEvents } from "graphile-worker";
import pg from "pg";
import { type Drained, epochMs, payloadOf, type Queue, type QueueAddress } from "./queue";

const TASK = "bench";
const logger = new Logger(() => (level, message) => {
  if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`);
});

/** graphile-worker: its own worker takes the jobs, since it has no call that takes one. What is done it deletes. */
export async function openGraphile({ ownerUrl, lanes }: QueueAddress): Promise<Queue> {
  // Its idle connections stay, as the others' do.
  const pgPool = new pg.Pool({ connectionString: ownerUrl, max: lanes + 2, idleTimeoutMillis: 0 });
  const fail = (error: Error) => {
    throw error;
  };
  pgPool.on("error", fail);
  pgPool.on("connect", (client) => client.on("error", fail));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  await Promise.all(Array.from({ length: lanes }, () => pgPool.query("select pg_sleep(0.05)")));
  const common = { pgPool, logger, noHandleSignals: true } satisfies RunnerOptions;
  return {
    enqueue: (n) => utils.addJob(TASK, payloadOf(n)),
    drain: () => drain({ ...common, concurrency: lanes }),
    claimTimes: (times) => claimTimes(common, times),
    consume: async (started) => {
      const taskList = { [TASK]: async (payload: unknown) => started((payload as { n: number }).n) };
      const runner = await run({ ...common, concurrency: 4, taskList });
      return () => runner.stop();
    },
    // What is done leaves no row: these are jobs that failed for good.
    age: (rows) =>
      pgPool.query(
        `insert into graphile_worker._private_jobs (task_id, payload, attempts, max_attempts, last_error)
        select (select id from graphile_worker._private_tasks where identifier = $1), $2::json, 25, 25, 'failed'
        from generate_series(1, $3::int) n`,
        [TASK, payloadOf(0), rows],
      ),
    close: async () => {
      await utils.release();
      await pgPool.end();
    },
  };
}

/** Its clock starts when the first handler does: what it looks at before it claims is not counted. */
async function drain(options: RunnerOptions): Promise<Drained> {
  let jobs = 0;
  let beganAt = 0;
  const handler = async () => {
    if (jobs === 0) beganAt = epochMs();
    jobs += 1;
  };
  await runOnce({ ...options, taskList: { [TASK]: handler } });
  return { jobs, beganAt, endedAt: epochMs() };
}

/** From its own events: it asks for a job, and has one. */
async function claimTimes(options: RunnerOptions, times: number): Promise<readonly number[]> {
  const taken: number[] = [];
  let asked = 0;
  const events: WorkerEvents = new EventEmitter();
  events.on("worker:getJob:start", () => {
    asked = performance.now();
  });
  events.on("job:start", () => taken.push(performance.now() - asked));
  await runOnce({ ...options, concurrency: 1, events, taskList: { [TASK]: async () => undefined } });
  return taken.slice(0, times);
}
