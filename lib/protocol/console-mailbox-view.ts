import type { JobKind, JobOrigin, JobStatus } from "./mailbox-job";

/** One job as the Mailbox page lists it. Times are epoch ms. */
export interface JobRow {
  readonly job_id: string;
  readonly mailbox_id: string;
  readonly agent: string | null;
  readonly kind: JobKind;
  /** Only workers over HTTP take it. */
  readonly outside: boolean;
  readonly run_id: string | null;
  readonly origin: JobOrigin;
  readonly priority: number;
  readonly status: JobStatus;
  readonly generation: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly claimed_by: string | null;
  readonly lease_until_ms: number | null;
  /** Set while it is queued for later. */
  readonly available_at_ms: number | null;
  readonly created_at_ms: number;
}

export interface MailboxRow {
  readonly mailbox_id: string;
  readonly generation: number;
  readonly queued: number;
  /** The claimed job. */
  readonly active: string | null;
}

export interface MailboxPage {
  readonly rows: readonly JobRow[];
  readonly next_cursor: string | null;
  /** Each counted up to `count_cap`. */
  readonly counts: Readonly<Record<JobStatus, number>>;
  readonly count_cap: number;
  readonly oldest_due_ms: number | null;
  /** Those with work, the ones that wait longest first. */
  readonly mailboxes: readonly MailboxRow[];
  readonly mailboxes_in_all: number;
  /** Our own worker processes of the last day; those seen last come first. */
  readonly workers: readonly { readonly worker_id: string; readonly last_seen_ms: number; readonly polls: boolean }[];
  readonly now_ms: number;
}
