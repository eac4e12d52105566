import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { stored } from "@/lib/protocol/book/stored";
import type { JsonObject, JsonValue } from "@/lib/protocol/canonical-json";
import { type CommandArgs, readCommandArgs } from "./command-args";
import type { Act, Effect, Reach } from "./effect";
import { codeOf, type HeldFolder, openBeneath } from "./folders";

const LIMIT_MS = 30_000;
const MOST_OUTPUT_BYTES = 65_536;

/** All that a program finds in its environment: none of our variables, and so none of our secrets. */
const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LANG: "C.UTF-8",
} as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv;

/**
 * Run one listed program, by its words and never through a shell, in a folder beneath a write root (without one: the first root).
 * Result: `{exit_code, signal, stdout, stderr, truncated}`; an exit code that is not 0 is a result too. When its time is over, or when
 * the program has ended and left others behind, its whole process group is killed.
 */
export async function runCommand(act: Act, reach: Reach, stop: AbortSignal): Promise<Effect> {
  const target = stored(act.target);
  const args = readCommandArgs(stored(act.args), target);
  if (!args.ok) return args.refusal;
  if (!(reach.commands ?? []).includes(args.value.program)) {
    return { kind: "failed", code: "command_not_allowed", detail: "the program is not in HOLDPOINT_COMMANDS" };
  }
  const folder = await workingFolder(target, reach);
  if (folder === null) {
    return { kind: "failed", code: "folder_outside_roots", detail: "the folder is beneath no write root" };
  }
  try {
    if (stop.aborted) return { kind: "failed", code: "stopped", detail: "nothing was started" };
    return await ended(args.value, folder.at, reach.limitMs ?? LIMIT_MS, stop);
  } finally {
    await folder.close();
  }
}

async function workingFolder(target: JsonValue, { writeRoots }: Reach): Promise<HeldFolder | null> {
  const folder = target ?? writeRoots[0];
  return typeof folder === "string" ? openBeneath(folder, writeRoots) : null;
}

function ended(args: CommandArgs, cwd: string, limitMs: number, stop: AbortSignal): Promise<Effect> {
  return new Promise((resolve) => {
    // A group of its own, so that what it starts can be ended with it.
    const child = spawn(args.program, args.words, { cwd, env: ENVIRONMENT, shell: false, detached: true });
    const stdout = keep(child.stdout);
    const stderr = keep(child.stderr);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child);
    }, limitMs);
    const stopNow = () => killGroup(child);
    stop.addEventListener("abort", stopNow, { once: true });
    const leave = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", stopNow);
    };
    child.once("error", (cause) => {
      leave();
      if (child.pid === undefined)
        resolve({ kind: "failed", code: "not_started", detail: `the program does not start (${codeOf(cause)})` });
    });
    // What it left behind in its group would hold the pipes open, and would go on after the report.
    child.once("exit", () => killGroup(child));
    child.once("close", (exitCode, signal) => {
      leave();
      const facts = { exit_code: exitCode, signal, ...printed(stdout(), stderr()) };
      if (isLate) resolve({ kind: "failed", code: "timed_out", detail: LATE, facts });
      else if (stop.aborted) resolve({ kind: "unknown", code: "stopped", detail: STOPPED, again: "never" });
      else resolve({ kind: "answered", output: facts });
    });
    write(child, args.stdin);
  });
}

const LATE = "the program's time was over and it was killed; what it had done until then stands";
const STOPPED = "the program was killed because its worker had to stop";

/** A program may close its input before it has read it: that is its own affair. */
function write({ stdin }: ChildProcessWithoutNullStreams, text: string): void {
  stdin.on("error", () => undefined);
  stdin.end(text);
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (cause) {
    // ESRCH: the group is gone. Where there are no groups, the program itself is all that can be ended.
    if (codeOf(cause) !== "ESRCH") child.kill("SIGKILL");
  }
}

interface Kept {
  readonly text: string;
  readonly truncated: boolean;
}

/** The first bytes of a stream; the rest is read and dropped, so that the program is not held up by a full pipe. */
function keep(stream: Readable): () => Kept {
  const chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  stream.on("data", (chunk: Buffer) => {
    const room = MOST_OUTPUT_BYTES - length;
    if (chunk.length > room) isCut = true;
    const part = chunk.subarray(0, room);
    length += part.length;
    chunks.push(part);
  });
  return () => ({ text: new TextDecoder().decode(Buffer.concat(chunks)), truncated: isCut });
}

function printed(stdout: Kept, stderr: Kept): JsonObject {
  return { stdout: stdout.text, stderr: stderr.text, truncated: stdout.truncated || stderr.truncated };
}
