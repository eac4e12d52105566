/**
 * Who is told a refusal's facts: everyone with a right to the object, its executor, the deciding person, operators and owners,
 * a mailbox worker, or anyone at all.
 */
export type Audience = "anyone" | "all" | "executor" | "decider" | "operators" | "worker";

export interface RefusalRule {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 503;
  readonly sees: readonly Audience[];
  readonly title: string;
  /** What the caller does next. */
  readonly advice: string;
  /** Time alone cures it, so the answer says how long. */
  readonly retryAfter?: true;
}
