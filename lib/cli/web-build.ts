import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { withFolderLock } from "@/db/embedded/folder-lock";
import { childEnvironment } from "./env";

/** What the console is made of. A change in any of these is another build. */
const SOURCES = ["app", "components", "lib", "db", "public"];
const SETTINGS = ["package-lock.json", "next.config.js", "postcss.config.mjs", "tsconfig.json"];
const ENTRIES = ["instrumentation.ts", "proxy.ts"];
const NOT_BUILT = /(\.(test|spec|testsuite)\.tsx?|\.md|\.sql)$|^db\/(testing|migrations)\//;

const BUILDS_KEPT = 3;

/** A built console: the folder with `server.js`. */
export interface WebBuild {
  readonly folder: string;
  readonly stamp: string;
}

/**
 * The console built from the sources as they are now.
 *
 * A build lies in a folder named by its sources' hash and is never changed afterwards: a fresh one is not
 * built again, a stale one is never served, and a server that runs keeps its files while another is built.
 */
export async function ensureWebBuild(
  root: string,
  report: (line: string) => void,
  stop: AbortSignal,
): Promise<WebBuild> {
  const ready = find(root);
  if (ready !== null) return ready;
  // Next writes to one folder; two starts at once must not build into each other.
  return withFolderLock(path.join(root, "dist"), { waitMs: 30 * 60_000 }, async () => {
    const meanwhile = find(root);
    if (meanwhile !== null) return meanwhile;
    const stamp = sourceStamp(root);
    report("Building the console (about a minute) …");
    const began = Date.now();
    await runNext(root, report, stop);
    const folder = publish(root, stamp);
    report(`Built in ${Math.round((Date.now() - began) / 1000)} s`);
    dropOldBuilds(root);
    return { folder, stamp };
  });
}

/** A hash over the names and contents of everything that goes into a build. */
export function sourceStamp(root: string): string {
  const hash = createHash("sha256");
  const names = [...SETTINGS, ...ENTRIES, ...SOURCES.flatMap((folder) => filesUnder(root, folder))];
  for (const name of names.filter((each) => !NOT_BUILT.test(each)).sort()) {
    const file = path.join(root, name);
    if (!existsSync(file)) continue;
    hash.update(`${name}\0${statSync(file).size}\0`);
    hash.update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 16);
}

function find(root: string): WebBuild | null {
  const stamp = sourceStamp(root);
  const folder = path.join(root, "dist", `web-${stamp}`);
  return existsSync(path.join(folder, "server.js")) ? { folder, stamp } : null;
}

function filesUnder(root: string, folder: string): string[] {
  const start = path.join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
}

async function runNext(root: string, report: (line: string) => void, stop: AbortSignal): Promise<void> {
  const began = Date.now();
  const next = path.join(root, "node_modules", "next", "dist", "bin", "next");
  const child = spawn(process.execPath, [next, "build"], {
    cwd: root,
    env: childEnvironment({ NODE_ENV: "production" }),
    stdio: ["ignore", 2, 2],
    signal: stop,
    killSignal: "SIGTERM",
  });
  const tick = setInterval(() => report(`  … still building, ${Math.round((Date.now() - began) / 1000)} s`), 10_000);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (exit, signal) => resolve(exit ?? signal));
    });
    if (code === 0) return;
    throw new Error(
      `The console could not be built (next build: ${code}); the cause stands above. ` +
        "On a fresh clone that is a fault of ours or a machine with less than 2 GB of free memory.",
    );
  } finally {
    clearInterval(tick);
  }
}

/** Move Next's output, made whole by the files it leaves beside it, to where it will be served from. */
function publish(root: string, stamp: string): string {
  const made = path.join(root, ".next", "standalone");
  cpSync(path.join(root, ".next", "static"), path.join(made, ".next", "static"), { recursive: true });
  if (existsSync(path.join(root, "public")))
    cpSync(path.join(root, "public"), path.join(made, "public"), { recursive: true });
  const folder = path.join(root, "dist", `web-${stamp}`);
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
  return folder;
}

function dropOldBuilds(root: string): void {
  const dist = path.join(root, "dist");
  const age = (name: string) => statSync(path.join(dist, name)).mtimeMs;
  const builds = readdirSync(dist)
    .filter((name) => name.startsWith("web-"))
    .sort((a, b) => age(b) - age(a));
  for (const name of builds.slice(BUILDS_KEPT)) rmSync(path.join(dist, name), { recursive: true, force: true });
}
