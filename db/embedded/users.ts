import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { processIdentity, stillRuns } from "./process-identity";

/**
 * Who uses the server: one file for each use, named by the process.
 *
 * The command line may have started the server that `npm start` then adopts, or the reverse. Whoever
 * leaves last stops it; a killed process does not count. Call these under the folder's lock only.
 */
export function addUser(folder: string): string {
  const users = path.join(folder, "users");
  mkdirSync(users, { recursive: true, mode: 0o700 });
  const identity = processIdentity(process.pid) ?? String(process.pid);
  const mark = path.join(users, `${identity}+${randomUUID()}`);
  writeFileSync(mark, "", { mode: 0o600 });
  return mark;
}

/** Take the mark away and say whether anybody else still uses the server. */
export function removeUser(folder: string, mark: string): { readonly othersRemain: boolean } {
  rmSync(mark, { force: true });
  const users = path.join(folder, "users");
  let othersRemain = false;
  for (const name of readdirSync(users)) {
    if (stillRuns(name.slice(0, name.indexOf("+")))) othersRemain = true;
    else rmSync(path.join(users, name), { force: true });
  }
  return { othersRemain };
}
