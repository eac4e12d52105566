import "server-only";
import pino from "pino";
import { refusal } from "@/lib/protocol/refusals";
import type { Door } from "./api/door";
import { Metrics } from "./api/metrics";
import { type METHODS, problemOf, wrongMethod } from "./api/problem";
import { RefusalRate } from "./api/refusal-rate";
import { serve } from "./api/serve";
import type { Services } from "./api/services";
import { WaiterCount } from "./api/waiter-count";
import { changes } from "./changes";
import { database } from "./database";

const log = pino({ name: "holdpoint-api", base: null });

let shared: Promise<Services> | null = null;

/** What all doors of this process share: opened by the first request. */
export function services(): Promise<Services> {
  shared ??= open().catch((cause: unknown) => {
    shared = null;
    throw cause;
  });
  return shared;
}

async function open(): Promise<Services> {
  return {
    db: await database(),
    changes: changes(),
    refusalRate: new RefusalRate(),
    waiters: new WaiterCount(),
    metrics: new Metrics({ ofProcess: true }),
    report: (incident, fault) => log.error({ incident, err: fault }, "an unexpected fault in the API"),
  };
}

type Handler = (request: Request) => Promise<Response>;

/**
 * The handlers of a door's path. Every route of the API is made by this, so that none skips the wrapper, and so that another method
 * is answered in words.
 */
export function routes(door: Door): Readonly<Record<(typeof METHODS)[number], Handler>> {
  const other: Handler = async () => wrongMethod(door.method);
  const all = { DELETE: other, GET: other, PATCH: other, POST: other, PUT: other };
  return { ...all, [door.method]: handler(door) };
}

function handler(door: Door): Handler {
  return async (request) => {
    const ready = await services().catch((cause: unknown) => {
      log.error({ err: cause }, "the database is away");
      return null;
    });
    return ready ? serve(door, request, ready) : problemOf(refusal("busy"));
  };
}
