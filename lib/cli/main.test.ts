import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { main } from "./main";

let said: { out: string; err: string };
beforeEach(() => {
  said = { out: "", err: "" };
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said.out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.err += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

// A folder that is not there: whoever opened the database before the words were judged would fail on it.
const say = (...args: readonly string[]) => main({ root: "/nowhere/to/be/found", args });

test.each([
  [["bogus"], 'There is no verb "bogus".'],
  [["keys"], "Say: keys create."],
  [["keys", "create", "--kind", "agent"], "--name is missing."],
  [["keys", "create", "--kind", "person", "--name", "a"], "--kind is one of agent, operator, worker."],
  [["people", "add", "--role", "owner"], "The e-mail of the person is missing."],
  [["people", "add", "bea", "--role", "owner"], '"bea" is no e-mail address.'],
  [["people", "add", "a@b.example", "--role", "boss"], "--role is one of approver, operator, owner."],
  [["replay"], "The word after the verb is missing."],
  [["replay", "a.jsonl", "--most", "all"], "--most is a whole number from 1."],
  [["replay", "a.jsonl", "b.jsonl"], '"b.jsonl" is one word too many.'],
  [["start", "run-1"], "--output is missing."],
  [["start", "run-1", "--ouput", "x"], "Unknown option '--ouput'."],
])("%j is refused by what is wrong in it, before anything is opened", async (args, why) => {
  expect(await say(...args)).toBe(2);
  expect(said.out).toBe('{"error":"usage"}\n');
  const [first, ...lines] = said.err.trimEnd().split("\n");
  expect(first).toBe(why);
  const own = args[0] === "bogus" ? 10 : 1;
  expect(lines).toHaveLength(own);
});

test.each([[[]], [["help"]]])("%j lists every verb, with what it does", async (args) => {
  expect(await say(...args)).toBe(0);
  expect(JSON.parse(said.out).usage).toHaveLength(10);
  expect(said.err).toMatch(/^holdpoint keys create .* {2}a key, shown once$/m);
});

test("a file that is no bundle is told so, without a database", async () => {
  expect(await say("verify", `${import.meta.dirname}/main.ts`)).toBe(2);
  expect(JSON.parse(said.out).error).toBe("invalid_body");
});

test("a refusal that was saved instead of a bundle is told where bundles come from", async () => {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), "holdpoint-")), "saved.json");
  writeFileSync(file, '{"code":"not_permitted"}');
  expect(await say("verify", file)).toBe(2);
  expect(JSON.parse(said.out)).toEqual({ error: "not_a_bundle", at: "" });
  expect(said.err).toContain("GET /api/v1/runs/{run_id}/bundle");
});
