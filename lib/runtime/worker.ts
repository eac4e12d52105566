import { randomUUID } from "node:crypto";
import os from "node:os";
import { Busy, connect, type Db, Unsure } from "@/db/client";
import { Listener, Notifier } from "@/db/notifier";
import { localCaller } from "@/db/store/identity";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { ackJob, deferJobBy, extendJob, nackJob } from "@/db/store/mailbox/report";
import { purgeJobs, sweepClaims } from "@/db/store/mailbox/sweep";
import { sweepRun } from "@/db/store/operate";
import { dueRuns, endSilentTransactions, seeWorker } from "@/db/store/workers";
import { JOB_LEASE_MS, JOB_RENEW_MS } from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { type Delivered, deliver } from "./deliver";
import { type FailAt, killAt } from "./failpoint";
import type { Reach } from "./gateway/effect";
import { type ModelEnvironment, modelFor } from "./model/models";
import { wordsOf } from "./words-of";

export interface WorkerOptions extends Reach {
  readonly databaseUrl: string;
  readonly stop: AbortSignal;
  readonly failpoint?: string | null;
  /** How many jobs it holds at once, each of another mailbox. */
  readonly concurrency?: number;
  /** Of a claim, in ms; it is renewed three times in it. Tests of lost leases shorten it. */
  readonly leaseMs?: number;
  /** What its agents may ask for their next step; absent: no model, and an agent that needs one fails in words. */
  readonly models?: ModelEnvironment;
  /** Each failure of the worker itself, for its log. */
  readonly onError?: (error: unknown) => void;
  /** What its operator should know, in a sentence. */
  readonly onNotice?: (sentence: string) => void;
}

const POLL_MS = 1_000;
const LOOK_AGAIN_MS = 1_000;
const SWEEP_MS = 2_000;
const SEEN_MS = 5_000;
const PURGE_MS = 3_600_000;
/** What is over is kept for a month, for whoever asks what became of it. */
const KEEP_JOBS_MS = 30 * 24 * 3_600_000;
const CONCURRENCY = 4;

