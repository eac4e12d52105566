import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { figure } from "@/db/testing/figure";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { perform } from "./gateway";

/** Has a folder's name lead out of the write root and back, as fast as it can. */
const SWAPPER = `
  const fs = require("node:fs");
  const { folder, outside } = require("node:worker_threads").workerData;
  for (;;) {
    fs.renameSync(folder, folder + "-aside");
    fs.symlinkSync(outside, folder);
    fs.unlinkSync(folder);
    fs.renameSync(folder + "-aside", folder);
  }`;

let root: string;
let outside: string;
let folder: string;
let swapper: Worker;
beforeEach(() => {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), "holdpoint-swaps-")));
  [root, outside, folder] = [path.join(base, "root"), path.join(base, "outside"), path.join(base, "root", "folder")];
  for (const made of [root, outside, folder]) mkdirSync(made);
  swapper = new Worker(SWAPPER, { eval: true, workerData: { folder, outside } });
});
afterEach(async () => {
  await swapper.terminate();
  rmSync(path.dirname(root), { recursive: true, force: true });
});

const act = (action: string, args: Parameters<typeof canonicalJson>[0], target: string) =>
  perform(
    { action, args: canonicalJson(args), target: canonicalJson(target), effectKey: "k" },
    { writeRoots: [root], commands: ["/bin/pwd"] },
    new AbortController().signal,
  );

/** So many rounds, and until both came often enough: an act in the folder, and one that was refused since its name led elsewhere. */
async function swapped(rounds: number, once: (round: number) => Promise<"done" | "refused">) {
  const counts = { done: 0, refused: 0 };
  for (let round = 0; round < rounds || Math.min(counts.done, counts.refused) < 20; round += 1)
    counts[await once(round)] += 1;
  return counts;
}

// Judged by its name and then reached by it again, 87 of 3,000 files were written outside.
test.runIf(process.platform === "linux")(
  "T23: 200 times a file in a folder whose name is swapped for a link all the time: none is written outside the root",
  async () => {
    const { done, refused } = await swapped(200, async (round) => {
      const effect = await act("write_file", { content: `${round}` }, path.join(folder, `${round}.txt`));
      if (effect?.kind === "executed") return "done";
      expect(effect).toMatchObject({ kind: "output_outside_roots" });
      return "refused";
    });
    expect(readdirSync(outside)).toEqual([]);
    figure(
      "a swapped folder",
      `${done} files made where they were judged to go, ${refused} refused, 0 outside the write root`,
    );
  },
);

test.runIf(process.platform === "linux")("T23: nor does a program work outside it", async () => {
  await swapped(40, async () => {
    const effect = await act("run_command", { argv: ["/bin/pwd", "-P"] }, folder);
    if (effect?.kind === "failed") {
      expect(effect.code).toBe("folder_outside_roots");
      return "refused";
    }
    const { stdout } = effect?.kind === "answered" ? effect.output : {};
    expect(String(stdout).startsWith(root)).toBe(true);
    return "done";
  });
});
