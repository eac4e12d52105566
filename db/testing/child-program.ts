import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { othersWriteToo } from "./refusal-count";

/** A small program in a process of its own, for tests that kill processes. */
export interface ChildProgram {
  /** Start it. It talks by IPC: what it sends with `process.send` is one answer. */
  start(...args: readonly string[]): ChildProcess;
  /** Wait for the next message of a started one; its early end is an error. */
  answer(child: ChildProcess): Promise<unknown>;
  remove(): void;
}

/** Bundle TypeScript source (with imports from the project's root) into a program that plain Node can run. */
export async function childProgram(source: string): Promise<ChildProgram> {
  // Inside node_modules, so that the bundle finds the packages it leaves outside.
  const file = path.resolve("node_modules", ".cache", "holdpoint-tests", `${randomUUID()}.mjs`);
  await build({
    stdin: { contents: source, resolveDir: process.cwd(), loader: "ts" },
    alias: { "@": process.cwd() },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    external: ["postgres", "zod", "drizzle-orm"],
    outfile: file,
    logLevel: "error",
  });
  return {
    start: (...args) => {
      othersWriteToo();
      return fork(file, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    },
    answer: (child) =>
      new Promise((resolve, reject) => {
        child.once("message", resolve);
        child.once("exit", (code, signal) => reject(new Error(`the program ended (${code ?? signal})`)));
      }),
    remove: () => rmSync(file, { force: true }),
  };
}
