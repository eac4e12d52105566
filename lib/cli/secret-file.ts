import { randomBytes, randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * A random secret that lives in a file only its owner can read; made on first use.
 *
 * Two starts at once agree: the file appears whole, by a link that only one of them can make.
 */
export function secretFile(file: string): string {
  const known = read(file);
  if (known !== null) return known;
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (cause) {
    if (!isError(cause, "EEXIST")) throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
  return read(file) ?? secretFile(file);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    if (isError(cause, "ENOENT")) return null;
    throw new Error(
      `The secret in ${file} cannot be read by this account. ` +
        "Start as the account that made the data folder, or set HOLDPOINT_DATA_DIR to one of your own.",
      { cause },
    );
  }
}

function isError(cause: unknown, code: string): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
