import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { Listener, Notifier } from "@/db/notifier";
import { drainBy, payloadOf, type Queue, type QueueAddress, timeClaims } from "./queue";

/**
 * PostgreSQL itself: a plain table without keys to others, an index in the order of claims, one statement an act. Notices go out
 * beside the commits, as ours do: in them they would hold every other commit up.
 */
const SCHEMA = `
  create schema if not exists bench_queue;
  create table if not exists bench_queue.jobs (id uuid primary key, payload text not null, status text not null default 'Queued',
    priority smallint not null default 128, created_at timestamptz not null default clock_timestamp(), attempt int not null default 0,
    token uuid, lease_until timestamptz);
  create index if not exists jobs_order on bench_queue.jobs (priority, created_at, id) where status = 'Queued';
`;

interface Taken {
  readonly id: string;
  readonly payload: string;
  readonly token: string;
}

export async function openByHand({ ownerUrl, lanes }: QueueAddress): Promise<Queue> {
  const sql = postgres(ownerUrl, { max: lanes, onnotice: () => undefined });
  const notifier = new Notifier(ownerUrl);
  await sql.unsafe(SCHEMA);
  await Promise.all(Array.from({ length: lanes }, () => sql`select pg_sleep(0.05)`));
  const claim = async () => {
    const [job] = await sql<Taken[]>`
      update bench_queue.jobs set status = 'Claimed', attempt = attempt + 1, token = gen_random_uuid(),
        lease_until = clock_timestamp() + interval '30 s'
      where id = (select id from bench_queue.jobs where status = 'Queued' order by priority, created_at, id
        limit 1 for update skip locked)
      returning id, payload, token`;
    return job;
  };
  const ack = async (job: Taken | undefined) => {
    if (!job) return false;
    await sql`update bench_queue.jobs set status = 'Accepted', token = null, lease_until = null
      where id = ${job.id} and token = ${job.token}`;
    return true;
  };
  return {
    enqueue: async (n) => {
      await sql`insert into bench_queue.jobs (id, payload) values (${randomUUID()}, ${JSON.stringify(payloadOf(n))})`;
      notifier.tell({ workspace: "by hand", runs: [] });
    },
    drain: () => drainBy(lanes, async () => ack(await claim())),
    claimTimes: (times) => timeClaims(times, claim, ack),
    consume: async (started) => {
      let looking = Promise.resolve();
      const look = async () => {
        for (let job = await claim(); job; job = await claim()) {
          started(JSON.parse(job.payload).n);
          await ack(job);
        }
      };
      const listener = new Listener(ownerUrl);
      listener.subscribe(() => {
        looking = looking.then(look);
      });
      return async () => {
        await listener.close();
        await looking;
      };
    },
    age: (rows) => sql`
      insert into bench_queue.jobs (id, payload, status, attempt)
      select gen_random_uuid(), ${JSON.stringify(payloadOf(0))}, case when n % 10 = 0 then 'DeadLetter' else 'Accepted' end, 1
      from generate_series(1, ${rows}::int) n`,
    close: async () => {
      await notifier.close();
      await sql.end({ timeout: 5 });
    },
  };
}
