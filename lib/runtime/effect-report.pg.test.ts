import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Db } from "@/db/client";
import { startAgentRun } from "@/db/testing/start-agent";
import { allow, standing } from "@/db/testing/world";
import { readHostRules } from "./gateway/hosts";
import { targetServer } from "./gateway/testing/target-server";
import { AgentWorld, type Line, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

let made = 0;

/** A run whose calls, one batch, are all allowed; the job by which they are begun is claimed. */
async function allowedRun(calls: Line) {
  const script = new Script([calls, "Done."]);
  const name = `acts-${++made}`;
  const tools = ["http_request", "write_file", "send_mail"].map((tool) => ({ name: tool }));
  const definition = { controller: "react", instructions: "Work.", batch_mode: "parallel" };
  const content = { name, provider: "scripted", model: "m", mcpServers: null, build: null, tools, definition };
  const started = await startAgentRun(at.world.db, at.world.agent, { agent: content, input: "Go." });
  if (!started.ok) throw new Error(started.refusal.code);
  await at.drive(script);
  for (const ticket of await at.openTickets(started.value)) await allow(at.world, ticket);
  return { runId: started.value, script, job: await at.claim() };
}

test("a request whose end nobody knows is not sent again under the claim that sent it, whatever its siblings do", async () => {
  const server = await targetServer((response) => response.socket?.destroy());
  const url = `http://127.0.0.1:${server.port}/orders`;
  const file = path.join(at.folder, "beside.txt");
  const { runId, job } = await allowedRun([
    ["http_request", { url, method: "POST" }],
    ["write_file", { path: file, content: "x" }],
  ]);
  const hosts = readHostRules(`http://127.0.0.1:${server.port}`);
  if (!hosts.ok) throw new Error(hosts.refusal);
  const reach = { writeRoots: [at.folder], httpHosts: hosts.value };
  await at.advance(job, null, undefined, { reach });
  expect((await standing(at.world, runId, "s1.1")).call.outcome).toBe("succeeded");
  expect((await standing(at.world, runId)).call).toMatchObject({ status: "executing", attempt: 1 });
  expect(server.asked).toHaveLength(1);
  await server.close();
  await at.finish(job);
  await at.abandon(runId);
});

/** The database, whose next transactions find no connection. */
function away(db: Db, times: { left: number }): Db {
  const sql = new Proxy(db.sql, {
    get: (target, name) => {
      if (name !== "begin" || times.left <= 0) return Reflect.get(target, name);
      times.left -= 1;
      return () => Promise.reject(Object.assign(new Error("cut"), { code: "CONNECTION_CLOSED" }));
    },
  });
  return { ...db, sql };
}

test("an effect's report outlives a database that is away for a moment: nobody else could tell what was done", async () => {
  const { runId, script, job } = await allowedRun([["send_mail", { to: "ada@example.test" }]]);
  const times = { left: 0 };
  const failAt = (point: string) => {
    if (point === "after_effect") times.left = 2;
  };
  await at.advance(job, script, failAt, { db: away(at.world.db, times) });
  expect(times.left).toBe(0);
  expect((await standing(at.world, runId)).call).toMatchObject({ status: "completed", attempt: 1 });
  await at.finish(job);
  await at.drive(script);
  expect(await at.row(runId)).toMatchObject({ cause: "completed" });
});
