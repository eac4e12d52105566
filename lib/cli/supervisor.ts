import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";

const POLITE_MS = 10_000;

/** A program that we start and must stop. */
export interface ChildSpec {
  readonly name: string;
  readonly file: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A few programs that live and die together. */
export interface Supervisor {
  start(spec: ChildSpec): void;
  /** Resolves with the sentence to show when one of the programs ends before `stop` was asked for. */
  readonly failure: Promise<string>;
  /** Stop them all, politely at first. Resolves when they are gone. */
  stop(): Promise<void>;
}

/**
 * Fork programs with a channel to each.
 *
 * The channel is the safety line: it closes when we are killed, and each program ends on that, so that
 * nothing of an old start is left to hold the port or to work beside the next one.
 */
export function supervise(say: (line: string) => void): Supervisor {
  const running = new Map<string, ChildProcess>();
  let stopping = false;
  const { promise: failure, resolve: fail } = deferred<string>();

  return {
    failure,
    start({ name, file, cwd, env }) {
      const child = fork(file, [], { cwd, env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
      running.set(name, child);
      relay(child.stdout, say);
      relay(child.stderr, say);
      child.once("error", (cause) => fail(`The ${name} cannot be started: ${cause.message}`));
      child.once("exit", (code, signal) => {
        running.delete(name);
        if (!stopping)
          fail(`The ${name} ended by itself (${signal ?? `exit code ${code}`}); its last words stand above.`);
      });
    },
    async stop() {
      stopping = true;
      await Promise.all([...running.values()].map(end));
    },
  };
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const impatient = setTimeout(() => child.kill("SIGKILL"), POLITE_MS);
    child.once("exit", () => {
      clearTimeout(impatient);
      resolve();
    });
    child.kill("SIGTERM");
  });
}

/** Next greets with an address of its own, which is not the one to open. */
const GREETING = /^\s*(▲ Next\.js|- (Local|Network):|✓ )/;

/** Pass on whole lines, so that two programs do not write into each other's. */
function relay(stream: Readable | null, say: (line: string) => void): void {
  let rest = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (!GREETING.test(line)) say(line);
  });
  stream?.once("end", () => {
    if (rest !== "") say(rest);
  });
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
