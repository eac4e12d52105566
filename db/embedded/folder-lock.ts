import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processIdentity, stillRuns } from "./process-identity";

const FREE = "free";

/**
 * Run `work` while no other process does its own on the same folder. A killed holder blocks nobody.
 *
 * The lock is a row of numbered files and the highest number holds it. A number is taken by linking a
 * complete file to a name that must not exist, and the highest file is never deleted, only marked free:
 * the numbers only grow, so nobody can take over from a dead holder twice, and nobody who read an old
 * state can take a lock that has moved on.
 */
export async function withFolderLock<Value>(
  folder: string,
  options: { readonly waitMs: number },
  work: () => Promise<Value>,
): Promise<Value> {
  const locks = path.join(folder, "lock");
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  const mine = await take(locks, options.waitMs);
  try {
    return await work();
  } finally {
    replaceContent(locks, mine, FREE);
  }
}

async function take(locks: string, waitMs: number): Promise<number> {
  const identity = processIdentity(process.pid) ?? String(process.pid);
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const top = highest(locks);
    const holder = top === 0 ? FREE : contentOf(locks, top);
    if (holder !== null && (holder === FREE || !stillRuns(holder)) && claim(locks, top + 1, identity)) {
      // Someone who read an older state may link a number below the holder's: it has not won.
      if (highest(locks) === top + 1) {
        for (const number of numbers(locks))
          if (number <= top) rmSync(path.join(locks, String(number)), { force: true });
        return top + 1;
      }
      rmSync(path.join(locks, String(top + 1)), { force: true });
    }
    if (Date.now() > giveUpAt) {
      throw new Error(
        `Process ${holder} has been busy with the database folder ${path.dirname(locks)} for ${waitMs / 1000} s. ` +
          "Wait for it to finish, or end that process, then start again.",
      );
    }
    await sleep(20 + Math.random() * 30);
  }
}

function claim(locks: string, number: number, identity: string): boolean {
  const draft = writeDraft(locks, identity);
  try {
    linkSync(draft, path.join(locks, String(number)));
    return true;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false;
    throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
}

function replaceContent(locks: string, number: number, content: string): void {
  renameSync(writeDraft(locks, content), path.join(locks, String(number)));
}

function writeDraft(locks: string, content: string): string {
  const draft = path.join(locks, `.${randomUUID()}`);
  writeFileSync(draft, content, { mode: 0o600 });
  return draft;
}

function numbers(locks: string): number[] {
  return readdirSync(locks)
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number > 0);
}

function highest(locks: string): number {
  return Math.max(0, ...numbers(locks));
}

/** Null when the file went away meanwhile: the lock has moved on. */
function contentOf(locks: string, number: number): string | null {
  try {
    return readFileSync(path.join(locks, String(number)), "utf8");
  } catch {
    return null;
  }
}
