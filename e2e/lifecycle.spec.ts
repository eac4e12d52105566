import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { processIdentity } from "@/db/embedded/process-identity";
import { type App, forgetFolder, freePort, startApp, throwAwayFolder } from "./server";

/** The processes of one app, by what they are. */
function family(app: App): { web: number; worker: number; postgres: number } {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const children = lines.flatMap((line) => {
    const [, pid, parent, program] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === app.pid ? [{ pid: Number(pid), program: program ?? "" }] : [];
  });
  const named = (part: string) => children.find(({ program }) => program.includes(part))?.pid ?? Number.NaN;
  const pidFile = path.join(app.dataDir, "pg", "cluster", "pgdata", "postmaster.pid");
  return {
    web: named("next-server"),
    worker: named("worker.mjs"),
    postgres: Number(readFileSync(pidFile, "utf8").split("\n")[0]),
  };
}

async function bootId(origin: string): Promise<unknown> {
  return (await (await fetch(`${origin}/healthz`)).json()).boot_id;
}

async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 500 && processIdentity(pid) !== null; tries += 1) await sleep(20);
  expect(processIdentity(pid), `process ${pid}`).toBeNull();
}

test.describe("npm start", () => {
  test.describe.configure({ mode: "serial" });
  let dataDir = "";
  let port = 0;
  const start = () => startApp({ dataDir, port });

  test.beforeAll(async () => {
    dataDir = throwAwayFolder();
    port = await freePort();
  });
  test.afterAll(() => forgetFolder(dataDir));

  test("SIGTERM stops everything it started, and answers 0", async () => {
    const app = await start();
    const { web, worker, postgres } = family(app);
    expect(await app.stop()).toBe(0);
    for (const pid of [web, worker, postgres]) await gone(pid);
    expect(app.log()).toContain("Holdpoint has stopped");
  });

  test("kill -9 of the main process: the next start answers itself, on the same data", async () => {
    const first = await start();
    const before = { ...family(first), boot: await bootId(first.origin) };
    await first.kill("SIGKILL");
    const second = await start();
    expect(await bootId(second.origin)).not.toBe(before.boot);
    for (const pid of [before.web, before.worker]) await gone(pid);
    expect(family(second).postgres).toBe(before.postgres);
    expect(await second.stop()).toBe(0);
    await gone(before.postgres);
  });

  for (const name of ["web", "worker", "postgres"] as const) {
    test(`kill -9 of ${name}: the rest stops with 1, and the next start works`, async () => {
      const first = await start();
      const ended = first.kill("SIGCONT");
      const all = family(first);
      process.kill(all[name], "SIGKILL");
      await ended;
      expect(first.log()).toMatch(/ended by itself/);
      for (const pid of Object.values(all)) await gone(pid);
      const second = await start();
      expect(await second.stop()).toBe(0);
    });
  }

  test("a busy port is said in a sentence, and the one that runs goes on", async () => {
    const app = await start();
    const other = throwAwayFolder();
    await expect(startApp({ port, dataDir: other })).rejects.toThrow(/Port \d+ is in use by another program.*PORT=/);
    expect((await fetch(`${app.origin}/readyz`)).status).toBe(200);
    await app.stop();
    forgetFolder(other);
  });

  test("two side by side on their own ports and data", async () => {
    const other = throwAwayFolder();
    const [one, two] = await Promise.all([start(), startApp({ dataDir: other })]);
    expect(await bootId(one.origin)).not.toBe(await bootId(two.origin));
    expect(family(one).postgres).not.toBe(family(two).postgres);
    expect(await one.stop()).toBe(0);
    expect((await fetch(`${two.origin}/readyz`)).status).toBe(200);
    expect(await two.stop()).toBe(0);
    forgetFolder(other);
  });
});
