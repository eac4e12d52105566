import "server-only";

export interface AttemptLimits {
  /** Attempts by one name in the window. */
  readonly perName: number;
  /** Attempts by all names together: hashing a password is dear on purpose. */
  readonly together: number;
  readonly windowMs: number;
}

/**
 * Counts attempts by name, in this process.
 *
 * Addresses are not counted: behind a proxy they are headers that anybody may write. The name is what an
 * attacker cannot change without changing the target.
 */
export class Attempts {
  private readonly byName = new Map<string, number[]>();
  private all: number[] = [];

  constructor(private readonly limits: AttemptLimits) {}

  /** Count one. Answers null when it may go on, else how many milliseconds to wait. */
  take(name: string, now: number): number | null {
    const since = now - this.limits.windowMs;
    this.all = this.all.filter((at) => at > since);
    const own = (this.byName.get(name) ?? []).filter((at) => at > since);
    const oldest =
      own.length >= this.limits.perName ? own[0] : this.all.length >= this.limits.together ? this.all[0] : null;
    if (oldest != null) return oldest - since;
    own.push(now);
    this.all.push(now);
    this.byName.set(name, own);
    this.forgetOld(since);
    return null;
  }

  /** A success clears the name: its owner's own mistakes must not add up. */
  clear(name: string): void {
    this.byName.delete(name);
  }

  private forgetOld(since: number): void {
    // What is counted together bounds what can be fresh; the rest is old.
    if (this.byName.size <= this.limits.together) return;
    for (const [name, times] of this.byName) if ((times.at(-1) ?? 0) <= since) this.byName.delete(name);
  }
}
