import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processIdentity } from "@/db/embedded/process-identity";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { type Supervisor, supervise } from "./supervisor";

let folder = "";
let said = "";
let programs: Supervisor;
const remove: ChildProgram[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-supervisor-"));
  said = "";
  programs = supervise((line) => {
    said += `${line}\n`;
  });
});
afterEach(async () => {
  await programs.stop();
  for (const program of remove.splice(0)) program.remove();
  rmSync(folder, { recursive: true });
});

function start(name: string, source: string): void {
  const file = path.join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  programs.start({ name, file, cwd: folder, env: { NODE_ENV: "test" } });
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 250 && !condition(); tries += 1) await sleep(20);
  expect(condition()).toBe(true);
}

const LIVES = `console.log("pid " + process.pid); setInterval(() => {}, 1000);`;
const pidOf = () => Number(/pid (\d+)/.exec(said)?.[1]);

describe("the supervisor", () => {
  it("a program that ends by itself is a failure that names it, and stop ends the others", async () => {
    start("worker", LIVES);
    start("web server", `setTimeout(() => process.exit(7), 100);`);
    await expect(programs.failure).resolves.toMatch(/The web server ended by itself \(exit code 7\)/);
    await until(() => said.includes("pid"));
    await programs.stop();
    expect(processIdentity(pidOf())).toBeNull();
  });

  it("kill -9 of a program is a failure", async () => {
    start("worker", LIVES);
    await until(() => said.includes("pid"));
    process.kill(pidOf(), "SIGKILL");
    await expect(programs.failure).resolves.toMatch(/The worker ended by itself \(SIGKILL\)/);
  });

  it("a program gets the time to finish its work", async () => {
    start(
      "worker",
      `process.on("SIGTERM", () => setTimeout(() => { console.log("finished"); process.exit(0); }, 200)); ${LIVES}`,
    );
    await until(() => said.includes("pid"));
    await programs.stop();
    expect(said).toMatch(/finished/);
  });

  it("whole lines are passed on, and Next's greeting with its other address is not", async () => {
    start("web server", `console.log("▲ Next.js 16\\n- Local: http://0.0.0.0:1\\n✓ Ready in 1s\\nkept"); ${LIVES}`);
    await until(() => said.includes("pid"));
    expect(said).toMatch(/^kept\npid \d+\n$/);
  });

  it("kill -9 of the supervisor itself: a program that ends on disconnect leaves nothing behind", async () => {
    const child = path.join(folder, "child.mjs");
    writeFileSync(child, `process.on("disconnect", () => process.exit(1)); ${LIVES}`);
    const outer = await childProgram(`
      import { supervise } from "./lib/cli/supervisor";
      const programs = supervise((text) => process.send(text));
      programs.start({ name: "worker", file: process.argv[2], cwd: ".", env: { NODE_ENV: "test" } });
    `);
    remove.push(outer);
    const supervisor = outer.start(child);
    said = String(await outer.answer(supervisor));
    supervisor.kill("SIGKILL");
    await until(() => processIdentity(pidOf()) === null);
  });
});