/** Work until told to stop: claim, move the run, ack; sweep deadlines and leases; say that this worker is there. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const concurrency = options.concurrency ?? CONCURRENCY;
  const notifier = new Notifier(options.databaseUrl);
  const listener = new Listener(options.databaseUrl, options.onNotice);
  const db = await connect(options.databaseUrl, {
    role: "holdpoint_worker",
    max: concurrency + 2,
    onCommit: notifier.tell,
  });
  const worker = new Worker(db, options);
  const unsubscribe = listener.subscribe(() => worker.wake());
  try {
    await worker.run();
  } finally {
    unsubscribe();
    await Promise.allSettled([listener.close(), notifier.close()]);
    await db.close();
  }
}

/** One worker. `tick` does all that is due now, so that tests need no clock. */
export class Worker {
  readonly name = `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  private readonly failAt: FailAt;
  private readonly leaseMs: number;
  private readonly concurrency: number;
  private readonly callers = new Map<string, Caller>();
  private readonly active = new Set<Promise<void>>();
  private readonly doneAt = {
    see: Number.NEGATIVE_INFINITY,
    sweep: Number.NEGATIVE_INFINITY,
    purge: performance.now(),
  };
  private wakeUp: (() => void) | null = null;
  private woken = false;

  constructor(
    private readonly db: Db,
    private readonly options: Omit<WorkerOptions, "databaseUrl">,
  ) {
    this.failAt = killAt(options.failpoint ?? null);
    this.leaseMs = options.leaseMs ?? JOB_LEASE_MS;
    this.concurrency = options.concurrency ?? CONCURRENCY;
  }

  /** Also while a claim is under way: what was committed behind its back is looked for again. */
  wake(): void {
    this.woken = true;
    this.wakeUp?.();
  }

  /** Claim as long as there is room, rest when nothing is due. Told to stop, it claims no more and finishes what it holds. */
  async run(): Promise<void> {
    const { stop } = this.options;
    stop.addEventListener("abort", () => this.wake(), { once: true });
    while (!stop.aborted) {
      this.woken = false;
      const taken = await this.safely(async () => {
        await this.upkeep();
        const room = this.concurrency - this.active.size;
        const jobs = room > 0 ? await this.claim(room) : [];
        for (const job of jobs) this.begin(job);
        return jobs.length > 0;
      });
      if (!taken && !stop.aborted) await this.rest();
    }
    await Promise.all(this.active);
  }

  /** Do what is due: at most one job, and the sweep when its time has come. True when there may be more. */
  async tick(): Promise<boolean> {
    await this.upkeep();
    const [job] = await this.claim(1);
    if (!job) return false;
    await this.work(job);
    return true;
  }

  private async claim(most: number): Promise<readonly ClaimedJob[]> {
    return claimNext(this.db, { claimer: this.name, leaseMs: this.leaseMs, most });
  }

  private begin(job: ClaimedJob): void {
    const working = this.work(job)
      .catch((error: unknown) => this.options.onError?.(error))
      .finally(() => {
        this.active.delete(working);
        this.wake();
      });
    this.active.add(working);
  }

  private async upkeep(): Promise<void> {
    if (this.isDue("see", SEEN_MS)) await seeWorker(this.db, this.name);
    if (this.isDue("sweep", SWEEP_MS)) await this.sweep();
    if (this.isDue("purge", PURGE_MS)) await purgeJobs(this.db, KEEP_JOBS_MS);
  }

  private isDue(what: keyof typeof this.doneAt, everyMs: number): boolean {
    const now = performance.now();
    if (now - this.doneAt[what] <= everyMs) return false;
    this.doneAt[what] = now;
    return true;
  }

  /** What time has brought about, in every workspace; also what dead workers held. */
  async sweep(): Promise<void> {
    await endSilentTransactions(this.db);
    await sweepClaims(this.db, (workspace) => this.system(workspace));
    for (const { workspaceId, run } of await dueRuns(this.db)) {
      await this.safely(async () => {
        await sweepRun(this.db, await this.system(workspaceId), run);
        return true;
      });
    }
  }

  private async work(job: ClaimedJob): Promise<void> {
    const { models } = this.options;
    const system = await this.system(job.workspace);
    const held = new AbortController();
    const heart = this.keepAlive(job, system, held);
    try {
      const delivered = await deliver(
        {
          db: this.db,
          system,
          worker: this.name,
          job,
          reach: this.options,
          failAt: this.failAt,
          ...(models ? { modelFor: ({ provider }) => modelFor(provider, models) } : {}),
          stop: AbortSignal.any([held.signal, this.options.stop]),
        },
        job,
      );
      await this.tell(job, system, delivered);
    } catch (error) {
      this.options.onError?.(error);
      await this.giveBack(job, system, error);
    } finally {
      clearInterval(heart);
    }
  }

  /** A refusal here is a claim lost meanwhile: it is recorded, and somebody else has the job by now. */
  private async tell(job: ClaimedJob, system: Caller, delivered: Delivered): Promise<void> {
    try {
      switch (delivered.kind) {
        case "acked":
          break;
        case "done":
          await ackJob(this.db, system, job);
          break;
        case "later":
          await deferJobBy(this.db, system, job, delivered.inMs);
          break;
        case "never":
          await nackJob(this.db, system, job, { permanent: true, error: delivered.why });
          break;
      }
    } catch (error) {
      if (!(error instanceof Unsure)) throw error;
      // Where it was kept, the claim is over, and another word of ours would be a stale one; where it was not, its lease will be.
      this.options.onError?.(error);
    }
  }

  /** A busy run, or a database that was away, is no failure of the job: it costs no attempt. Source: protocol §10. */
  private async giveBack(job: ClaimedJob, system: Caller, error: unknown): Promise<void> {
    if (error instanceof Busy) {
      await deferJobBy(this.db, system, job, LOOK_AGAIN_MS);
      return;
    }
    await nackJob(this.db, system, job, { permanent: false, error: wordsOf(error) });
  }

  /**
   * Renew the claim while its job is worked on. A claim that cannot be renewed is another's by now, or will be: whatever is under
   * way must not go on as if it were ours.
   */
  private keepAlive(job: ClaimedJob, system: Caller, held: AbortController): NodeJS.Timeout {
    let renewedAt = performance.now();
    return setInterval(
      () => {
        const asked = performance.now();
        if (asked - renewedAt > this.leaseMs) held.abort();
        void extendJob(this.db, system, job, this.leaseMs).then(
          (extended) => {
            if (extended.ok) renewedAt = asked;
            else held.abort();
          },
          () => undefined,
        );
      },
      Math.min(this.leaseMs / 3, JOB_RENEW_MS),
    );
  }

  private async system(workspace: string): Promise<Caller> {
    const known = this.callers.get(workspace);
    if (known) return known;
    const caller = await localCaller(this.db, workspace, "system", "holdpoint", "worker");
    this.callers.set(workspace, caller);
    return caller;
  }

  /** The third place where a failure is caught: the worker lives on and looks again after a rest. */
  private async safely(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.options.onError?.(error);
      return false;
    }
  }

  private async rest(): Promise<void> {
    if (this.woken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = null;
  }
}
