import postgres from "postgres";
import { acrossWorkspaces, connect } from "@/db/client";
import { Listener, Notifier } from "@/db/notifier";
import { ensureWorkspace, localCaller } from "@/db/store/identity";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { enqueueJob } from "@/db/store/mailbox/enqueue";
import { ackJob } from "@/db/store/mailbox/report";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { must } from "../verbs";
import { drainBy, payloadOf, type Queue, type QueueAddress, timeClaims } from "./queue";

/** How many jobs a mailbox of old rows has had. */
const JOBS_A_THREAD = 10;

/** The mailbox: the store's verbs as a worker calls them, each job in a mailbox of its own, as the jobs of HTTP runs are. */
export async function openOurs({ url, ownerUrl, lanes }: QueueAddress): Promise<Queue> {
  const notifier = new Notifier(url);
  const db = await connect(url, { role: "holdpoint_worker", max: lanes, onCommit: notifier.tell });
  const workspace = await ensureWorkspace(db);
  const system = await localCaller(db, workspace, "system", "holdpoint", "worker");
  await Promise.all(Array.from({ length: lanes }, () => acrossWorkspaces(db, (sql) => sql`select pg_sleep(0.05)`)));
  const claim = async () => (await claimNext(db, { claimer: "bench" }))[0];
  const ack = async (job: ClaimedJob | undefined) => {
    // Every candidate may be in the hands of other claimers just now: none means "nothing" only when nothing is queued.
    if (!job) return anyQueued();
    must(await ackJob(db, system, job));
    return true;
  };
  const anyQueued = async () => (await owner`select from jobs where status = 'Queued' limit 1`).length > 0;
  const owner = postgres(ownerUrl, { max: 1, onnotice: () => undefined });
  return {
    enqueue: async (n) =>
      must(
        await enqueueJob(db, system, {
          mailboxId: `bench-${n}`,
          origin: "Internal",
          messages: canonicalJson(payloadOf(n)),
        }),
      ),
    drain: () => drainBy(lanes, async () => ack(await claim())),
    claimTimes: (times) => timeClaims(times, claim, ack),
    consume: async (started) => {
      const listener = new Listener(url);
      const worker = idleWorker(claim, async (job) => {
        started(JSON.parse(job.messages ?? "").n);
        must(await ackJob(db, system, job));
      });
      const unsubscribe = listener.subscribe(worker.wake);
      return async () => {
        unsubscribe();
        await Promise.all([worker.stop(), listener.close()]);
      };
    },
    age: (rows) => age(owner, workspace, rows),
    close: async () => {
      await Promise.all([notifier.close(), owner.end({ timeout: 5 })]);
      await db.close();
    },
  };
}

/** The loop of `Worker.run` with another handler: claim while there is something, then rest until a notice or the poll. */
function idleWorker(claim: () => Promise<ClaimedJob | undefined>, work: (job: ClaimedJob) => Promise<void>) {
  let stopped = false;
  let woken = false;
  let wakeUp: () => void = () => undefined;
  const rest = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 1_000);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const running = (async () => {
    while (!stopped) {
      woken = false;
      const job = await claim();
      if (job) await work(job);
      else if (!woken) await rest();
    }
  })();
  const wake = () => {
    woken = true;
    wakeUp();
  };
  return {
    wake,
    stop: () => {
      stopped = true;
      wake();
      return running;
    },
  };
}

async function age(owner: postgres.Sql, workspace: string, rows: number): Promise<void> {
  await owner.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`
      insert into mailboxes (workspace_id, mailbox_id)
      select ${workspace}, 'old-' || n from generate_series(1, ${Math.ceil(rows / JOBS_A_THREAD)}::int) n on conflict do nothing`;
    await sql`
      insert into jobs (workspace_id, job_id, mailbox_id, kind, origin, generation, messages, status, attempt_count)
      select ${workspace}, gen_random_uuid(), 'old-' || (1 + n / ${JOBS_A_THREAD}::int), 'request', 'Internal', 0,
        ${canonicalJson(payloadOf(0))}, case when n % 10 = 0 then 'DeadLetter' else 'Accepted' end, 1
      from generate_series(1, ${rows - 1}::int) n`;
  });
}
