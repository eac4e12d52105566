import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { withFolderLock } from "./folder-lock";

let folder = "";
let program: ChildProgram | null = null;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-lock-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
  program?.remove();
  program = null;
});

describe("the folder's lock", () => {
  it("twenty at once in one process: one at a time", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(2);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withFolderLock(folder, { waitMs: 20_000 }, work)));
    expect(most).toBe(1);
  });

  it("is free again after its work failed", async () => {
    const failing = withFolderLock(folder, { waitMs: 1_000 }, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    await expect(withFolderLock(folder, { waitMs: 1_000 }, () => Promise.resolve("yes"))).resolves.toBe("yes");
  });

  it("a number that now belongs to another process holds nothing", async () => {
    mkdirSync(path.join(folder, "lock"));
    writeFileSync(path.join(folder, "lock", "7"), `${process.pid}@long ago`);
    await expect(withFolderLock(folder, { waitMs: 1_000 }, () => Promise.resolve("yes"))).resolves.toBe("yes");
  });

  it("a live holder is named when the wait is over", async () => {
    let release = () => {};
    const held = withFolderLock(folder, { waitMs: 1_000 }, () => new Promise<void>((done) => (release = done)));
    await sleep(50);
    await expect(withFolderLock(folder, { waitMs: 100 }, () => Promise.resolve())).rejects.toThrow(
      new RegExp(`Process ${process.pid}.* has been busy with the database folder`),
    );
    release();
    await held;
  });

  it("six processes, half of them killed while they hold it: no step is lost or doubled", async () => {
    const counter = path.join(folder, "counter");
    const done = path.join(folder, "done");
    writeFileSync(counter, "0");
    mkdirSync(done);
    // Each round reads, waits and writes: two holders at once would lose a count. A killed round may have
    // counted without saying so, which is why its mark is made first and settled by the counter below.
    program = await childProgram(`
      import { readFileSync, writeFileSync } from "node:fs";
      import { setTimeout as sleep } from "node:timers/promises";
      import { withFolderLock } from "./db/embedded/folder-lock";
      const [folder, counter, done, me, dies] = process.argv.slice(2);
      for (let round = 0; round < 12; round += 1) {
        await withFolderLock(folder, { waitMs: 60_000 }, async () => {
          const value = Number(readFileSync(counter, "utf8"));
          await sleep(3);
          if (dies === "dies" && round === 5) process.kill(process.pid, "SIGKILL");
          writeFileSync(counter, String(value + 1));
          writeFileSync(done + "/" + me + "-" + round, "");
        });
      }
      process.disconnect();
    `);
    const running = ["a", "b", "c", "d", "e", "f"].map((me, index) =>
      program?.start(folder, counter, done, me, index % 2 === 0 ? "dies" : "lives"),
    );
    await Promise.all(running.map((child) => new Promise((ended) => child?.once("exit", ended))));
    const rounds = readdirSync(done).length;
    expect(rounds).toBe(3 * 12 + 3 * 5);
    expect(Number(readFileSync(counter, "utf8"))).toBe(rounds);
  }, 60_000);
});
