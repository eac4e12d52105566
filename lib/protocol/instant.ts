/** A moment of the database's clock: RFC 3339, UTC, six digits, so that text order is time order. Source: protocol §9. */
export type Instant = string & { readonly __brand: "Instant" };

/** The clock as one verb reads it, once, after the run's lock. `ms` is the floor of `at` in epoch milliseconds. */
export interface Now {
  readonly at: Instant;
  readonly ms: number;
}

/** Reads PostgreSQL's ISO output in UTC (`2026-01-02 03:04:05.6+00`) or an RFC 3339 text; throws on anything else. */
export function instant(text: string): Instant {
  const parts = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?(?:Z|\+00(?::?00)?)$/.exec(text);
  if (!parts) throw new TypeError(`${JSON.stringify(text)} is no instant in UTC`);
  return `${parts[1]}T${parts[2]}.${(parts[3] ?? "").padEnd(6, "0")}Z` as Instant;
}

/** Whole epoch milliseconds, rounded down. */
export function msOf(at: Instant): number {
  return Date.parse(`${at.slice(0, 23)}Z`);
}

/** Later by whole milliseconds; the microseconds stay. */
export function plusMs(at: Instant, ms: number): Instant {
  return `${new Date(msOf(at) + ms).toISOString().slice(0, 23)}${at.slice(23, 26)}Z` as Instant;
}

export function nowAt(at: Instant): Now {
  return { at, ms: msOf(at) };
}
