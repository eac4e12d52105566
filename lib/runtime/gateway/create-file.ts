import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, open, rm } from "node:fs/promises";
import path from "node:path";
import { stored } from "@/lib/protocol/book/stored";
import { isObject } from "@/lib/protocol/canonical-json";
import { type Sha256, sha256Hex } from "@/lib/protocol/hash";
import type { Act, FileEffect } from "./effect";
import { codeOf, openBeneath } from "./folders";

/**
 * Create one file exclusively, whole or not at all. Its folder is opened first and must lie beneath a write root; the file is created in
 * that very folder and opened without following a link, so a link that is put anywhere later is an existing file and not a way out.
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
  const name = path.basename(target);
  const isName = name !== "" && name !== "." && name !== "..";
  const folder = isName ? await openBeneath(path.dirname(target), writeRoots) : null;
  if (folder === null) return { kind: "output_outside_roots", expected: content };
  try {
    return await createIn(folder.at, name, content);
  } finally {
    await folder.close();
  }
}

async function createIn(folder: string, name: string, content: string): Promise<FileEffect> {
  try {
    await createWhole(folder, name, content);
    return { kind: "executed", contentHash: sha256Hex(content) };
  } catch (cause) {
    if (codeOf(cause) === "ENAMETOOLONG") return { kind: "invalid_args", detail: "the file's name is too long" };
    if (codeOf(cause) !== "EEXIST") throw cause;
    return compareExisting(path.join(folder, name), content);
  }
}

/** What a file system says that knows no second name for a file. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/**
 * Written under another name, then given its own in one step: a half that a crash or a full disk left behind would be taken for
 * somebody else's file ever after. A name that is taken is an error, as with an exclusive open, also where a link has it.
 */
async function createWhole(folder: string, name: string, content: string): Promise<void> {
  const place = path.join(folder, name);
  const draft = path.join(folder, `.holdpoint-${sha256Hex(`${name}\n${content}`).slice(0, 32)}`);
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

async function compareExisting(place: string, content: string): Promise<FileEffect> {
  const other = { kind: "output_conflict", expected: content, existingHash: sha256Hex("") } as const;
  const what = await lstat(place);
  if (!what.isFile()) return other;
  // What has taken its place since may be a pipe that nobody writes to.
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) return other;
    // Piece by piece: what stands there may be larger than memory.
    const hash = createHash("sha256");
    for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece);
    const existingHash = hash.digest("hex") as Sha256;
    if (existingHash === sha256Hex(content)) return { kind: "recovered", contentHash: existingHash };
    return { ...other, existingHash };
  } finally {
    await file.close();
  }
}
