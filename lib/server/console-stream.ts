import "server-only";
import type { Db } from "@/db/client";
import { readClock, readNewestEvent, readRunNames } from "@/db/queries/change-feed";
import type { ChangeFrame } from "@/lib/protocol/console-view";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { changes } from "./changes";

/** Frames of one gathering go out together; a busy workspace must not make a page read at every commit. */
const GATHER_MS = 120;
const PING_MS = 10_000;
/** A notification may be lost: the newest event is compared as often. */
const POLL_MS = 1_000;

export interface StreamGuard {
  /** Who the reader is now; null once the session was ended or the membership taken away. */
  readonly stillReads: () => Promise<Caller | null>;
}

/** One stream a page: ids of runs that changed, and the clock. Never a row, never another workspace's id. */
export function changeStream(db: Db, caller: Caller, guard: StreamGuard, signal: AbortSignal): Response {
  const stream = new WorkspaceStream(db, caller, guard);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => stream.start(controller),
    cancel: () => stream.stop(),
  });
  signal.addEventListener("abort", () => stream.stop());
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

class WorkspaceStream {
  readonly #db: Db;
  readonly #workspace: string;
  readonly #role: Caller["role"];
  readonly #guard: StreamGuard;
  readonly #pending = new Set<string>();
  readonly #text = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #unsubscribe: () => unknown = () => undefined;
  #gather: NodeJS.Timeout | undefined;
  #timers: NodeJS.Timeout[] = [];
  #newest = "";

  constructor(db: Db, caller: Caller, guard: StreamGuard) {
    this.#db = db;
    this.#workspace = caller.workspace;
    this.#role = caller.role;
    this.#guard = guard;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#unsubscribe = changes().subscribe((change) => {
      if (change === null) this.#changed([]);
      // A transaction that touched no run is a read, this stream's own ones among them: telling it would never end.
      else if (change.workspace === this.#workspace && change.runs.length > 0) this.#changed(change.runs);
    });
    this.#timers = [
      setInterval(() => void this.#attempt(() => this.#ping()), PING_MS),
      setInterval(() => void this.#attempt(() => this.#poll()), POLL_MS),
    ];
    void this.#attempt(() => this.#ping());
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#gather);
    this.#unsubscribe();
    const controller = this.#controller;
    this.#controller = null;
    try {
      controller?.close();
    } catch {
      // Closed by its reader already.
    }
  }

  #changed(runs: readonly string[]): void {
    for (const run of runs) this.#pending.add(run);
    this.#gather ??= setTimeout(() => void this.#attempt(() => this.#flush()), GATHER_MS);
  }

  async #flush(): Promise<void> {
    this.#gather = undefined;
    const runs = [...this.#pending];
    this.#pending.clear();
    const [names, now_ms] = await Promise.all([readRunNames(this.#db, this.#workspace, runs), readClock(this.#db)]);
    this.#send("change", { runs: names, now_ms } satisfies ChangeFrame);
  }

  /** The right to read is judged anew as long as the stream stands. */
  async #ping(): Promise<void> {
    this.#send("ping", { now_ms: await readClock(this.#db) });
  }

  async #poll(): Promise<void> {
    const caller = await this.#guard.stillReads();
    if (caller?.workspace !== this.#workspace || caller.role !== this.#role || may(caller, "read_tickets") === "no") {
      this.stop();
      return;
    }
    const newest = await readNewestEvent(this.#db, this.#workspace);
    const missed = this.#newest !== "" && newest !== this.#newest && this.#gather === undefined;
    this.#newest = newest;
    if (missed) this.#changed([]);
  }

  #send(event: string, data: object): void {
    this.#controller?.enqueue(this.#text.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  }

  /** A database that does not answer ends the stream: the page says that it is not live, and connects again. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch {
      this.stop();
    }
  }
}
