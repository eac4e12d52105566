import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { othersWriteToo } from "@/db/testing/refusal-count";
import { aCall, newWorld, openTestRun, park, type World } from "@/db/testing/world";
import { isObject, readJson } from "@/lib/protocol/canonical-json";

/** What a terminal obeys: cleared screens, titles, links, the clipboard, 8-bit introducers, overwriting, and reordering. */
const EVIL = [
  "\u001b[2J\u001b[H",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\",
  "\u001b]52;c;ZXZpbA==\u0007",
  "\u009b2J",
  "\u009d52;c;ZXZpbA==\u009c",
  "safe\rrm -rf /",
  "rm\b\b\b\b",
  "\u007f\u0085\u2028",
  "a\u202egpj.exe",
  "\u{e0072}\u{e006d}",
].join(" ");

let world: World;
let folder: string;
beforeAll(async () => {
  world = await newWorld(4);
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-terminal-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

/** Everything that a command writes, as it comes to the terminal. */
async function said(...args: readonly string[]): Promise<{ out: string; err: string }> {
  othersWriteToo();
  const child = spawn(process.execPath, [path.resolve("bin", "holdpoint.mjs"), ...args], {
    env: {
      NODE_ENV: "test",
      PATH: path.dirname(process.execPath),
      DATABASE_URL: world.appUrl,
      DATABASE_MIGRATE_URL: world.adminUrl,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  await new Promise((resolve) => child.once("close", resolve));
  return said;
}

/** The characters that a terminal obeys or does not show. */
function obeyed(text: string): readonly string[] {
  return text.match(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu) ?? [];
}

test("T7: an agent's words move no terminal, and the JSON is still what was stored", { timeout: 60_000 }, async () => {
  const runId = await openTestRun(world);
  await park(world, runId, [aCall({ action: `send${EVIL}`, args: { [EVIL]: EVIL }, output: EVIL, why: EVIL })]);
  const { out, err } = await said("show-trace", runId);
  expect(obeyed(out + err)).toEqual([]);
  const read = readJson(out.trimEnd());
  if (!read.ok || !isObject(read.value)) throw new Error(out);
  expect(read.value).toMatchObject({ action: `send${EVIL}`, args: { [EVIL]: EVIL }, output: EVIL });
});

test("T7: nor do a file's words, a name's, or an error's", { timeout: 60_000 }, async () => {
  const bundle = path.join(folder, "bundle.json");
  const call = { call_ref: EVIL, action: EVIL, args: EVIL, output: EVIL, proposal_hash: EVIL, approval_hash: null };
  const whole = { v: 1, kind: "bundle", workspace_id: "w", run_id: EVIL, trace: [], proposals: [call] };
  writeFileSync(bundle, JSON.stringify(whole));
  const lines = path.join(folder, "thread.jsonl");
  writeFileSync(lines, JSON.stringify({ thread_id: EVIL, source: EVIL }));
  const all = await Promise.all([
    said("verify", bundle),
    said("verify", EVIL),
    said("replay", lines),
    said("replay", path.join(folder, `${EVIL.replaceAll("/", "")}.jsonl`)),
    said(EVIL),
    said("start", "evil-run", "--output", `/${EVIL}`),
    said("start", "evil-run-2", "--output", EVIL),
    said("keys", "create", "--kind", "agent", "--name", EVIL),
  ]);
  for (const { out, err } of all) {
    expect(out + err).not.toBe("");
    expect(obeyed(out + err)).toEqual([]);
  }
  // They were said, and not left out.
  expect(all.filter(({ out, err }) => /u001b|U\+001B/.test(out + err)).length).toBeGreaterThan(5);
});
