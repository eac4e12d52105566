import { openByHand } from "./by-hand";
import { openGraphile } from "./graphile";
import { openOurs } from "./ours";
import { openPgBoss } from "./pg-boss";
import type { Queue, QueueAddress } from "./queue";

export const QUEUE_NAMES = ["PostgreSQL by hand", "Holdpoint", "graphile-worker", "pg-boss"] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

const OPENERS: Readonly<Record<QueueName, (address: QueueAddress) => Promise<Queue>>> = {
  "PostgreSQL by hand": openByHand,
  Holdpoint: openOurs,
  "graphile-worker": openGraphile,
  "pg-boss": openPgBoss,
};

export function openQueue(name: QueueName, address: QueueAddress): Promise<Queue> {
  return OPENERS[name](address);
}
