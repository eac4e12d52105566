/** Long polls and streams that one principal may hold open. Source: http-api `?wait=`. */
const MOST_WAITERS = 20;

/** Counts what is held open, so that one agent cannot take all of a process's connections. */
export class WaiterCount {
  readonly #held = new Map<string, number>();

  /** Null: the principal holds too many. Otherwise call what is returned when it is over; calling it twice counts once. */
  take(principal: string): (() => void) | null {
    const held = this.#held.get(principal) ?? 0;
    if (held >= MOST_WAITERS) return null;
    this.#held.set(principal, held + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.#held.get(principal) ?? 1) - 1;
      if (left > 0) this.#held.set(principal, left);
      else this.#held.delete(principal);
    };
  }
}
