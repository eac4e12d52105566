import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import type { Account } from "./account";
import { type Cluster, POSTGRES_ENV, SUPERUSER, superuserPassword } from "./cluster";
import { processIdentity } from "./process-identity";

const PATIENCE_MS = 60_000;

/** A server that answers on this cluster's data. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

interface PidFile extends Postmaster {
  readonly status: string;
}

/**
 * The server that already runs on this data, or null when none does.
 *
 * PostgreSQL removes a dead server's pid file by itself. What it cannot judge is a pid that was given to
 * another program meanwhile; there we look at what that program is before we remove the file.
 */
export async function findRunning(cluster: Cluster): Promise<Postmaster | null> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const file = readPidFile(cluster);
    if (file === null || processIdentity(file.pid) === null) return null;
    if (file.status === "ready" && (await answers(cluster, file))) return { pid: file.pid, port: file.port };
    if (!isPostmasterOf(cluster, file.pid)) {
      rmSync(pidFilePath(cluster), { force: true });
      return null;
    }
    if (Date.now() > giveUpAt) {
      throw new Error(
        `PostgreSQL (process ${file.pid}) holds ${cluster.pgdata} but has not answered for ${PATIENCE_MS / 1000} s. ` +
          `Look at its log beside the data, end it with: kill -INT ${file.pid}, then start again.`,
      );
    }
    await sleep(50);
  }
}

/** Start a server on the cluster, on a free port of this machine alone. */
export async function launch(cluster: Cluster, native: string, account: Account, logFile: string): Promise<Postmaster> {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const attempt = await launchOnce(cluster, native, account, logFile);
    if (attempt.server) return attempt.server;
    // A killed server's children need a moment to leave its memory; a free port may have been taken meanwhile.
    const passes = /shared memory block|could not bind|Address already in use|lock file/.test(attempt.complaint);
    if (!passes || Date.now() > giveUpAt) {
      throw new Error(
        `PostgreSQL did not start (${attempt.ending}). It says: ${attempt.complaint || "nothing"}\n` +
          `Its log is ${logFile}. Mend the cause, or set DATABASE_URL to another server, then start again.`,
      );
    }
    await sleep(300);
  }
}

/** Ask the server to stop, politely at first. Returns when it is gone. */
export async function stopPostmaster(server: Postmaster): Promise<void> {
  const identity = processIdentity(server.pid);
  if (identity === null) return;
  // INT ends sessions and writes a checkpoint; QUIT leaves recovery to the next start. Neither loses a commit.
  for (const [signal, waitMs] of [["SIGINT", 30_000] as const, ["SIGQUIT", 10_000] as const]) {
    try {
      process.kill(server.pid, signal);
    } catch {
      return;
    }
    const giveUpAt = Date.now() + waitMs;
    while (Date.now() < giveUpAt) {
      if (processIdentity(server.pid) !== identity) return;
      await sleep(20);
    }
  }
  throw new Error(`PostgreSQL (process ${server.pid}) did not stop. End it with: kill -QUIT ${server.pid}`);
}

type Attempt =
  | { readonly server: Postmaster }
  | { readonly server: null; readonly ending: string; readonly complaint: string };

async function launchOnce(cluster: Cluster, native: string, account: Account, logFile: string): Promise<Attempt> {
  const port = await freePort();
  const log = openSync(logFile, "a", 0o600);
  const logStart = readFileSync(logFile).length;
  // A new installation's tables grow from nothing: plans are guesses until they are analysed, so that is looked at often.
  const often = "autovacuum_naptime=5";
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "logging_collector=off", often];
  const server = spawn(
    path.join(native, "bin", "postgres"),
    ["-D", cluster.pgdata, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    // Its own session: a Ctrl+C in the terminal is ours to handle, in the right order.
    { ...account.ids, cwd: cluster.pgdata, env: POSTGRES_ENV, stdio: ["ignore", log, log], detached: true },
  );
  closeSync(log);
  const ending = watchEnd(server);
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (Date.now() < giveUpAt) {
    const end = ending();
    if (end !== null) return { server: null, ending: end, complaint: lastLines(logFile, logStart) };
    const file = readPidFile(cluster);
    if (file !== null && file.pid === server.pid && file.status === "ready") {
      server.unref();
      return { server: { pid: file.pid, port } };
    }
    await sleep(20);
  }
  server.kill("SIGQUIT");
  return { server: null, ending: `not ready in ${PATIENCE_MS / 1000} s`, complaint: lastLines(logFile, logStart) };
}

function watchEnd(server: ChildProcess): () => string | null {
  let end: string | null = null;
  server.once("error", (cause) => {
    end = cause.message;
  });
  server.once("exit", (code, signal) => {
    end = signal === null ? `exit code ${code}` : `ended by ${signal}`;
  });
  return () => end;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === "object") resolve(address.port);
        else reject(new Error("The system gave no free port on 127.0.0.1."));
      });
    });
  });
}

function pidFilePath(cluster: Cluster): string {
  return path.join(cluster.pgdata, "postmaster.pid");
}

/** Lines 1, 4 and 8 of postmaster.pid; null while there is none or it is not fully written. */
function readPidFile(cluster: Cluster): PidFile | null {
  if (!existsSync(pidFilePath(cluster))) return null;
  try {
    const lines = readFileSync(pidFilePath(cluster), "utf8").split("\n");
    const pid = Number(lines[0]);
    return Number.isSafeInteger(pid) && pid > 0
      ? { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? "").trim() }
      : null;
  } catch {
    return null;
  }
}

/** A server is ours when it takes our password and says that it serves our data. */
async function answers(cluster: Cluster, server: Postmaster): Promise<boolean> {
  const sql = postgres({
    host: "127.0.0.1",
    port: server.port,
    user: SUPERUSER,
    password: superuserPassword(cluster),
    database: "postgres",
    max: 1,
    connect_timeout: 5,
    onnotice: () => undefined,
  });
  try {
    const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
    return row !== undefined && realpathSync(row.folder) === realpathSync(cluster.pgdata);
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** A postmaster's working folder is its data. Where the system does not tell, we believe that it is one. */
function isPostmasterOf(cluster: Cluster, pid: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster.pgdata);
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EACCES";
  }
}

function lastLines(logFile: string, from: number): string {
  return readFileSync(logFile).subarray(from).toString("utf8").trim().split("\n").slice(-6).join("\n");
}
