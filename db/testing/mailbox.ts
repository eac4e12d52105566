import type { Job, JobClaim, JobStatus } from "@/lib/protocol/mailbox-job";

/** What the conformance suite asks for; every part that is left out has the default of protocol §10. */
export interface MailboxRequest {
  readonly mailboxId: string;
  readonly priority?: number;
  readonly dedupeKey?: string;
  readonly origin?: Job["origin"];
  /** Ms from now, by the implementation's clock. */
  readonly availableInMs?: number;
  readonly maxAttempts?: number;
}

export interface Claimed extends JobClaim {
  readonly job: Job;
}

/** A refusal is its code. */
export type Refusable<Value> = Value | { readonly refused: string };

/** A durable queue as the conformance suite sees one. Source: protocol §10, [S2] MailboxStore. */
export interface Mailbox {
  enqueue(request: MailboxRequest): Promise<Refusable<Job>>;
  /** The first that is due, of one mailbox or of any. */
  claim(claimer: string, leaseMs: number, mailboxId?: string): Promise<Claimed | null>;
  claimById(jobId: string, claimer: string, leaseMs: number): Promise<Claimed | null>;
  ack(claim: JobClaim): Promise<Refusable<Job>>;
  nack(claim: JobClaim, error: string, permanent?: boolean): Promise<Refusable<Job>>;
  defer(claim: JobClaim, delayMs: number): Promise<Refusable<Job>>;
  extend(claim: JobClaim, leaseMs: number): Promise<Refusable<Job>>;
  start(claim: JobClaim): Promise<Refusable<Job>>;
  recordResult(claim: JobClaim, result: string): Promise<Refusable<Job>>;
  cancel(jobId: string): Promise<Refusable<Job | null>>;
  requeue(jobId: string): Promise<Refusable<Job | null>>;
  interrupt(
    mailboxId: string,
  ): Promise<Refusable<{ newGeneration: number; activeJob: Job | null; superseded: readonly Job[] }>>;
  /** Act on leases that are over; gives how many there were. */
  sweep(): Promise<number>;
  purge(olderThanMs: number): Promise<number>;
  job(jobId: string): Promise<Job | null>;
  list(
    filter: { mailboxId?: string; status?: JobStatus },
    limit: number,
    cursor?: string | null,
  ): Promise<{
    jobs: readonly Job[];
    next: string | null;
  }>;
  counts(): Promise<Readonly<Record<JobStatus, number>>>;
  queuedMailboxes(): Promise<readonly string[]>;
  generation(mailboxId: string): Promise<number | null>;
}
