import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { cancelJob, requeueJob } from "@/db/store/mailbox/operate";
import { type ChildProgram, childProgram } from "@/db/testing/child-program";
import { startAgentRun } from "@/db/testing/start-agent";
import { aCall, allow, newWorld, openTestRun, park, standing, type World } from "@/db/testing/world";
import { type TargetServer, targetServer } from "@/lib/runtime/gateway/testing/target-server";
import { type Script, says } from "@/lib/runtime/model/scripted";
import { Worker } from "@/lib/runtime/worker";

let world: World;
let admin: postgres.Sql;
let folder: string;
let mortal: ChildProgram;
beforeAll(async () => {
  world = await newWorld();
  admin = postgres(world.adminUrl, { max: 1, onnotice: () => undefined });
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-poison-"));
  mortal = await childProgram(`
    import { appendFileSync } from "node:fs";
    import { readHostRules } from "@/lib/runtime/gateway/hosts";
    import { says } from "@/lib/runtime/model/scripted";
    import { runWorker } from "@/lib/runtime/worker";
    const [databaseUrl, folder, hosts] = process.argv.slice(2);
    const poison = ({ messages }) => {
      const { text } = messages.find(({ role }) => role === "user");
      if (text !== "exit") return says("Done.");
      appendFileSync(folder + "/exit", "x");
      process.exit(1);
    };
    const stop = new AbortController();
    process.once("SIGTERM", () => stop.abort());
    await runWorker({
      databaseUrl,
      writeRoots: [folder],
      httpHosts: readHostRules(hosts).value,
      commands: ["/bin/sh"],
      leaseMs: 1_500,
      models: { settings: { baseUrl: null, apiKey: null, timeoutMs: 10_000 }, scripts: { poison }, recording: null },
      stop: stop.signal,
    });
    process.exit(0);
  `);
});
const targets: TargetServer[] = [];
afterEach(() => Promise.all(targets.splice(0).map((target) => target.close())));
afterAll(async () => {
  mortal.remove();
  await admin.end();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run whose model is asked at once; its job is given up after so many attempts. */
async function started(input: string, attempts: number): Promise<string> {
  const definition = { controller: "react", instructions: "Work." };
  const content = {
    name: "poisoned",
    provider: "scripted:poison",
    model: "m",
    mcpServers: null,
    tools: [],
    build: null,
  };
  const run = await startAgentRun(world.db, world.agent, { agent: { ...content, definition }, input });
  if (!run.ok) throw new Error(run.refusal.code);
  await admin`update jobs set max_attempts = ${attempts} where run = (select id from runs where run_id = ${run.value})`;
  return run.value;
}

async function jobOf(runId: string) {
  const [job] = await admin<
    { id: string; status: string; attempts: number; error: string | null; stalled: string | null }[]
  >`
    select j.job_id as id, j.status, j.attempt_count as attempts, j.last_error as error, r.stalled_reason as stalled
    from jobs j join runs r on r.id = j.run where r.run_id = ${runId}`;
  if (!job) throw new Error("no job");
  return job;
}

/** What other workers do all the time: take back what dead ones held. */
const sweeper = () => new Worker(world.db, { writeRoots: [], stop: new AbortController().signal });

test("T70: a job that ends its worker is started as often as it may be and no more, is a dead letter that says so, and starts afresh when it is requeued", async () => {
  const runId = await started("exit", 2);
  const others = sweeper();
  while ((await jobOf(runId)).status !== "DeadLetter") {
    const child = mortal.start(world.appUrl, folder, "");
    const ended = once(child, "exit");
    while (child.exitCode === null && child.signalCode === null) {
      await others.sweep();
      if ((await jobOf(runId)).status === "DeadLetter") child.kill("SIGKILL");
      await Promise.race([ended, sleep(50)]);
    }
  }
  expect(readFileSync(path.join(folder, "exit"), "utf8")).toBe("xx");
  const job = await jobOf(runId);
  expect(job).toMatchObject({ attempts: 2, error: "the worker's lease was over", stalled: "dead_letter" });
  expect((await requeueJob(world.db, world.operator, job.id, "the worker is mended")).ok).toBe(true);
  expect(await jobOf(runId)).toMatchObject({ status: "Queued", attempts: 0, stalled: null });
  await cancelJob(world.db, world.operator, job.id, "it is not mended");
});

/** What may be thrown, and how its job's last error begins. */
const THROWN: readonly (readonly [string, () => unknown, RegExp])[] = [
  ["fifty megabytes of text", () => new Error(`\u001b[2J\u0000${"x".repeat(50_000_000)}`), /\[2J\u2400x{8000}/],
  ["half a pair at the cut", () => new Error(`${"x".repeat(8_191)}\u{1f600}`), /^x{8191}\ufffd$/],
  ["a text", () => "no error", /^no error$/],
  ["nothing", () => undefined, /^undefined$/],
  ["what has no words", () => Object.create(null), /^a failure without words$/],
  [
    "an error whose words cannot be had",
    () => Object.defineProperty(new Error("x"), "message", { get: () => unspeakable() }),
    /^a failure without words$/,
  ],
];

function unspeakable(): never {
  throw new Error("no");
}

test.each(THROWN)(
  "T70: a job that throws %s is given back with that, cut and storable, and the worker goes on",
  async (_what, thrown, said) => {
    const poison: Script = ({ messages }) => {
      if (messages.some(({ role, text }) => role === "user" && text === "well")) return says("Done.");
      throw thrown();
    };
    const errors: unknown[] = [];
    const worker = new Worker(world.db, {
      writeRoots: [],
      models: { settings: { baseUrl: null, apiKey: null, timeoutMs: 1_000 }, scripts: { poison }, recording: null },
      stop: new AbortController().signal,
      onError: (error) => errors.push(error),
    });
    const runId = await started("ill", 1);
    const other = await started("well", 1);
    while (await worker.tick());
    const job = await jobOf(runId);
    expect(job).toMatchObject({ status: "DeadLetter", attempts: 1, stalled: "dead_letter" });
    expect(job.error).toMatch(said);
    expect(job.error?.length).toBeLessThanOrEqual(8_192);
    expect(errors).toHaveLength(1);
    expect(await jobOf(other)).toMatchObject({ status: "Accepted", error: null });
  },
);

/** An approved act of a worker's run. */
async function approved(over: Parameters<typeof aCall>[0]): Promise<string> {
  const runId = await openTestRun(world, world.agent, "worker");
  const [parked] = (await park(world, runId, [aCall(over)])).calls;
  if (!parked?.ticket) throw new Error("the call did not park");
  const decided = await allow(world, parked.ticket);
  if (!decided.ok) throw new Error(decided.refusal.code);
  return runId;
}

test("T78: a worker that is told to stop in the middle of its acts lets go of them, leaves no claim behind, and claims nothing more", async () => {
  const silent = await targetServer(() => undefined);
  targets.push(silent);
  const hosts = `http://127.0.0.1:${silent.port}`;
  const pid = path.join(folder, "pid");
  const argv = ["/bin/sh", "-c", `echo $$ > ${pid}; sleep 600`];
  const program = await approved({ action: "run_command", args: { argv }, output: folder });
  const request = await approved({ action: "http_request", args: { method: "POST", body: "x" }, output: hosts });
  const child = mortal.start(world.appUrl, folder, hosts);
  const ended = once(child, "exit");
  while (silent.asked.length === 0 || !existsSync(pid) || readFileSync(pid, "utf8") === "") await sleep(50);
  const late = await approved({ action: "write_file", args: { content: "x" }, output: path.join(folder, "late.txt") });
  child.kill("SIGSTOP");
  const later = await approved({
    action: "write_file",
    args: { content: "x" },
    output: path.join(folder, "later.txt"),
  });
  child.kill("SIGTERM");
  child.kill("SIGCONT");
  expect(await ended).toEqual([0, null]);
  const held = await admin`select job_id from jobs where status = 'Claimed'`;
  expect(held).toEqual([]);
  // Neither is called a failure: nobody knows how far they came.
  for (const runId of [program, request])
    expect((await standing(world, runId)).call).toMatchObject({ status: "executing" });
  expect(() => process.kill(Number(readFileSync(pid, "utf8")), 0)).toThrow("ESRCH");
  expect((await standing(world, later)).call).toMatchObject({ status: "approved", attempt: 0 });
  expect((await standing(world, late)).call.attempt).toBeLessThanOrEqual(1);
});
