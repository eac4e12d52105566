import { randomUUID } from "node:crypto";
import os from "node:os";
import { connect, type Db } from "@/db/client";
import { Listener, Notifier } from "@/db/notifier";
import { localCaller } from "@/db/store/identity";
import {
  ackJob,
  type ClaimedJob,
  claimJob,
  deferJob,
  dueRuns,
  extendClaim,
  nackJob,
  requeueLapsed,
  seeWorker,
} from "@/db/store/jobs";
import { sweepRun } from "@/db/store/operate";
import { JOB_LEASE_MS } from "@/lib/protocol/mailbox-job";
import type { Caller } from "@/lib/protocol/principal";
import { advanceRun } from "./advance";
import { type FailAt, killAt } from "./failpoint";

export interface WorkerOptions {
  readonly databaseUrl: string;
  /** Folders beneath which the gateway may create files. */
  readonly writeRoots: readonly string[];
  readonly stop: AbortSignal;
  readonly failpoint?: string | null;
  /** Each failure of the worker itself, for its log. */
  readonly onError?: (error: unknown) => void;
}

const POLL_MS = 1_000;
const SWEEP_MS = 2_000;
const SEEN_MS = 5_000;

/** Work until told to stop: claim, move the run, ack; sweep deadlines and leases; say that this worker is there. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const notifier = new Notifier(options.databaseUrl);
  const listener = new Listener(options.databaseUrl);
  const db = await connect(options.databaseUrl, { role: "holdpoint_worker", max: 4, onCommit: notifier.tell });
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
  private readonly callers = new Map<string, Caller>();
  private wakeUp: (() => void) | null = null;
  private sweptAt = 0;
  private seenAt = 0;

  constructor(
    private readonly db: Db,
    private readonly options: Omit<WorkerOptions, "databaseUrl">,
  ) {
    this.failAt = killAt(options.failpoint ?? null);
  }

  wake(): void {
    this.wakeUp?.();
  }

  async run(): Promise<void> {
    const { stop } = this.options;
    stop.addEventListener("abort", () => this.wake(), { once: true });
    while (!stop.aborted) {
      const worked = await this.safely(() => this.tick());
      if (worked !== true && !stop.aborted) await this.rest();
    }
  }

  /** Do what is due: at most one job, and the sweep when its time has come. True when there may be more. */
  async tick(): Promise<boolean> {
    const now = performance.now();
    if (this.seenAt === 0 || now - this.seenAt > SEEN_MS) {
      this.seenAt = now;
      await seeWorker(this.db, this.name);
    }
    if (this.sweptAt === 0 || now - this.sweptAt > SWEEP_MS) {
      this.sweptAt = now;
      await this.sweep();
    }
    const job = await claimJob(this.db, this.name);
    if (!job) return false;
    await this.work(job);
    return true;
  }

  /** What time has brought about, in every workspace; also what dead workers held. */
  async sweep(): Promise<void> {
    await requeueLapsed(this.db);
    for (const { workspaceId, run } of await dueRuns(this.db)) {
      await this.safely(async () => {
        await sweepRun(this.db, await this.system(workspaceId), run);
        return true;
      });
    }
  }

  private async work(job: ClaimedJob): Promise<void> {
    const held = new AbortController();
    const stop = AbortSignal.any([held.signal, this.options.stop]);
    // A claim that cannot be renewed is another's by now: whatever is under way must not report as if it were ours.
    const heart = setInterval(() => {
      void extendClaim(this.db, job).then(
        (ours) => (ours ? undefined : held.abort()),
        () => undefined,
      );
    }, JOB_LEASE_MS / 3);
    try {
      const context = {
        db: this.db,
        system: await this.system(job.workspace),
        worker: this.name,
        job,
        writeRoots: this.options.writeRoots,
        failAt: this.failAt,
        stop,
      };
      const advanced = job.run === null ? { kind: "done" as const } : await advanceRun(context, job.run);
      if (advanced.kind === "done") await ackJob(this.db, job);
      else await deferJob(this.db, job, advanced.inMs);
    } catch (error) {
      this.options.onError?.(error);
      await nackJob(this.db, job, error instanceof Error ? error.message : String(error));
    } finally {
      clearInterval(heart);
    }
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
