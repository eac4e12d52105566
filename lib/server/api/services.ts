import type { Db } from "@/db/client";
import type { Listener } from "@/db/notifier";
import type { Metrics } from "./metrics";
import type { RefusalRate } from "./refusal-rate";
import type { WaiterCount } from "./waiter-count";

/** What the doors share in one process; passed in, so that a test has its own. */
export interface Services {
  readonly db: Db;
  readonly changes: Pick<Listener, "subscribe">;
  readonly refusalRate: RefusalRate;
  readonly waiters: WaiterCount;
  readonly metrics: Metrics;
  /** Told of every fault that is ours, with the id that the caller was given. */
  readonly report: (incident: string, fault: unknown) => void;
}
