import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Effect, Reach } from "./effect";
import { perform } from "./gateway";

const NODE = process.execPath;
let root: string;
let outside: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "command-")));
  outside = await realpath(await mkdtemp(path.join(os.tmpdir(), "outside-")));
});

afterEach(async () => {
  for (const folder of [root, `${root}-x`, outside]) await rm(folder, { recursive: true, force: true });
});

interface Run {
  readonly folder?: JsonValue;
  readonly stdin?: string;
  readonly reach?: Partial<Reach>;
  readonly stop?: AbortSignal;
}

function run(argv: JsonValue, { folder = null, stdin, reach = {}, stop = new AbortController().signal }: Run = {}) {
  const args = canonicalJson(stdin === undefined ? { argv } : { argv, stdin });
  const act = { action: "run_command", args, target: canonicalJson(folder), effectKey: "k" };
  return perform(act, { writeRoots: [root], commands: [NODE], limitMs: 20_000, ...reach }, stop);
}

/** A program of Node with its words. */
const node = (script: string, ...words: string[]): JsonValue => [NODE, "-e", script, "--", ...words];

const printed = (effect: Effect | null) => (effect as Extract<Effect, { kind: "answered" }>).output;

describe("a program on the list", () => {
  it("tells its exit code and what it printed", async () => {
    const effect = await run(node("process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 3"));
    expect(effect).toEqual({
      kind: "answered",
      output: { exit_code: 3, signal: null, stdout: "out", stderr: "err", truncated: false },
    });
  });

  it("gets its words as they are: nothing in them is a shell's", async () => {
    const words = [
      "; touch pwned",
      "$(touch pwned)",
      "`touch pwned`",
      "a b",
      "*",
      "$HOME",
      "&& touch pwned",
      "'\"",
      "",
    ];
    const effect = await run(node("console.log(JSON.stringify(process.argv.slice(1)))", ...words));
    expect(JSON.parse(String(printed(effect).stdout))).toEqual(words);
    expect(await readdir(root)).toEqual([]);
  });

  it("reads its input to the end, and may leave it unread", async () => {
    expect(printed(await run(node("process.stdin.pipe(process.stdout)"), { stdin: "a\nö" })).stdout).toBe("a\nö");
    const unread = await run(node("process.exit(0)"), { stdin: "x".repeat(200_000) });
    expect(printed(unread).exit_code).toBe(0);
  });

  it("finds PATH and LANG in its environment and nothing of ours", async () => {
    const effect = await run(node("console.log(JSON.stringify(Object.keys(process.env).sort()))"));
    expect(JSON.parse(String(printed(effect).stdout))).toEqual(["LANG", "PATH"]);
  });

  it("prints without end: the first 64 KiB of each stream are kept, and it is not held up", async () => {
    const effect = await run(node("process.stdout.write('o'.repeat(1e6)); process.stderr.write('e'.repeat(1e6))"));
    const output = printed(effect);
    expect(output).toMatchObject({ exit_code: 0, truncated: true });
    expect([String(output.stdout).length, String(output.stderr).length]).toEqual([65_536, 65_536]);
  });

  it("works in the folder that is its target, or else in the first write root", async () => {
    await mkdir(path.join(root, "in"));
    const script = "process.stdout.write(process.cwd())";
    expect(printed(await run(node(script), { folder: path.join(root, "in") })).stdout).toBe(path.join(root, "in"));
    expect(printed(await run(node(script))).stdout).toBe(root);
  });
});

