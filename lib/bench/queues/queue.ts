import { performance } from "node:perf_hooks";

/** Where a queue of the benchmark connects. */
export interface QueueAddress {
  /** The app's own login. */
  readonly url: string;
  /** The owner's: what makes a schema of its own needs it. */
  readonly ownerUrl: string;
  /** How many connections it may have: one a lane. */
  readonly lanes: number;
}

/** How one process emptied a queue; times in epoch ms, so that two processes can be compared. */
export interface Drained {
  readonly jobs: number;
  readonly beganAt: number;
  readonly endedAt: number;
}

/** A job queue on PostgreSQL: ours, a peer's as its documentation says, or the statements by hand. */
export interface Queue {
  /** Put one job in; durable when this returns. */
  enqueue(n: number): Promise<unknown>;
  /** Claim and ack, one by one in each lane, until nothing is left. */
  drain(): Promise<Drained>;
  /** Claim and ack so many, one after the other: how long each claim took, in ms. */
  claimTimes(times: number): Promise<readonly number[]>;
  /** Be a worker that is idle. `started` is called where the handler of job n begins. Gives how to stop. */
  consume(started: (n: number) => void): Promise<() => Promise<void>>;
  /** Leave so many rows behind as that many jobs that are over would. */
  age(rows: number): Promise<unknown>;
  close(): Promise<void>;
}

/** What every job carries, in every queue. */
export function payloadOf(n: number) {
  return { n, to: "account:DH5939281092", text: "the same hundred or so characters of payload in each of the queues" };
}

export const epochMs = () => performance.timeOrigin + performance.now();

/** Each lane takes one job after the other, until `takeOne` says that there was none. */
export async function drainBy(lanes: number, takeOne: () => Promise<boolean>): Promise<Drained> {
  let jobs = 0;
  const beganAt = epochMs();
  let endedAt = beganAt;
  const lane = async () => {
    while (await takeOne()) {
      jobs += 1;
      endedAt = epochMs();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { jobs, beganAt, endedAt };
}

/** Time so many claims; what was claimed is given back by `ack`, outside the clock. */
export async function timeClaims<Claimed>(
  times: number,
  claim: () => Promise<Claimed>,
  ack: (claimed: Claimed) => Promise<unknown>,
): Promise<readonly number[]> {
  const taken: number[] = [];
  while (taken.length < times) {
    const began = performance.now();
    const claimed = await claim();
    taken.push(performance.now() - began);
    await ack(claimed);
  }
  return taken;
}
