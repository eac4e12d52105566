import { mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { secretFile } from "./secret-file";

let folder = "";
let program: ChildProgram | null = null;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-secret-"));
});
afterEach(() => {
  program?.remove();
  rmSync(folder, { recursive: true });
});

describe("a secret's file", () => {
  it("is made once, with 256 bits, readable by its owner alone", () => {
    const file = path.join(folder, "new", "secret");
    const first = secretFile(file);
    expect(secretFile(file)).toBe(first);
    expect(Buffer.from(first, "base64url")).toHaveLength(32);
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  });

  it("six processes at once get the same one", async () => {
    program = await childProgram(`
      import { secretFile } from "./lib/cli/secret-file";
      process.send(secretFile(process.argv[2]));
      process.disconnect();
    `);
    const { start, answer } = program;
    const file = path.join(folder, "secret");
    const secrets = await Promise.all(Array.from({ length: 6 }, () => answer(start(file))));
    expect(new Set(secrets).size).toBe(1);
  });
});
