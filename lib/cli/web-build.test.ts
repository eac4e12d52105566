import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureWebBuild, sourceStamp } from "./web-build";

let root = "";

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "holdpoint-build-"));
  write("app/page.tsx", "page");
  write("package-lock.json", "{}");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("a build's stamp", () => {
  it.each([
    ["a page changes", "app/page.tsx", "other"],
    ["a file is added", "lib/new.ts", ""],
    ["the lock changes", "package-lock.json", "{ }"],
    ["a public file changes", "public/icon.svg", "<svg/>"],
  ])("is another one when %s", (_what, name, text) => {
    const before = sourceStamp(root);
    write(name, text);
    expect(sourceStamp(root)).not.toBe(before);
  });

  it.each(["app/page.test.tsx", "lib/x.pg.test.ts", "db/testing/x.ts", "README.md", "e2e/a.spec.ts", ".data/pg/x"])(
    "stays when %s changes: it is in no build",
    (name) => {
      const before = sourceStamp(root);
      write(name, "changed");
      expect(sourceStamp(root)).toBe(before);
    },
  );
});

describe("ensureWebBuild", () => {
  it("a fresh build is used as it is", async () => {
    const folder = path.join(root, "dist", `web-${sourceStamp(root)}`);
    write(path.relative(root, path.join(folder, "server.js")), "");
    const lines: string[] = [];
    const build = await ensureWebBuild(root, (line) => lines.push(line), new AbortController().signal);
    expect(build.folder).toBe(folder);
    expect(lines).toEqual([]);
  });
});
