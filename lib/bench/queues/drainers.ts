import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openQueue, type QueueName } from "./open";
import type { Drained, QueueAddress } from "./queue";

/** The word that makes `npm run bench`'s program one of its own worker processes. */
export const DRAINER = "drainer";

interface Wanted {
  readonly name: QueueName;
  readonly address: QueueAddress;
}

/** Processes that wait, connected, to empty a queue. */
export interface Drainers {
  /** Jobs a second of the first so many, from the first claim to the last ack. */
  rate(processes: number): Promise<number>;
  close(): Promise<void>;
}

export async function startDrainers(wanted: Wanted, processes: number): Promise<Drainers> {
  const children = await Promise.all(Array.from({ length: processes }, () => startOne(wanted)));
  return {
    rate: async (count) => {
      const drained = await Promise.all(children.slice(0, count).map(drainIn));
      const jobs = drained.reduce((sum, { jobs }) => sum + jobs, 0);
      const worked = drained.filter((one) => one.jobs > 0);
      const tookMs = Math.max(...worked.map((d) => d.endedAt)) - Math.min(...worked.map((d) => d.beganAt));
      return (jobs * 1_000) / tookMs;
    },
    close: async () => {
      for (const child of children) child.disconnect();
      await Promise.all(children.map((child) => child.exitCode ?? once(child, "exit")));
    },
  };
}

async function startOne(wanted: Wanted): Promise<ChildProcess> {
  const [, program = ""] = process.argv;
  const child = fork(program, [DRAINER], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(wanted);
  await answerOf(child);
  return child;
}

async function drainIn(child: ChildProcess): Promise<Drained> {
  child.send("drain");
  return (await answerOf(child)) as Drained;
}

/** A child that dies answers nothing any more. */
async function answerOf(child: ChildProcess): Promise<unknown> {
  const died = new AbortController();
  child.once("exit", () => died.abort(new Error("a worker process of the benchmark died")));
  const [answer] = await once(child, "message", { signal: died.signal });
  return answer;
}

/** The child's side: open what the first message names, then empty it at every other. Ends with its parent. */
export async function serveDrains(): Promise<number> {
  const [{ name, address }] = (await once(process, "message")) as [Wanted];
  const queue = await openQueue(name, address);
  process.on("message", async () => process.send?.(await queue.drain()));
  process.send?.("ready");
  await once(process, "disconnect");
  await queue.close();
  return 0;
}
