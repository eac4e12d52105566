import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import path from "node:path";
import { stored } from "@/lib/protocol/book/stored";
import { isObject } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Act, FileEffect } from "./effect";
import { codeOf, folderBeneath } from "./folders";

/**
 * Create one file exclusively. The parent is resolved first and must lie beneath a write root; the file itself is opened without
 * following a link, so a link that is put there later is an existing file and not a way out.
 */
export async function createFile(
  act: Pick<Act, "args" | "target">,
  writeRoots: readonly string[],
): Promise<FileEffect> {
  const args = stored(act.args);
  const target = stored(act.target);
  if (!isObject(args) || typeof args.content !== "string")
    return { kind: "invalid_args", detail: "args.content is a text" };
  if (typeof target !== "string" || !path.isAbsolute(target))
    return { kind: "invalid_args", detail: "the output is an absolute path" };
  const content = args.content;
  const place = await placeBeneath(target, writeRoots);
  if (place === null) return { kind: "output_outside_roots", expected: content };
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(place, flags, 0o644);
    try {
      await file.writeFile(content, "utf8");
      await file.sync();
    } finally {
      await file.close();
    }
    return { kind: "executed", contentHash: sha256Hex(content) };
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw cause;
    return compareExisting(place, content);
  }
}

/** The target's resolved place, or null when it is not beneath a root. `..` and links are gone once the parent is resolved. */
async function placeBeneath(target: string, writeRoots: readonly string[]): Promise<string | null> {
  const name = path.basename(target);
  if (name === "" || name === "." || name === "..") return null;
  const parent = await folderBeneath(path.dirname(target), writeRoots);
  return parent === null ? null : path.join(parent, name);
}

async function compareExisting(place: string, content: string): Promise<FileEffect> {
  const what = await lstat(place);
  if (!what.isFile()) return { kind: "output_conflict", expected: content, existingHash: sha256Hex("") };
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const existing = await file.readFile();
    const existingHash = sha256Hex(existing);
    if (existingHash === sha256Hex(content)) return { kind: "recovered", contentHash: existingHash };
    return { kind: "output_conflict", expected: content, existingHash };
  } finally {
    await file.close();
  }
}
