import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { readThreads } from "./replay";
import { verifyFile } from "./verify";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-exact-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(content: string | Uint8Array): string {
  const file = path.join(folder, "lines.jsonl");
  writeFileSync(file, content);
  return file;
}

const line = (args: string, more = "") => `{"thread_id":"t","tool":"x","args":${args}${more}}`;
const latin1 = Buffer.from(line('"é"'), "latin1");

test.each<[string, string | Uint8Array, string]>([
  ["a key twice", line('{"a":1,"\\u0061":2}'), "duplicate_key"],
  ["a number that no double holds", line("1e400"), "number_not_representable"],
  ["half a pair", line('"\\ud800"'), "invalid_unicode"],
  ["a byte that is no UTF-8", latin1, "invalid_unicode"],
  ["a byte order mark", `\ufeff${line("1")}`, "invalid_body"],
  ["more behind its end", `${line("1")} x`, "invalid_body"],
  ["no JSON", "{", "invalid_body"],
  ["NaN", line("NaN"), "invalid_body"],
])("T87: a recorded line with %s is refused by its number, and never mended", async (_what, bad, code) => {
  const file = written(Buffer.concat([Buffer.from(`${line("1")}\n`), Buffer.from(bad)]));
  const refused = await readThreads(file).catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ error: code, advice: expect.stringMatching(/^line 2/) });
});

test("T87: a recorded call keeps its arguments and its result as they were, whatever stands in them", async () => {
  const args = '{"__proto__":{"a":1},"line":"a\u2028b\u2029c\u0085d","n":9007199254740993}';
  const result = '{"id":9007199254740993,"s":"\u2028"}';
  const file = written(
    `${line(args, `,"result":${result}`)}\r\n\n  \n${line("2", ',"step":1,"result":[9007199254740993]')}`,
  );
  const [thread] = await readThreads(file);
  const calls = (thread?.recording.steps ?? []).flatMap((step) => (step.kind === "calls" ? [...step.calls] : []));
  expect(calls.map((call) => [canonicalJson(call.args), call.result])).toEqual([
    [args, result],
    ["2", "[9007199254740993]"],
  ]);
});

test("T87: a bundle with a byte that is no UTF-8 does not verify as the one whose place it takes", async () => {
  const whole = '{"v":1,"kind":"bundle","workspace_id":"w","run_id":"\ufffd","trace":[],"proposals":[]}';
  const altered = Buffer.from(Buffer.from(whole).toString("latin1").replace("\u00ef\u00bf\u00bd", "\u00ff"), "latin1");
  await expect(verifyFile(written(altered))).rejects.toMatchObject({ error: "invalid_unicode" });
});
