import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { othersWriteToo } from "./refusal-count";

/** A small program in a process of its own, for tests that kill processes. */
export interface ChildProgram {
  /** Start it. It talks by IPC: what it sends with `process.send` is one answer. */
  start(...args: readonly string[]): ChildProcess;
  /** Wait for the next message of a started one; its early end is an error. */
  answer(child: ChildProcess): Promise<unknown>;
  remove(): void;
}

/** A guard that is left out of a bundle, so that it can be seen what it guards. */
export interface LeftOut {
  readonly file: string;
  /** What stands in that file, once. */
  readonly guard: string;
}

/** Bundle TypeScript source (with imports from the project's root) into a program that plain Node can run. */
export async function childProgram(source: string, leftOut: LeftOut | null = null): Promise<ChildProgram> {
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
    plugins: leftOut === null ? [] : [leavingOut(leftOut)],
    logLevel: "error",
  });
  return {
    start: (...args) => {
      othersWriteToo();
      // Without what the test's own runner is started with: that makes a start twice as slow.
      return fork(file, args, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
    },
    answer: (child) =>
      new Promise((resolve, reject) => {
        child.once("message", resolve);
        child.once("exit", (code, signal) => reject(new Error(`the program ended (${code ?? signal})`)));
      }),
    remove: () => rmSync(file, { force: true }),
  };
}

function leavingOut({ file, guard }: LeftOut): Plugin {
  const whole = path.resolve(file);
  return {
    name: "leaving out a guard",
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, (found) => {
        if (found.path !== whole) return null;
        const [before, after, ...more] = readFileSync(whole, "utf8").split(guard);
        if (after === undefined || more.length > 0) throw new Error(`the guard stands not once in ${file}`);
        return { contents: `${before}${after}`, loader: "ts" };
      });
    },
  };
}
