import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

/** The operating system's account that PostgreSQL runs as. Without ids: our own. */
export interface Account {
  readonly name: string;
  readonly ids: { readonly uid: number; readonly gid: number } | null;
}

/**
 * PostgreSQL refuses to run as root. So root lends it the account that owns the data already, else
 * `postgres`, else `nobody`; anyone else runs it as themselves. No account is created.
 */
export function chooseAccount(pgdata: string): Account {
  if (process.getuid?.() !== 0) return { name: "this account", ids: null };
  if (existsSync(pgdata)) {
    const { uid, gid } = statSync(pgdata);
    if (uid !== 0) return { name: `uid ${uid}`, ids: { uid, gid } };
  }
  for (const name of ["postgres", "nobody"]) {
    const uid = lookUp("-u", name);
    const gid = lookUp("-g", name);
    if (uid !== null && gid !== null) return { name, ids: { uid, gid } };
  }
  throw new Error(
    "PostgreSQL does not run as root, and this machine has neither an account postgres nor nobody. " +
      "Start Holdpoint as a normal user, or set DATABASE_URL to a PostgreSQL server.",
  );
}

/** Whether the account may read and enter (or execute) this path, every folder on the way included. */
export function canReach(account: Account, target: string): boolean {
  const options = account.ids === null ? {} : account.ids;
  return spawnSync("test", ["-r", target, "-a", "-x", target], { ...options, cwd: "/", stdio: "ignore" }).status === 0;
}

function lookUp(flag: "-u" | "-g", name: string): number | null {
  const answer = spawnSync("id", [flag, name], { encoding: "utf8" });
  return answer.status === 0 ? Number(answer.stdout.trim()) : null;
}
