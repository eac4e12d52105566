import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * A process's name for the life of the machine, or null when no such process runs.
 *
 * A number alone is not enough: after a restart another program may carry it. Where the system tells
 * when a process began, that belongs to the name.
 */
export function processIdentity(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
  if (process.platform === "linux") return linuxIdentity(pid);
  if (process.platform === "win32") return String(pid);
  const began = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  return began.status === 0 ? `${pid}@${began.stdout.trim()}` : null;
}

/** Whether the named process still runs. */
export function stillRuns(identity: string): boolean {
  return processIdentity(Number.parseInt(identity, 10)) === identity;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: it lives, under another account.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}

function linuxIdentity(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name stands in parentheses and may hold spaces; the fields that count follow the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, began] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || began === undefined) return null;
    return `${pid}@${began}.${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
  } catch {
    return null;
  }
}
