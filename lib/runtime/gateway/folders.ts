import { constants } from "node:fs";
import { open, readlink, realpath } from "node:fs/promises";
import path from "node:path";

/** A folder that was judged, and stays the one that was judged whatever its name leads to meanwhile. */
export interface HeldFolder {
  /** Its place without links and `..`. */
  readonly place: string;
  /** How to reach it. */
  readonly at: string;
  close(): Promise<void>;
}

/**
 * Open a folder that is beneath a write root (a root is beneath itself); null when it is not there, or not beneath one.
 *
 * On Linux it is judged by the folder that was opened and reached by that opening, so that a link which somebody puts in its name's
 * place between the judgement and the act leads nowhere else. Other systems give Node no such way: there the time in between is all
 * that protects.
 */
export async function openBeneath(folder: string, roots: readonly string[]): Promise<HeldFolder | null> {
  const handle = await whereThere(open(folder, constants.O_RDONLY | constants.O_DIRECTORY));
  if (handle === null) return null;
  const close = () => handle.close();
  const own = `/proc/self/fd/${handle.fd}`;
  const byHandle = await whereThere(readlink(own));
  const place = byHandle ?? (await whereThere(realpath(folder)));
  if (place !== null && (await isBeneath(place, roots))) return { place, at: byHandle === null ? place : own, close };
  await close();
  return null;
}

async function isBeneath(place: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const base = await whereThere(realpath(root));
    if (base === null) continue;
    const inside = base.endsWith(path.sep) ? base : base + path.sep;
    if (place === base || place.startsWith(inside)) return true;
  }
  return false;
}

const NOT_THERE = ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"];

async function whereThere<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (cause) {
    if (NOT_THERE.includes(codeOf(cause))) return null;
    throw cause;
  }
}

export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
