import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { childEnvironment } from "@/lib/cli/env";

const READY_MS = 240_000;

/** What the tester's shell may hold must not change what is tested. */
const UNSET = {
  DATABASE_URL: "",
  HOLDPOINT_ORIGIN: "",
  HOLDPOINT_HOST: "",
  HOLDPOINT_WRITE_ROOTS: "",
  HOLDPOINT_DEMO: "0",
};

/** A Holdpoint that a test started, as a person would: by `npm start`'s program, on its own port and data. */
export interface App {
  readonly origin: string;
  readonly dataDir: string;
  /** The first owner's sign-in link, while there is no owner. */
  readonly ownerLink: string | null;
  readonly pid: number;
  /** What it said on stderr so far. */
  log(): string;
  /** Stop it by SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  /** Send its main process a signal and wait for its end. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface StartOptions {
  /** The data of an earlier start; a new throw-away folder without one. */
  readonly dataDir?: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Start it and wait until it says that it is ready. */
export async function startApp(options: StartOptions = {}): Promise<App> {
  const port = options.port ?? (await freePort());
  const dataDir = options.dataDir ?? throwAwayFolder();
  const child = spawn("node", ["bin/start.mjs"], {
    cwd: path.resolve("."),
    env: childEnvironment({ ...UNSET, PORT: String(port), HOLDPOINT_DATA_DIR: dataDir, ...options.env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await ready(child, said);
  const { pid } = child;
  if (pid === undefined) throw new Error("the app has no process");
  return {
    origin: `http://localhost:${port}`,
    dataDir,
    ownerLink: /http\S+\/sign-in#\S+/.exec(said.out)?.[0] ?? null,
    pid,
    log: () => said.err,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}

/** A new folder that PostgreSQL's account can reach. */
export function throwAwayFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-e2e-"));
  chmodSync(folder, 0o755);
  return folder;
}

export function forgetFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject()));
    });
  });
}

function ready(child: ChildProcess, said: { readonly out: string; readonly err: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (failure: string | null) => {
      clearTimeout(late);
      if (failure === null) resolve();
      else reject(new Error(`The app did not get ready (${failure}):\n${said.out}${said.err}`));
    };
    const late = setTimeout(() => {
      child.kill("SIGTERM");
      settle(`nothing after ${READY_MS / 1000} s`);
    }, READY_MS);
    child.once("exit", (code) => settle(`exit code ${code}`));
    // The line, and the one below it that says how to sign in.
    child.stdout?.on("data", () => {
      if (/ is ready at .*\n.*\n/.test(said.out)) settle(null);
    });
  });
}
