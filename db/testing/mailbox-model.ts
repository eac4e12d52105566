import { backoffMs, type JobStatus } from "@/lib/protocol/mailbox-job";

/** What four virtual workers, an operator and time do to two mailboxes. Numbers pick among what there is, so nothing is out of range. */
export type MailboxCommand =
  | {
      readonly do: "enqueue";
      readonly box: number;
      readonly priority: number;
      readonly dedupe: boolean;
      readonly last: boolean;
    }
  | { readonly do: "claim"; readonly worker: number; readonly box: number | null }
  | {
      readonly do: "ack" | "nack" | "give up" | "defer" | "extend" | "start";
      readonly worker: number;
      readonly nth: number;
    }
  | { readonly do: "cancel" | "requeue" | "expire" | "reach the end"; readonly nth: number }
  | { readonly do: "interrupt"; readonly box: number }
  | { readonly do: "sweep" | "ripen" };

export interface ModelJob {
  readonly box: number;
  readonly priority: number;
  readonly dedupe: boolean;
  readonly most: number;
  status: JobStatus;
  generation: number;
  attempts: number;
  /** The number of the claim that holds it; 0 while none does. */
  claim: number;
  lapsed: boolean;
  resting: boolean;
}

/** A claim that a worker once made; it may be stale by now. */
export interface ModelClaim {
  readonly job: number;
  readonly claim: number;
}

/** The mailbox of protocol §10 in a few lines: no clock, no database, no concurrency. An answer is `ok`, a code, or a job's number. */
export class MailboxModel {
  readonly jobs: ModelJob[] = [];
  readonly generations = [0, 0];
  readonly claims: ModelClaim[][] = [[], [], [], []];
  private claimed = 0;

  apply(command: MailboxCommand): string {
    switch (command.do) {
      case "enqueue":
        return this.enqueue(command);
      case "claim":
        return this.claim(command.worker, command.box);
      case "cancel":
        return this.onJob(command.nth, "Queued", (job) => this.leave(job, "Cancelled"));
      case "requeue":
        return this.onJob(command.nth, "DeadLetter", (job) => this.requeue(job));
      case "expire":
        return this.onJob(command.nth, "Claimed", (job) => {
          job.lapsed = true;
          return undefined;
        });
      // A lease is over after its end: at its end it is not.
      case "reach the end":
        return this.onJob(command.nth, "Claimed", (job) => {
          job.lapsed = false;
          return undefined;
        });
      case "interrupt":
        return this.interrupt(command.box);
      case "sweep":
        return this.sweep();
      case "ripen":
        for (const job of this.jobs) job.resting = false;
        return "ok";
      default:
        return this.report(command.do, this.claimOf(command.worker, command.nth));
    }
  }

  claimOf(worker: number, nth: number): ModelClaim | null {
    const made = this.claims[worker] ?? [];
    return made.length === 0 ? null : (made[nth % made.length] ?? null);
  }

  jobOf(nth: number): number | null {
    return this.jobs.length === 0 ? null : nth % this.jobs.length;
  }

  private enqueue({ box, priority, dedupe, last }: Extract<MailboxCommand, { do: "enqueue" }>): string {
    if (dedupe && this.jobs.some((job) => job.dedupe && job.box === box && isLive(job))) return "duplicate_job";
    const generation = this.generations[box] ?? 0;
    const fresh = { status: "Queued", generation, attempts: 0, claim: 0, lapsed: false, resting: false } as const;
    this.jobs.push({ box, priority, dedupe, most: last ? 1 : 3, ...fresh });
    return "ok";
  }

  private claim(worker: number, box: number | null): string {
    const busy = new Set(this.jobs.filter((job) => job.status === "Claimed").map((job) => job.box));
    const due = this.jobs
      .map((job, at) => ({ job, at }))
      .filter(
        ({ job }) => job.status === "Queued" && !job.resting && !busy.has(job.box) && (box === null || job.box === box),
      )
      .sort((a, b) => a.job.priority - b.job.priority || a.at - b.at);
    const [first] = due;
    if (!first) return "none";
    this.claimed += 1;
    Object.assign(first.job, {
      status: "Claimed",
      claim: this.claimed,
      attempts: first.job.attempts + 1,
      lapsed: false,
    });
    this.claims[worker]?.push({ job: first.at, claim: this.claimed });
    return String(first.at);
  }

  private report(what: "ack" | "nack" | "give up" | "defer" | "extend" | "start", held: ModelClaim | null): string {
    const job = held === null ? undefined : this.jobs[held.job];
    if (!job || !held) return "none";
    if (job.status !== "Claimed" || job.claim !== held.claim) return "stale_claim";
    if (job.generation < (this.generations[job.box] ?? 0)) {
      this.leave(job, "Superseded");
      return "stale_claim";
    }
    if (job.lapsed) return "stale_claim";
    if (what === "ack") this.leave(job, "Accepted");
    if (what === "defer") {
      job.attempts -= 1;
      this.leave(job, "Queued");
    }
    if (what === "give up" || (what === "nack" && job.attempts >= job.most)) this.leave(job, "DeadLetter");
    else if (what === "nack") {
      job.resting = backoffMs(job.attempts) > 0;
      this.leave(job, "Queued");
    }
    return "ok";
  }

  private interrupt(box: number): string {
    if (!this.jobs.some((job) => job.box === box)) return "unknown_job";
    this.generations[box] = (this.generations[box] ?? 0) + 1;
    for (const job of this.jobs) if (job.box === box && job.status === "Queued") this.leave(job, "Superseded");
    return "ok";
  }

  private sweep(): string {
    for (const job of this.jobs.filter((held) => held.status === "Claimed" && held.lapsed)) {
      const outdated = job.generation < (this.generations[job.box] ?? 0);
      this.leave(job, outdated ? "Superseded" : job.attempts >= job.most ? "DeadLetter" : "Queued");
    }
    return "ok";
  }

  private requeue(job: ModelJob): string | undefined {
    if (job.dedupe && this.jobs.some((live) => live.dedupe && live.box === job.box && isLive(live)))
      return "duplicate_job";
    Object.assign(job, { attempts: 0, generation: this.generations[job.box] ?? 0, resting: false });
    this.leave(job, "Queued");
    return undefined;
  }

  private onJob(nth: number, from: JobStatus, act: (job: ModelJob) => string | undefined): string {
    const at = this.jobOf(nth);
    const job = at === null ? undefined : this.jobs[at];
    if (!job) return "none";
    if (job.status !== from) return "unchanged";
    return act(job) ?? "ok";
  }

  private leave(job: ModelJob, status: JobStatus): undefined {
    Object.assign(job, { status, claim: 0, lapsed: false });
    return undefined;
  }
}

function isLive({ status }: ModelJob): boolean {
  return status === "Queued" || status === "Claimed";
}
