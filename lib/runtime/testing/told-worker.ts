import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type ChildProgram, childProgram, type LeftOut } from "@/db/testing/child-program";

const LONG_MS = 600_000;
const GONE = "gone";

/** A worker that takes one job whenever it is told to, and says when it is about to act; it acts when it is told to. */
const PROGRAM = `
  import { connect } from "@/db/client";
  import { readHostRules } from "@/lib/runtime/gateway/hosts";
  import { Worker } from "@/lib/runtime/worker";
  const [databaseUrl, hosts, leaseMs] = process.argv.slice(2);
  const db = await connect(databaseUrl, { role: "holdpoint_worker", max: 4 });
  let act;
  const worker = new Worker(db, {
    writeRoots: [],
    httpHosts: readHostRules(hosts).value,
    limitMs: ${LONG_MS},
    leaseMs: Number(leaseMs),
    stop: new AbortController().signal,
    resolve: async () => {
      const told = new Promise((resolve) => { act = resolve; });
      process.send("about to act");
      await told;
      return [{ address: "127.0.0.1", family: 4 }];
    },
  });
  process.on("message", async (told) => {
    if (told === "act") return act();
    if (told === "leave") return db.close().then(() => process.disconnect());
    try {
      await worker.sweep();
      process.send((await worker.tick()) ? "worked" : "idle");
    } catch {
      process.send("failed");
    }
  });
`;

const programs: ChildProgram[] = [];
const children: ChildProcess[] = [];

/** A worker in a process of its own that does one thing at a time, each when it is told to, so that it can be stopped in between. */
export class ToldWorker {
  private readonly said: string[] = [];
  private heard: (() => void) | null = null;

  private constructor(private readonly child: ChildProcess) {
    children.push(child);
    child.on("message", (word) => this.hear(String(word)));
    child.on("exit", () => this.hear(GONE));
  }

  /** Gives how to start one; `leftOut` starts it without that guard. */
  static async program(leftOut: LeftOut | null = null) {
    const program = await childProgram(PROGRAM, leftOut);
    programs.push(program);
    return (databaseUrl: string, hosts: string, leaseMs = LONG_MS) =>
      new ToldWorker(program.start(databaseUrl, hosts, String(leaseMs)));
  }

  /** Also those that a failed test left stopped. */
  static removeAll(): void {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    for (const program of programs.splice(0)) program.remove();
  }

  get hasSpoken(): boolean {
    return this.said.length > 0;
  }

  act(): void {
    this.child.send("act");
  }

  stop(): void {
    this.child.kill("SIGSTOP");
  }

  wake(): void {
    this.child.kill("SIGCONT");
  }

  /** Until it is about to act; a job that asks for no act is done in passing. */
  async untilAboutToAct(): Promise<void> {
    do this.child.send("work");
    while ((await this.hears()) !== "about to act");
  }

  /** Take one job, if there is any, and do it whole. */
  async work(): Promise<void> {
    this.child.send("work");
    await this.finish();
  }

  /** Until it has nothing under way. */
  async finish(): Promise<void> {
    while ((await this.hears()) === "about to act") this.act();
  }

  async leave(): Promise<void> {
    const left = once(this.child, "exit");
    this.child.send("leave");
    await left;
  }

  private hear(word: string): void {
    this.said.push(word);
    this.heard?.();
  }

  private async hears(): Promise<string> {
    while (this.said.length === 0) {
      await new Promise<void>((resolve) => {
        this.heard = resolve;
      });
    }
    const word = this.said.shift() ?? "";
    if (word === GONE) throw new Error("the worker's process ended by itself");
    return word;
  }
}
