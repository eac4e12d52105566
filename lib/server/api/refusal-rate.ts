const WINDOW_MS = 60_000;
const MOST_REFUSALS = 60;
/** Beyond this many pairs the stalest are forgotten: the limit protects the database, it is no accounting. */
const MOST_PAIRS = 10_000;

/**
 * Counts one principal's refusals on one object, to slow down a caller that asks again and again instead of waiting.
 * Source: http-api `slow_down`.
 */
export class RefusalRate {
  readonly #times = new Map<string, number[]>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Seconds until the next one is heard; 0 when it is heard now. */
  waitSeconds(principal: string, object: string): number {
    const recent = this.#recent(`${principal} ${object}`);
    const [oldest] = recent;
    if (oldest === undefined || recent.length <= MOST_REFUSALS) return 0;
    return Math.max(1, Math.ceil((oldest + WINDOW_MS - this.now()) / 1000));
  }

  count(principal: string, object: string): void {
    const pair = `${principal} ${object}`;
    const recent = this.#recent(pair);
    recent.push(this.now());
    // Deleted and set again, so that the map's order is from the stalest to the freshest.
    this.#times.delete(pair);
    this.#times.set(pair, recent);
    const [stalest] = this.#times.keys();
    if (this.#times.size > MOST_PAIRS && stalest !== undefined) this.#times.delete(stalest);
  }

  #recent(pair: string): number[] {
    const since = this.now() - WINDOW_MS;
    return (this.#times.get(pair) ?? []).filter((time) => time > since).slice(-(MOST_REFUSALS + 1));
  }
}
