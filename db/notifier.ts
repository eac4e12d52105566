import { randomUUID } from "node:crypto";
import postgres from "postgres";
import type { Change } from "./client";

/** The one channel. A notification wakes; polling decides. */
export const CHANNEL = "holdpoint";

const GATHER_MS = 5;
/** A payload over 8,000 bytes is an error: ids of 36 characters, with room to spare. */
const MOST_IDS = 150;

/**
 * Tells other processes what was committed: after the commit, at most once every 5 ms, the first at once when idle. A hot
 * transaction must not notify by itself: it would queue behind every other until its WAL is flushed.
 */
export class Notifier {
  private readonly sql: postgres.Sql;
  private readonly waiting = new Map<string, Set<string>>();
  private timer: NodeJS.Timeout | null = null;
  private sending: Promise<unknown> = Promise.resolve();

  constructor(url: string) {
    this.sql = postgres(url, { max: 1, onnotice: () => undefined });
  }

  readonly tell = (change: Change): void => {
    const ids = this.waiting.get(change.workspace) ?? new Set<string>();
    for (const run of change.runs) ids.add(run);
    this.waiting.set(change.workspace, ids);
    if (this.timer) return;
    this.send();
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.waiting.size > 0) this.tell({ workspace: [...this.waiting.keys()][0] ?? "", runs: [] });
    }, GATHER_MS);
    this.timer.unref();
  };

  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.sending;
    await this.sql.end({ timeout: 2 });
  }

  private send(): void {
    const payloads = [...this.waiting].flatMap(([workspace, ids]) => inChunks(workspace, [...ids]));
    this.waiting.clear();
    // Nobody waits for its WAL to be flushed. Said in the statement: a pooler refuses a client that sets it when it connects.
    const tell = (payload: string) =>
      this.sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${payload})`;
    this.sending = Promise.all(payloads.map(tell)).catch(() => {
      // Lost with its connection. Nobody may rely on a notification: everyone polls.
    });
  }
}

function inChunks(workspace: string, ids: readonly string[]): string[] {
  const chunks: string[] = [];
  for (let at = 0; at === 0 || at < ids.length; at += MOST_IDS) {
    chunks.push(JSON.stringify({ workspace, runs: ids.slice(at, at + MOST_IDS) }));
  }
  return chunks;
}

const NOT_STICKING =
  "LISTEN does not stick on this connection (a transaction pooler?), so changes are polled for; " +
  "give DATABASE_URL PostgreSQL's own address, or a session pooler's, to be woken at once.";

const NOT_TO_BE_HAD = "LISTEN is not to be had here, so changes are polled for until the next start";

/** A pooler may give a client the same session again by luck, so it is asked more than once. */
const ASKED = 5;

/**
 * Whether a connection has a session of its own. Behind a transaction pooler LISTEN succeeds, and is then another client's or nobody's.
 * What the first client sets must stay its own while the second one holds a transaction open: a pooler that has nothing to spare gives
 * that one the first one's session, and another the first one a new one.
 */
async function hasOwnSession(url: string): Promise<boolean> {
  const open = () => postgres(url, { max: 1, onnotice: () => undefined });
  const [first, second] = [open(), open()];
  const mark = randomUUID();
  const isMarked = async (sql: postgres.Sql | postgres.TransactionSql) => {
    const [set] = await sql<{ mark: string | null }[]>`select current_setting('holdpoint.session', true) as mark`;
    return set?.mark === mark;
  };
  try {
    for (let times = 0; times < ASKED; times += 1) {
      await first`select set_config('holdpoint.session', ${mark}, false)`;
      const isShared = await second.begin(async (sql) => (await isMarked(sql)) || !(await isMarked(first)));
      if (isShared) return false;
    }
    return true;
  } finally {
    await Promise.all([first.end({ timeout: 2 }), second.end({ timeout: 2 })]);
  }
}

/** One LISTEN connection a process, shared by everyone who waits for a change. */
export class Listener {
  private readonly sql: postgres.Sql;
  private readonly subscribers = new Set<(change: Change | null) => void>();
  private readonly started: Promise<unknown>;

  /** `say` is told, in one sentence, where no notification can arrive. */
  constructor(url: string, say: (sentence: string) => void = () => undefined) {
    this.sql = postgres(url, { max: 1, onnotice: () => undefined });
    this.started = hasOwnSession(url)
      .then(async (own) => {
        if (!own) return say(NOT_STICKING);
        await this.sql.listen(
          CHANNEL,
          (payload) => this.publish(readChange(payload)),
          // Re-listening after a lost connection: whatever was said meanwhile is gone, so everyone looks again.
          () => this.publish(null),
        );
      })
      // Who cannot be told polls: a listener that is not to be had costs a second, and must not end its process.
      .catch((error: unknown) => say(`${NOT_TO_BE_HAD} (${error instanceof Error ? error.message : String(error)})`));
  }

  /** `null` means "something may have been missed: look again". Returns how to stop. */
  subscribe(subscriber: (change: Change | null) => void): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }

  async close(): Promise<void> {
    await this.started;
    await this.sql.end({ timeout: 2 });
  }

  private publish(change: Change | null): void {
    for (const subscriber of this.subscribers) subscriber(change);
  }
}

function readChange(payload: string): Change | null {
  try {
    const said: unknown = JSON.parse(payload);
    if (typeof said !== "object" || said === null || !("workspace" in said) || !("runs" in said)) return null;
    if (typeof said.workspace !== "string" || !Array.isArray(said.runs)) return null;
    return { workspace: said.workspace, runs: said.runs.filter((run) => typeof run === "string") };
  } catch {
    return null;
  }
}
