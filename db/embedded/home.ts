import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Account, canReach } from "./account";
import { OUTSIDE } from "./binaries";

/** The file in the data folder that names where the data lies when it cannot lie there. */
const POINTER = "elsewhere";

/** Make the folder, and keep our own files in it to ourselves. */
export function makeFolder(folder: string): void {
  try {
    // Others may pass through (PostgreSQL's account must), but each file in it is closed for itself.
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    if (process.getuid?.() === 0) chmodSync(folder, 0o755);
  } catch (cause) {
    throw new Error(
      `The data folder ${folder} cannot be made or used by this account. ` +
        "Set HOLDPOINT_DATA_DIR to a folder that it owns, or start as the account that made it.",
      { cause },
    );
  }
}

/** Where PostgreSQL's files lie: in the folder itself, or outside when a closed parent folder hides it from its account. */
export function clusterHome(folder: string): string {
  const pointer = path.join(folder, POINTER);
  return existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : folder;
}

/**
 * Decide the home before the first data is written.
 *
 * The outside name is random and written down in the data folder: a new clone at an old clone's path
 * must not find the old one's data.
 */
export function settleHome(folder: string, account: Account, report: (line: string) => void): string {
  const home = clusterHome(folder);
  if (home !== folder) return home;
  if (account.ids === null || canReach(account, folder)) return folder;
  if (existsSync(path.join(folder, "cluster"))) {
    throw new Error(
      `The account ${account.name} can no longer reach its data in ${folder}: a parent folder was closed. ` +
        "Open the parents again (chmod o+x), then start.",
    );
  }
  const outside = path.join(OUTSIDE, `data-${randomBytes(8).toString("hex")}`);
  mkdirSync(outside, { recursive: true, mode: 0o755 });
  if (!canReach(account, outside)) {
    throw new Error(
      `The account ${account.name} can reach neither ${folder} nor ${outside}. ` +
        "Set HOLDPOINT_DATA_DIR to a folder whose parents are open (chmod o+x), or set DATABASE_URL.",
    );
  }
  writeFileSync(path.join(folder, POINTER), `${outside}\n`, { mode: 0o600 });
  report(`Keeping the database in ${outside}: the account ${account.name} cannot reach ${folder}`);
  return outside;
}
