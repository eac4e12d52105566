import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import { createFile } from "./create-file";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), "holdpoint-create-")));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string) => path.join(root, name);
const create = (args: JsonObject, target = at("a.txt")) =>
  createFile({ args: canonicalJson(args), target: canonicalJson(target) }, [root]);

test("a file that could not be written whole is not there, and the next attempt writes it", async () => {
  const probe = await open(at("probe"), "w");
  const handle: { writeFile(text: string): Promise<void>; write(text: string): Promise<unknown> } =
    Object.getPrototypeOf(probe);
  await probe.close();
  rmSync(at("probe"));
  vi.spyOn(handle, "writeFile").mockImplementationOnce(async function (this: typeof handle, text) {
    await this.write(text.slice(0, 3));
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  });
  await expect(create({ content: "a whole brief" })).rejects.toThrow("no space left");
  expect(readdirSync(root)).toEqual([]);
  expect(await create({ content: "a whole brief" })).toEqual({
    kind: "executed",
    contentHash: sha256Hex("a whole brief"),
  });
  expect(readdirSync(root)).toEqual(["a.txt"]);
});

test("what an attempt that was killed in mid-write left behind stands in nobody's way", async () => {
  const content = "a whole brief";
  writeFileSync(at(`.holdpoint-${sha256Hex(`a.txt\n${content}`).slice(0, 32)}`), "a wh");
  expect(await create({ content })).toMatchObject({ kind: "executed" });
  expect([readdirSync(root), readFileSync(at("a.txt"), "utf8")]).toEqual([["a.txt"], content]);
});

test("a name that is taken stays as it is, also where a link has it that leads nowhere", async () => {
  writeFileSync(at("a.txt"), "other");
  expect(await create({ content: "mine" })).toMatchObject({
    kind: "output_conflict",
    existingHash: sha256Hex("other"),
  });
  symlinkSync(at("nowhere"), at("link.txt"));
  expect(await create({ content: "mine" }, at("link.txt"))).toMatchObject({ kind: "output_conflict" });
  expect(readdirSync(root).sort()).toEqual(["a.txt", "link.txt"]);
  expect(await create({ content: "other" })).toMatchObject({ kind: "recovered" });
});

test("arguments that name another path than the output are refused, and nothing is written", async () => {
  expect(await create({ content: "x", path: at("b.txt") })).toMatchObject({ kind: "invalid_args" });
  expect(readdirSync(root)).toEqual([]);
  expect(await create({ content: "x", path: at("a.txt") })).toMatchObject({ kind: "executed" });
});

test("a name that the file system takes for too long is the call's fault, and no attempt of the worker's", async () => {
  expect(await create({ content: "x" }, at("x".repeat(300)))).toMatchObject({ kind: "invalid_args" });
  expect(await create({ content: "x" }, at(`${"y".repeat(300)}/a.txt`))).toMatchObject({
    kind: "output_outside_roots",
  });
  expect(readdirSync(root)).toEqual([]);
});
