import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { Account } from "./account";

/** The superuser's name; its password is random and never leaves the machine. */
export const SUPERUSER = "postgres";

/** PostgreSQL is told nothing of our environment: it may hold secrets, and a locale would change its answers. */
export const POSTGRES_ENV: NodeJS.ProcessEnv = { NODE_ENV: "production", LC_ALL: "C", TZ: "UTC" };

/** The files of one database cluster. The password is ours, the data PostgreSQL's. */
export interface Cluster {
  readonly pgdata: string;
  readonly passwordFile: string;
}

export function clusterIn(home: string): Cluster {
  const cluster = path.join(home, "cluster");
  return { pgdata: path.join(cluster, "pgdata"), passwordFile: path.join(cluster, "superuser-password") };
}

/** The superuser's password of an existing cluster. */
export function superuserPassword(cluster: Cluster): string {
  try {
    return readFileSync(cluster.passwordFile, "utf8").trim();
  } catch (cause) {
    throw new Error(
      `The database's password file ${cluster.passwordFile} cannot be read. ` +
        "Start as the account that made the data folder, or restore the file.",
      { cause },
    );
  }
}

/** Make the cluster if there is none. Data and password appear together, by one rename, or not at all. */
export function ensureCluster(home: string, native: string, account: Account, report: (line: string) => void): Cluster {
  const cluster = clusterIn(home);
  if (existsSync(path.join(cluster.pgdata, "PG_VERSION"))) {
    requireSameMajor(cluster, native);
    return cluster;
  }
  report("Making the database (once)");
  removeDrafts(home);
  const draft = path.join(home, `cluster.${randomUUID()}`);
  mkdirSync(draft, { mode: 0o711 });
  try {
    const password = randomBytes(24).toString("base64url");
    initialise(draft, native, account, password);
    writeFileSync(path.join(draft, "superuser-password"), `${password}\n`, { mode: 0o600 });
    renameSync(draft, path.join(home, "cluster"));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return cluster;
}

function initialise(draft: string, native: string, account: Account, password: string): void {
  const pgdata = path.join(draft, "pgdata");
  const passwordFile = path.join(draft, "password-for-initdb");
  mkdirSync(pgdata, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account.ids !== null) {
    for (const owned of [pgdata, passwordFile]) chownSync(owned, account.ids.uid, account.ids.gid);
  }
  const initdb = path.join(native, "bin", "initdb");
  const options = ["-D", pgdata, "-U", SUPERUSER, "-A", "scram-sha-256", "--pwfile", passwordFile, "-E", "UTF8"];
  // The same order of letters on every machine: C.UTF-8 is PostgreSQL's own and needs no system locale.
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"];
  const made = spawnSync(initdb, [...options, ...locale], {
    ...account.ids,
    cwd: draft,
    env: POSTGRES_ENV,
    encoding: "utf8",
  });
  rmSync(passwordFile, { force: true });
  if (made.error) {
    const hint = "code" in made.error && made.error.code === "ENOENT" ? " These binaries need glibc (not Alpine)." : "";
    throw new Error(`PostgreSQL's initdb cannot be run.${hint} Set DATABASE_URL to use another server.`, {
      cause: made.error,
    });
  }
  if (made.status !== 0) {
    throw new Error(
      `PostgreSQL could not make its data folder ${pgdata}: ${made.stderr.trim()} ` +
        "Look for free disk space and the folder's owner, then start again.",
    );
  }
}

/** What a killed initdb left behind. Only called under the folder's lock. */
function removeDrafts(home: string): void {
  for (const name of readdirSync(home)) {
    if (name.startsWith("cluster.")) rmSync(path.join(home, name), { recursive: true, force: true });
  }
}

function requireSameMajor(cluster: Cluster, native: string): void {
  const data = readFileSync(path.join(cluster.pgdata, "PG_VERSION"), "utf8").trim();
  const version = spawnSync(path.join(native, "bin", "postgres"), ["--version"], {
    encoding: "utf8",
    env: POSTGRES_ENV,
  });
  const program = /(\d+)/.exec(version.stdout)?.[1];
  if (program !== undefined && program !== data) {
    throw new Error(
      `The data in ${cluster.pgdata} was made by PostgreSQL ${data}, and this Holdpoint brings ${program}. ` +
        `Move it with PostgreSQL's own pg_upgrade or pg_dump, or set HOLDPOINT_DATA_DIR to a new folder.`,
    );
  }
}
