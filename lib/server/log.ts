import "server-only";
import { pino } from "pino";

/** One JSON object a line on stdout. What may be secret is never passed in. */
export const log = pino({ base: null, formatters: { level: (level) => ({ level }) } });
