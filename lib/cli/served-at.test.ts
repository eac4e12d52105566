import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "./env";
import { originForLinks, rememberOrigin } from "./served-at";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-served-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shell = (values: Record<string, string>) =>
  readSettings("/clone", { NODE_ENV: "test", HOLDPOINT_DATA_DIR: folder, ...values });

test("a link made in another shell opens the console where it is served", () => {
  rememberOrigin(shell({ PORT: "4310" }));
  expect(originForLinks(shell({}))).toBe("http://localhost:4310");
});

test("what this shell says of the console counts before what was remembered", () => {
  rememberOrigin(shell({ PORT: "4310" }));
  expect(originForLinks(shell({ PORT: "4400" }))).toBe("http://localhost:4400");
  expect(originForLinks(shell({ HOLDPOINT_ORIGIN: "https://hold.example" }))).toBe("https://hold.example");
});

test("never served, or a file that holds no address: the default", () => {
  expect(originForLinks(shell({}))).toBe("http://localhost:3000");
  writeFileSync(path.join(folder, "served-at"), "");
  expect(originForLinks(shell({}))).toBe("http://localhost:3000");
});
