import type { Instant } from "./instant";

/** The durable queue of run requests. Source: protocol §10, [S2]. */
export const JOB_STATUSES = ["Queued", "Claimed", "Accepted", "DeadLetter", "Cancelled", "Superseded"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The edges of §10. `DeadLetter` alone is left again, by an operator's requeue. */
export const JOB_TRANSITIONS: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  Queued: ["Claimed", "Cancelled", "Superseded"],
  Claimed: ["Accepted", "Queued", "DeadLetter", "Superseded"],
  Accepted: [],
  DeadLetter: ["Queued"],
  Cancelled: [],
  Superseded: [],
};

/** In which order jobs are listed: as they are claimed (priority, then age), or newest first. */
export type JobOrder = "claims" | "newest";

export interface JobSection {
  readonly word: string;
  readonly statuses: readonly JobStatus[];
  readonly order: JobOrder;
}

const NOT_OVER: readonly JobSection[] = [
  { word: "Needs a person", statuses: ["DeadLetter"], order: "newest" },
  { word: "Under way", statuses: ["Claimed"], order: "claims" },
  { word: "Waiting", statuses: ["Queued"], order: "claims" },
];

/** How jobs are listed: what nobody but a person moves, what is being worked on, what waits for that, and what is over. */
export const JOB_SECTIONS: readonly JobSection[] = [
  ...NOT_OVER,
  {
    word: "Over",
    statuses: JOB_STATUSES.filter((status) => !NOT_OVER.some((section) => section.statuses.includes(status))),
    order: "newest",
  },
];

export const JOB_KINDS = ["request", "resume", "cancel", "notice"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** What an interrupt supersedes is work that is no longer wanted. What a run is owed (its end, news of a relative) stays due. */
export const SUPERSEDED_KINDS = ["request", "resume"] as const satisfies readonly JobKind[];

export const JOB_ORIGINS = ["User", "A2A", "Internal"] as const;
export type JobOrigin = (typeof JOB_ORIGINS)[number];

/** 0 is first, 255 last. */
export const JOB_PRIORITY_DEFAULT = 128;
export const JOB_MAX_ATTEMPTS = 5;
/** A claim's lease, and how often its worker renews it. */
export const JOB_LEASE_MS = 30_000;
export const JOB_RENEW_MS = 10_000;

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MOST_MS = 30_000;

/** How long a job rests after its n-th attempt failed: 250 ms, doubling, at most 30 s. */
export function backoffMs(attempt: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(Math.max(attempt, 1) - 1, 10), BACKOFF_MOST_MS);
}

/** A job as its row says it. Texts of JSON are canonical. Source: schema `jobs`. */
export interface Job {
  readonly jobId: string;
  readonly mailboxId: string;
  readonly agent: string | null;
  readonly kind: JobKind;
  readonly outside: boolean;
  /** The run that it moves, by the agent's word for it and by ours. */
  readonly runId: string | null;
  readonly run: string | null;
  readonly ticketId: string | null;
  readonly messages: string | null;
  readonly origin: JobOrigin;
  readonly senderId: string | null;
  readonly parentRunId: string | null;
  readonly requestExtras: string | null;
  readonly priority: number;
  readonly dedupeKey: string | null;
  readonly generation: number;
  readonly status: JobStatus;
  readonly availableAt: Instant;
  readonly attemptCount: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly claimToken: string | null;
  readonly claimedBy: string | null;
  readonly leaseUntil: Instant | null;
  readonly startedAt: Instant | null;
  readonly result: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What its holder shows of a claim: both must be the job's at the moment of the write. */
export interface JobClaim {
  readonly jobId: string;
  readonly token: string;
}
