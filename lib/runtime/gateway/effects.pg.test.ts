import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { CallRequest } from "@/db/store/propose";
import { aCall, allow, newWorld, openTestRun, park, standing, type World } from "@/db/testing/world";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { Worker } from "@/lib/runtime/worker";
import type { Reach } from "./effect";
import { closeTargets, reaching, target } from "./testing/request";

let world: World;
let root: string;
beforeAll(async () => {
  world = await newWorld(8);
  root = mkdtempSync(path.join(os.tmpdir(), "holdpoint-effects-"));
});
afterAll(async () => {
  await world.close();
  rmSync(root, { recursive: true, force: true });
});
afterEach(closeTargets);

/** An approved call of a worker's run. */
async function approved(call: Partial<CallRequest>): Promise<string> {
  const runId = await openTestRun(world, world.agent, "worker");
  const ticket = (await park(world, runId, [aCall(call)])).calls[0]?.ticket;
  if (!ticket) throw new Error("the call did not park");
  const answer = await allow(world, ticket);
  if (!answer.ok) throw new Error(answer.refusal.code);
  return runId;
}

const workerWith = (reach: Reach, stop = new AbortController().signal) => new Worker(world.db, { ...reach, stop });

/** Work until the call stands so; a job that was put off becomes due in between. */
async function workUntil(worker: Worker, runId: string, is: (call: CallFacts) => boolean): Promise<CallFacts> {
  for (;;) {
    await worker.tick();
    const { call } = await standing(world, runId);
    if (is(call)) return call;
    await sleep(50);
  }
}

const isCompleted = (call: CallFacts) => call.status === "completed";

test("a write whose answer never came is sent again under the same key, and reported once it is known", async () => {
  let times = 0;
  const server = await target((response) => {
    times += 1;
    if (times > 1) response.end("created");
  });
  const at = `http://127.0.0.1:${server.port}`;
  const runId = await approved({ action: "http_request", args: { method: "POST", body: "x" }, output: at });
  const call = await workUntil(workerWith(reaching(at, { limitMs: 300 })), runId, isCompleted);
  expect(call).toMatchObject({ outcome: "succeeded", effectiveClass: "idempotency_key", attempt: 2 });
  expect(stored(call.result ?? "")).toMatchObject({ status: 200, body: "created" });
  const keys = server.asked.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([call.effectKey, call.effectKey]);
  expect(call.effectKey).toMatch(/^[0-9a-f]{64}$/);
});

test("a worker that is stopped while it reads reports no failure of the call: the next one reads again", async () => {
  const stop = new AbortController();
  let times = 0;
  const server = await target((response) => {
    times += 1;
    if (times > 1) response.end("read");
    else stop.abort();
  });
  const at = `http://127.0.0.1:${server.port}`;
  const runId = await approved({ action: "http_request", args: {}, output: at });
  await workUntil(workerWith(reaching(at), stop.signal), runId, ({ status }) => status === "executing");
  const call = await workUntil(workerWith(reaching(at)), runId, isCompleted);
  expect(call).toMatchObject({ outcome: "succeeded", attempt: 2 });
});

test("a read is read_only, and a refusal of the gateway is the call's failure by its code", async () => {
  const runId = await approved({ action: "http_request", args: {}, output: "https://api.example.com/" });
  const call = await workUntil(workerWith({ writeRoots: [] }), runId, isCompleted);
  expect(call).toMatchObject({ outcome: "failed", effectiveClass: "read_only" });
  expect(stored(call.error ?? "")).toMatchObject({ code: "host_not_allowed" });
});

test("a program runs once; what it printed is the result", async () => {
  const argv = [process.execPath, "-e", "console.log('done')"];
  const runId = await approved({ action: "run_command", args: { argv }, output: root });
  const call = await workUntil(workerWith({ writeRoots: [root], commands: [process.execPath] }), runId, isCompleted);
  expect(call).toMatchObject({ outcome: "succeeded", effectiveClass: "none", attempt: 1 });
  expect(stored(call.result ?? "")).toMatchObject({ exit_code: 0, stdout: "done\n" });
});

test("a program that was killed with its worker is not run again: the call is indeterminate, for a person to settle", async () => {
  const ran = path.join(root, "ran");
  const script = `require("fs").appendFileSync(${JSON.stringify(ran)}, "x"); setInterval(() => {}, 1000)`;
  const argv = [process.execPath, "-e", script];
  const runId = await approved({ action: "run_command", args: { argv }, output: root });
  const reach = { writeRoots: [root], commands: [process.execPath] };
  const stop = new AbortController();
  const working = workerWith(reach, stop.signal).tick();
  while (!existsSync(ran)) await sleep(20);
  stop.abort();
  await working;
  expect((await standing(world, runId)).call).toMatchObject({ status: "executing" });
  await workUntil(workerWith(reach), runId, (call) => call.status === "indeterminate");
  expect(readFileSync(ran, "utf8")).toBe("x");
});

test("a target that the gateway could not reach as it is written is refused when it is proposed", async () => {
  for (const [action, output] of [
    ["http_request", "example.com"],
    ["run_command", "folder"],
    ["write_file", "file.txt"],
  ] as const) {
    const runId = await openTestRun(world, world.agent, "worker");
    await expect(park(world, runId, [aCall({ action, args: {}, output })])).rejects.toThrow("invalid_output");
  }
});
