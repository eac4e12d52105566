"use client";

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type { RunPage } from "@/lib/protocol/console-run-view";
import type { ChangeFrame } from "@/lib/protocol/console-view";
import { noteServerClock, serverNow } from "./server-clock";

export type LiveState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live"; readonly asOfMs: number }
  | { readonly kind: "lost"; readonly sinceMs: number; readonly attempt: number };

const Live = createContext<LiveState>({ kind: "connecting" });

/** The server pings every 10 s; a stream that is silent for longer than two of them is not live, whatever its socket says. */
const SILENCE_MS = 25_000;

interface LiveProviderProps {
  readonly path: string;
  readonly children: ReactNode;
}

/** One stream for the whole console. It carries ids only; what they name is read again from committed rows. */
export function LiveProvider({ path, children }: LiveProviderProps) {
  const [state, setState] = useState<LiveState>({ kind: "connecting" });
  const queries = useQueryClient();
  useEffect(() => {
    const refresh = new Refresh(queries);
    const stream = new ChangeStream(path, {
      onState: setState,
      onRebuild: () => void queries.invalidateQueries(),
      onChange: (frame) => refresh.about(frame.runs),
    });
    stream.open();
    // The machine says that it has no network: waiting for silence would be a lie of 25 s.
    const offline = () => stream.lost();
    window.addEventListener("offline", offline);
    return () => {
      window.removeEventListener("offline", offline);
      stream.close();
    };
  }, [path, queries]);
  return <Live.Provider value={state}>{children}</Live.Provider>;
}

export function useLive(): LiveState {
  return useContext(Live);
}

/** A thread is one too: a run that joins it has an id that its page does not know yet. */
const LISTS: readonly unknown[] = ["inbox", "runs", "refusals", "agents", "thread", "mailbox"];

/**
 * Reads again what changed, one round at a time: changes that come while a round is under way are one further round.
 * A busy workspace then makes a page read as fast as it can, and never cancels its own reads before they end.
 */
class Refresh {
  readonly #queries: QueryClient;
  #waiting = new Set<string>();
  #asked = false;
  #running = false;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  about(runs: readonly string[]): void {
    for (const run of runs) this.#waiting.add(run);
    this.#asked = true;
    if (!this.#running) void this.#rounds();
  }

  async #rounds(): Promise<void> {
    this.#running = true;
    while (this.#asked) {
      this.#asked = false;
      const runs = this.#waiting;
      this.#waiting = new Set();
      await this.#queries.invalidateQueries({
        predicate: ({ queryKey, state }) => isAbout(queryKey, state.data, runs),
      });
    }
    this.#running = false;
  }
}

function isAbout([kind, id]: readonly unknown[], data: unknown, runs: ReadonlySet<string>): boolean {
  if (kind === "run") return (typeof id === "string" && runs.has(id)) || relativesOf(data).some((run) => runs.has(run));
  if (kind === "ticket") return runs.has(runOf(data) ?? "");
  return LISTS.includes(kind);
}

/** A run's page shows where the runs that it delegated stand. */
function relativesOf(page: unknown): readonly string[] {
  if (typeof page !== "object" || page === null || !("children" in page)) return [];
  return (page as RunPage).children.map(({ facts }) => facts.run_id);
}

function runOf(page: unknown): string | null {
  return typeof page === "object" && page !== null && "run_id" in page ? String(page.run_id) : null;
}

interface StreamEvents {
  readonly onState: (state: LiveState) => void;
  readonly onChange: (frame: ChangeFrame) => void;
  /** Changes may have been missed: everything shown is read again. */
  readonly onRebuild: () => void;
}

class ChangeStream {
  readonly #path: string;
  readonly #events: StreamEvents;
  #source: EventSource | null = null;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #lostSince: number | null = null;
  #wasOpen = false;

  constructor(path: string, events: StreamEvents) {
    this.#path = path;
    this.#events = events;
  }

  open(): void {
    const source = new EventSource(this.#path);
    this.#source = source;
    source.addEventListener("open", () => this.#opened());
    source.addEventListener("ping", (event) => this.#heard(event));
    source.addEventListener("change", (event) => {
      const frame = JSON.parse(event.data) as ChangeFrame;
      this.#heard(event);
      this.#events.onChange(frame);
    });
    source.addEventListener("error", () => this.lost());
    this.#watchOver();
  }

  close(): void {
    clearTimeout(this.#watch);
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
  }

  #opened(): void {
    // What was read before the stream stood may be older than its first frame.
    if (this.#wasOpen || this.#lostSince !== null) this.#events.onRebuild();
    this.#wasOpen = true;
    this.#attempt = 0;
    this.#lostSince = null;
    this.#events.onState({ kind: "live", asOfMs: serverNow() });
    this.#watchOver();
  }

  #heard(event: MessageEvent<string>): void {
    const { now_ms } = JSON.parse(event.data) as { readonly now_ms: number };
    noteServerClock(now_ms);
    this.#events.onState({ kind: "live", asOfMs: now_ms });
    this.#watchOver();
  }

  #watchOver(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.lost(), SILENCE_MS);
  }

  /** Close it, say so, and try again, ever more slowly. */
  lost(): void {
    this.close();
    this.#lostSince ??= serverNow();
    this.#attempt += 1;
    this.#events.onState({ kind: "lost", sinceMs: this.#lostSince, attempt: this.#attempt });
    this.#retry = setTimeout(() => this.open(), Math.min(8_000, 250 * 2 ** this.#attempt));
  }
}
