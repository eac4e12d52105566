import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "@/lib/protocol/mailbox-job";
import type { Claimed, Mailbox, MailboxRequest, Refusable } from "./mailbox";

export const LEASE = 60_000;

/** A mailbox on trial: its verbs, and the steps that the suites take with them. A step that cannot be taken throws. */
export class Trial {
  private named = 0;

  constructor(readonly box: Mailbox) {}

  /** A name that nothing was ever put under. */
  newMailbox(): string {
    this.named += 1;
    return `thread-${this.named}`;
  }

  async put(mailboxId: string, more: Omit<MailboxRequest, "mailboxId"> = {}): Promise<Job> {
    return given(await this.box.enqueue({ mailboxId, ...more }));
  }

  async take(mailboxId: string, leaseMs = LEASE, claimer = "w1"): Promise<Claimed> {
    const claimed = await this.box.claim(claimer, leaseMs, mailboxId);
    if (!claimed) throw new Error(`nothing to claim in ${mailboxId}`);
    return claimed;
  }

  async status(jobId: string): Promise<Job> {
    const job = await this.box.job(jobId);
    if (!job) throw new Error(`job ${jobId} is gone`);
    return job;
  }

  /** Sweep until the lease of this claim is over and acted on. */
  async lapse({ jobId, token }: Claimed): Promise<Job> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      await this.box.sweep();
      const job = await this.status(jobId);
      if (job.claimToken !== token) return job;
      await sleep(5);
    }
    throw new Error("the lease never lapsed");
  }

  /** Claim whatever comes first, of any mailbox, until these are claimed; their order. */
  async claimAll(wanted: ReadonlySet<string>): Promise<readonly string[]> {
    const order: string[] = [];
    while (order.length < wanted.size) {
      const held = await this.box.claim("w1", LEASE);
      if (!held) throw new Error("nothing is left to claim");
      if (wanted.has(held.jobId)) order.push(held.jobId);
    }
    return order;
  }
}

/** The value of an answer that must not be a refusal. */
export function given<Value>(answer: Refusable<Value>): Exclude<Value, null> {
  if (answer === null) throw new Error("nothing came back");
  if (typeof answer === "object" && "refused" in answer) throw new Error(`refused: ${String(answer.refused)}`);
  return answer as Exclude<Value, null>;
}

/** Poll until it holds; throws when it never does. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (await condition()) return;
    await sleep(5);
  }
  throw new Error("it never came about");
}