describe("what is not run", () => {
  it.each([[["node", "-v"]], [[`${NODE}/../node`, "-v"]], [["/bin/sh", "-c", "true"]], [[`${NODE} -v`]]])(
    "%j is not on the list",
    async (argv) => {
      expect(await run(argv)).toMatchObject({ kind: "failed", code: "command_not_allowed" });
    },
  );

  it("anything, while the list is empty", async () => {
    expect(await run(node(""), { reach: { commands: [] } })).toMatchObject({ code: "command_not_allowed" });
  });

  it.each([[[]], ["node -v"], [[NODE, 1]], [[NODE, "a\0b"]], [null]])("%j is no argv", async (argv) => {
    expect(await run(argv as JsonValue)).toMatchObject({ kind: "invalid_args" });
  });

  it("a folder among the arguments that is another than the target", async () => {
    const act = (folder: string) => ({
      action: "run_command",
      args: canonicalJson({ argv: node("require('fs').writeFileSync('ran', '')"), folder }),
      target: canonicalJson(root),
      effectKey: "k",
    });
    const reach = { writeRoots: [root], commands: [NODE] };
    const stop = new AbortController().signal;
    expect(await perform(act("/tmp"), reach, stop)).toMatchObject({ kind: "invalid_args" });
    expect(await readdir(root)).toEqual([]);
    expect(await perform(act(root), reach, stop)).toMatchObject({ kind: "answered" });
  });

  it("too many words, too much input", async () => {
    expect(await run([NODE, "x".repeat(65_536)])).toMatchObject({ kind: "failed", code: "too_large" });
    expect(await run(node(""), { stdin: "x".repeat(262_145) })).toMatchObject({ kind: "failed", code: "too_large" });
  });

  it("a program that is listed and not there", async () => {
    const missing = path.join(root, "missing");
    const effect = await run([missing], { reach: { commands: [missing] } });
    expect(effect).toMatchObject({ kind: "failed", code: "not_started" });
  });

  it("a folder outside the write roots, also by a link or by dots", async () => {
    await symlink(outside, path.join(root, "link"));
    const touch = node("require('fs').writeFileSync('pwned', '')");
    // A folder beside the root whose name begins alike.
    await mkdir(`${root}-x`);
    for (const folder of [outside, path.join(root, "link"), `${root}/../${path.basename(outside)}`, `${root}-x`, "/"]) {
      expect(await run(touch, { folder })).toMatchObject({ kind: "failed", code: "folder_outside_roots" });
    }
    expect(await run(touch, { reach: { writeRoots: [] } })).toMatchObject({ code: "folder_outside_roots" });
    expect(await readdir(outside)).toEqual([]);
  });

  it("anything, once the worker must stop", async () => {
    const effect = await run(node("require('fs').writeFileSync('ran', '')"), { stop: AbortSignal.abort() });
    expect(effect).toMatchObject({ kind: "failed", code: "stopped" });
    expect(await readdir(root)).toEqual([]);
  });
});

/** Starts a child of its own that ignores SIGTERM, writes its pid, and waits with it. */
const STUBBORN = `
const child = require("child_process").spawn(process.execPath, ["-e",
  "process.on('SIGTERM', () => {}); require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)"],
  { stdio: "inherit" });
process.on("SIGTERM", () => {});
`;

async function pidOfGrandchild(): Promise<number> {
  for (;;) {
    const text = await readFile(path.join(root, "pid"), "utf8").catch(() => "");
    if (text !== "") return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Resolves once the process is gone, or only waits to be reaped, which Linux tells. */
async function isGone(pid: number): Promise<true> {
  while (answers(pid)) {
    const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    if (/ Z /.test(status)) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a program that does not end", () => {
  it("is killed when its time is over, with its children, and what it had printed is told", async () => {
    const effect = run(node(`console.log("began"); ${STUBBORN}`), { reach: { limitMs: 1_500 } });
    const pid = await pidOfGrandchild();
    expect(await effect).toMatchObject({
      kind: "failed",
      code: "timed_out",
      facts: { exit_code: null, signal: "SIGKILL", stdout: "began\n" },
    });
    expect(await isGone(pid)).toBe(true);
  });

  it("is killed when its worker must stop, and nobody says that it failed", async () => {
    const stop = new AbortController();
    const effect = run(node(STUBBORN), { stop: stop.signal });
    const pid = await pidOfGrandchild();
    stop.abort();
    expect(await effect).toMatchObject({ kind: "unknown", code: "stopped", again: "never" });
    expect(await isGone(pid)).toBe(true);
  });

  it("or leaves a child behind that holds its output: the child ends with it", async () => {
    const script = `${STUBBORN} const w = setInterval(() => require("fs").existsSync("pid") && process.exit(0), 10)`;
    const effect = await run(node(script));
    expect(effect).toMatchObject({ kind: "answered", output: { exit_code: 0 } });
    expect(await isGone(await pidOfGrandchild())).toBe(true);
  });
});
