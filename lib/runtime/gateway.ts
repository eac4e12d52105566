import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import path from "node:path";
import { stored } from "@/lib/protocol/book/stored";
import { type CanonicalJson, isObject } from "@/lib/protocol/canonical-json";
import { type GatewayAction, isGatewayAction } from "@/lib/protocol/gateway-actions";
import { type Sha256, sha256Hex } from "@/lib/protocol/hash";
import { unreachable } from "@/lib/result";

/** What came of an effect. Nothing is overwritten, and whatever stands at the target is told by its hash. */
export type Effect =
  | { readonly kind: "executed"; readonly contentHash: Sha256 }
  /** The same content stood there already: an earlier attempt of this very call did it. */
  | { readonly kind: "recovered"; readonly contentHash: Sha256 }
  | { readonly kind: "output_conflict"; readonly expected: string; readonly existingHash: Sha256 }
  | { readonly kind: "output_outside_roots"; readonly expected: string }
  | { readonly kind: "invalid_args"; readonly detail: string };

export interface Act {
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
}

/**
 * The only place where the worker and the command line touch the world, each action with its idempotency class.
 * Source: protocol §6 "Effects".
 */
export async function perform(act: Act, writeRoots: readonly string[]): Promise<Effect | null> {
  if (!isGatewayAction(act.action)) return null;
  return performKnown(act.action, act, writeRoots);
}

function performKnown(action: GatewayAction, act: Act, writeRoots: readonly string[]): Promise<Effect> {
  switch (action) {
    case "write_draft":
    case "write_file":
      return createFile(act, writeRoots);
    default:
      return unreachable(action);
  }
}

/**
 * Create one file exclusively. The parent is resolved first and must lie beneath a write root; the file itself is opened without
 * following a link, so a link that is put there later is an existing file and not a way out.
 */
async function createFile(act: Act, writeRoots: readonly string[]): Promise<Effect> {
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
  const parent = await resolved(path.dirname(target));
  if (parent === null) return null;
  for (const root of writeRoots) {
    const base = await resolved(root);
    if (base !== null && (parent === base || parent.startsWith(base + path.sep))) return path.join(parent, name);
  }
  return null;
}

async function resolved(folder: string): Promise<string | null> {
  try {
    return await realpath(folder);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return null;
    throw cause;
  }
}

async function compareExisting(place: string, content: string): Promise<Effect> {
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

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
