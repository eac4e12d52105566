import { constants } from "node:fs";
import { link, lstat, open, rm } from "node:fs/promises";
import path from "node:path";
import { stored } from "@/lib/protocol/book/stored";
import { isObject } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Act, FileEffect } from "./effect";
import { codeOf, folderBeneath } from "./folders";

/**
 * Create one file exclusively, whole or not at all. The parent is resolved first and must lie beneath a write root; the file itself is opened without
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
  // The approver reads both; a file elsewhere than its arguments say is not what they say.
  if (args.path !== undefined && args.path !== target)
    return { kind: "invalid_args", detail: "args.path is another than the output" };
  const content = args.content;
  const place = await placeBeneath(target, writeRoots);
  if (place === null) return { kind: "output_outside_roots", expected: content };
  try {
    await createWhole(place, content);
    return { kind: "executed", contentHash: sha256Hex(content) };
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw cause;
    return compareExisting(place, content);
  }
}

/** What a file system says that knows no second name for a file. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * Written under another name, then given its own in one step: a half that a crash or a full disk left behind would be taken for
 * somebody else's file ever after. A name that is taken is an error, as with an exclusive open, also where a link has it.
 */
async function createWhole(place: string, content: string): Promise<void> {
  const draft = path.join(path.dirname(place), `.holdpoint-${sha256Hex(`${place}\n${content}`).slice(0, 32)}`);
  // Of an attempt that was killed.
  await rm(draft, { force: true });
  try {
    await write(draft, content);
    await link(draft, place);
  } catch (cause) {
    if (!NO_LINKS.includes(codeOf(cause))) throw cause;
    await write(place, content);
  } finally {
    await rm(draft, { force: true });
  }
}

async function write(place: string, content: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(place, flags, 0o644);
  try {
    await file.writeFile(content, "utf8");
    await file.sync();
  } finally {
    await file.close();
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
