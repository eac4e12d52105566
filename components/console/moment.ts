/** How the console spells moments and spans. Absolute times are the reader's own; spans are by the server's clock. */
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;

/** For a time that is none: a stored event may have been tampered with, and the page must still say so. */
const UNREADABLE = "no readable time";

export function clock(atMs: number): string {
  return spell(CLOCK, atMs);
}

/** The whole moment with its zone, for a title. */
export function fullMoment(atMs: number): string {
  return spell(FULL, atMs);
}

/** For a machine to read; undefined when it is no time. */
export function machineTime(atMs: number): string | undefined {
  return isTime(atMs) ? new Date(atMs).toISOString() : undefined;
}

function spell(format: Intl.DateTimeFormat, atMs: number): string {
  return isTime(atMs) ? format.format(atMs) : UNREADABLE;
}

/** Within what a `Date` can hold. */
function isTime(atMs: number): boolean {
  return !Number.isNaN(new Date(atMs).getTime());
}

/** A clock time today, with its day before that. */
export function moment(atMs: number, nowMs: number): string {
  if (!isTime(atMs) || isSameDay(atMs, nowMs)) return clock(atMs);
  const day = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear() ? DAY : DAY_OF_YEAR;
  return `${day.format(atMs)}, ${clock(atMs)}`;
}

export function dayOf(atMs: number, nowMs: number): string {
  return isSameDay(atMs, nowMs) ? `today, ${clock(atMs)}` : spell(DAY_OF_YEAR, atMs);
}

function isSameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** As "6 min", "2 h", "3 d": one unit is enough for an age. */
export function span(ms: number): string {
  const passed = Math.max(0, ms);
  if (passed < SECOND) return "less than 1 s";
  if (passed < MINUTE) return `${Math.floor(passed / SECOND)} s`;
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR)} h`;
  return `${Math.floor(passed / DAY_MS)} d`;
}

/** For the narrowest column: "6 m". */
export function age(ms: number): string {
  return span(ms).replace("less than 1 s", "now").replace(" min", " m");
}

/** "12:19" under an hour, "1 h 25 m" above, "3 d 4 h" from a day on. */
export function countdown(ms: number): string {
  const left = Math.max(0, Math.floor(ms / SECOND));
  const two = (value: number) => String(value).padStart(2, "0");
  if (left < 3_600) return `${Math.floor(left / 60)}:${two(left % 60)}`;
  if (left < 86_400) return `${Math.floor(left / 3_600)} h ${two(Math.floor((left % 3_600) / 60))} m`;
  return `${Math.floor(left / 86_400)} d ${Math.floor((left % 86_400) / 3_600)} h`;
}

/** How near a deadline is: under 15 minutes soon, under one minute now. */
export function nearness(msLeft: number): "far" | "soon" | "now" {
  if (msLeft < MINUTE) return "now";
  return msLeft < 15 * MINUTE ? "soon" : "far";
}
