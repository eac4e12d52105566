import { realpath } from "node:fs/promises";
import path from "node:path";

/** The folder without links and `..`, or null when it is not there or not beneath a root (a root is beneath itself). */
export async function folderBeneath(folder: string, roots: readonly string[]): Promise<string | null> {
  const place = await resolved(folder);
  if (place === null) return null;
  for (const root of roots) {
    const base = await resolved(root);
    if (base === null) continue;
    const inside = base.endsWith(path.sep) ? base : base + path.sep;
    if (place === base || place.startsWith(inside)) return place;
  }
  return null;
}

async function resolved(folder: string): Promise<string | null> {
  try {
    return await realpath(folder);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "EACCES") return null;
    throw cause;
  }
}

export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
