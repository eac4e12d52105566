import { performance } from "node:perf_hooks";

/** How often something was done a second, at a number of clients. */
export interface Rate {
  readonly clients: number;
  readonly perSecond: number;
}

/**
 * Do `once` over and over with so many clients until each of `items` was taken. Items are made before the clock starts, so that
 * only the act itself is timed.
 */
export async function rateOf<Item>(
  clients: number,
  items: readonly Item[],
  once: (item: Item) => Promise<unknown>,
): Promise<Rate> {
  let next = 0;
  const began = performance.now();
  const lane = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await once(item);
  };
  await Promise.all(Array.from({ length: clients }, lane));
  return { clients, perSecond: (items.length * 1_000) / (performance.now() - began) };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
