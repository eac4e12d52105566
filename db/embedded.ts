import { existsSync, renameSync, statSync } from "node:fs";
import path from "node:path";
import { chooseAccount } from "./embedded/account";
import { findBinaries } from "./embedded/binaries";
import { type Cluster, clusterIn, ensureCluster, SUPERUSER, superuserPassword } from "./embedded/cluster";
import { withFolderLock } from "./embedded/folder-lock";
import { clusterHome, makeFolder, settleHome } from "./embedded/home";
import { findRunning, launch, type Postmaster, stopPostmaster } from "./embedded/postmaster";
import { processIdentity } from "./embedded/process-identity";
import { addUser, removeUser } from "./embedded/users";

const LOCK_WAIT_MS = 120_000;
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/** A real PostgreSQL that belongs to one data folder. */
export interface EmbeddedServer {
  readonly pid: number;
  readonly port: number;
  /** The superuser's address of the maintenance database. For migrations only: the app has its own role. */
  readonly adminUrl: string;
  /** True when the server ran already: somebody else's, or what a killed process left behind. */
  readonly adopted: boolean;
  /** Whether the server's process still runs. */
  isRunning(): boolean;
  /** Leave the server. The last one to leave stops it; the answer says whether that was us. */
  leave(): Promise<{ readonly stopped: boolean }>;
}

/** The server's address for another database or role, from any of its addresses. */
export function addressOf(url: string, change: { database?: string; user?: string; password?: string }): string {
  const address = new URL(url);
  if (change.database !== undefined) address.pathname = `/${encodeURIComponent(change.database)}`;
  if (change.user !== undefined) address.username = encodeURIComponent(change.user);
  if (change.password !== undefined) address.password = encodeURIComponent(change.password);
  return address.href;
}

/**
 * Start PostgreSQL 18 on a data folder, or adopt the server that runs on it already.
 *
 * There is never a second server on one folder: starts and stops stand in one queue (a lock that a killed
 * process does not keep), and PostgreSQL's own pid file guards the data itself. It listens on 127.0.0.1
 * alone, with no socket file, and its superuser's password is random and readable by its owner only.
 *
 * @throws Error with a sentence that says what to do.
 */
export async function startEmbedded(options: {
  readonly folder: string;
  readonly report?: (line: string) => void;
}): Promise<EmbeddedServer> {
  const folder = path.resolve(options.folder);
  const report = options.report ?? (() => undefined);
  makeFolder(folder);
  return withFolderLock(folder, { waitMs: LOCK_WAIT_MS }, async () => {
    const existing = clusterIn(clusterHome(folder));
    const running = existsSync(existing.pgdata) ? await findRunning(existing) : null;
    if (running !== null) return handle(folder, existing, running, true);
    const account = chooseAccount(existing.pgdata);
    const native = findBinaries(account, report);
    const home = settleHome(folder, account, report);
    const cluster = ensureCluster(home, native, account, report);
    const logFile = path.join(folder, "postgresql.log");
    rotate(logFile);
    return handle(folder, cluster, await launch(cluster, native, account, logFile), false);
  });
}

function handle(folder: string, cluster: Cluster, server: Postmaster, adopted: boolean): EmbeddedServer {
  const mark = addUser(folder);
  const adminUrl = addressOf(`postgres://127.0.0.1:${server.port}/postgres`, {
    user: SUPERUSER,
    password: superuserPassword(cluster),
  });
  const identity = processIdentity(server.pid);
  let leaving: Promise<{ stopped: boolean }> | null = null;
  const leave = () =>
    withFolderLock(folder, { waitMs: LOCK_WAIT_MS }, async () => {
      if (removeUser(folder, mark).othersRemain) return { stopped: false };
      await stopPostmaster(server);
      return { stopped: true };
    });
  return {
    pid: server.pid,
    port: server.port,
    adminUrl,
    adopted,
    isRunning: () => identity !== null && processIdentity(server.pid) === identity,
    leave: () => {
      leaving ??= leave();
      return leaving;
    },
  };
}

/** Keep one older log: enough to read what happened, never a full disk. */
function rotate(logFile: string): void {
  if (existsSync(logFile) && statSync(logFile).size > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`);
}
