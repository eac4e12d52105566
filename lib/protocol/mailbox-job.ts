/** The durable queue of run requests. Source: protocol §10, [S2]. */
export const JOB_STATUSES = ["Queued", "Claimed", "Accepted", "DeadLetter", "Cancelled", "Superseded"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_KINDS = ["request", "resume", "cancel", "notice"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_ORIGINS = ["User", "A2A", "Internal"] as const;
export type JobOrigin = (typeof JOB_ORIGINS)[number];

export const JOB_PRIORITY_DEFAULT = 128;
export const JOB_MAX_ATTEMPTS = 5;
export const JOB_LEASE_MS = 30_000;
