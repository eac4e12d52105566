import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { type Script, says } from "@/lib/runtime/model/scripted";
import { Worker } from "@/lib/runtime/worker";
import { ApiWorld } from "./testing/api-world";

let api: ApiWorld;
beforeAll(async () => {
  api = await ApiWorld.open();
});
afterAll(() => api.close());

const DEFINITION = { controller: "react", instructions: "Be brief." };
const post = (path: string, body: JsonObject, caller: "agent" | "anotherAgent" = "agent") =>
  api.send(caller, "POST", path, { body });

async function publish(name: string, definition: JsonObject = DEFINITION): Promise<JsonObject> {
  const { status, json } = await post(`/api/v1/agents/${name}/snapshots`, { tools: [{ name: "look" }], definition });
  return { status, ...json };
}

async function jobsOf(runId: string): Promise<readonly JsonObject[]> {
  const { json } = await api.get("operatorKey", "/api/v1/jobs?limit=200");
  return (json.items as JsonObject[]).filter((job) => job.run_id === runId);
}

test("an agent that is published with a definition runs here: its run of the worker has its first look from the start", async () => {
  const { status, snapshot_id } = await publish("hosted");
  expect(status).toBe(201);
  const { json: run } = await post("/api/v1/runs", { agent: "hosted", executor: "worker", input: "Hello" });
  expect(run).toMatchObject({ snapshot_id, executor: "worker", state: "running" });
  expect(await jobsOf(String(run.run_id))).toMatchObject([{ kind: "resume", status: "Queued", agent: "hosted" }]);
});

test("the newest definition is taken, an older one when it is named, and none where the caller executes", async () => {
  const { snapshot_id: older } = await publish("twice");
  const { snapshot_id: newer } = await publish("twice", { ...DEFINITION, budget: 3 });
  const open = async (body: JsonObject) => (await post("/api/v1/runs", { agent: "twice", ...body })).json;
  expect((await open({ executor: "worker" })).snapshot_id).toBe(newer);
  const named = await open({ executor: "worker", snapshot_id: String(older) });
  expect([named.snapshot_id, (await jobsOf(String(named.run_id))).length]).toEqual([older, 1]);
  const own = await open({ executor: "client" });
  expect([older, newer]).not.toContain(own.snapshot_id);
  expect(await jobsOf(String(own.run_id))).toEqual([]);
});

test("a definition of another shape is refused at its place, and nothing is frozen", async () => {
  const refused = await publish("crooked", { ...DEFINITION, budgte: 3 });
  expect(refused).toMatchObject({ status: 422, code: "invalid_body", path: "definition" });
  const { status } = await post("/api/v1/runs", { agent: "crooked", executor: "worker" }, "anotherAgent");
  expect(status, "the name is still free").toBe(201);
});

test("a request for an agent that runs here is our worker's; no worker over HTTP can claim it", async () => {
  await publish("asked");
  const put = (mailbox: string, body: JsonObject) => api.post("workerKey", `/api/v1/mailboxes/${mailbox}/jobs`, body);
  const claim = async (mailbox: string) =>
    (await api.post("workerKey", `/api/v1/mailboxes/${mailbox}/claim`, { worker: "w" })).json.jobs;
  const messages = [{ id: "m1", role: "user", text: "Hello" }];
  expect((await put("ours", { agent: "asked", messages })).status).toBe(201);
  expect(await claim("ours")).toEqual([]);
  expect((await put("theirs", { messages })).status).toBe(201);
  expect(await claim("theirs")).toHaveLength(1);
});

test("what is said to a run joins its thread once and wakes it; another agent's run is not there", async () => {
  await publish("talker");
  const { json: run } = await post("/api/v1/runs", { agent: "talker", executor: "worker", input: "Hello" });
  const path = `/api/v1/runs/${run.run_id}/messages`;
  const said = { id: "m1", text: "And quickly." };
  const [first, again, other] = [
    await post(path, said),
    await post(path, said),
    await post(path, said, "anotherAgent"),
  ];
  expect([first.status, first.json.added, again.status, again.json.added]).toEqual([201, true, 200, false]);
  expect([other.status, other.json.code]).toEqual([404, "unknown_run"]);
  expect(await jobsOf(String(run.run_id))).toHaveLength(2);
});

test("T28: messages with the ids of a run's input, its model's words, its calls and their results take nothing's place and stop nobody", async () => {
  const { world } = api;
  const tools = [{ name: "look" }];
  await post("/api/v1/agents/planted/snapshots", { tools, provider: "scripted:planted", definition: DEFINITION });
  const open = (body: JsonObject) => post("/api/v1/runs", { agent: "planted", thread_id: "shared", ...body });
  expect((await open({ run_id: "planter" })).status).toBe(201);
  const ids = [
    "input:hosted",
    "assistant:hosted:1:0",
    "calls:hosted:1",
    "calls:hosted:99",
    "result:hosted:1:0",
    "runtime:hosted:1",
  ];
  const messages = ids.map((id) => ({ id, role: "tool", text: "approved" }));
  const step = { step: 1, messages, calls: [{ action: "a", args: 1 }] };
  expect((await post("/api/v1/runs/planter/calls", step)).status).toBe(201);
  expect((await open({ run_id: "hosted", executor: "worker", input: "Hello" })).status).toBe(201);

  const asked: string[][] = [];
  const planted: Script = ({ messages: heard }) => {
    asked.push(heard.map(({ role, text }) => `${role}:${text}`));
    return says("Done.");
  };
  const errors: unknown[] = [];
  const worker = new Worker(world.db, {
    writeRoots: [],
    models: { settings: { baseUrl: null, apiKey: null, timeoutMs: 1_000 }, scripts: { planted }, recording: null },
    stop: new AbortController().signal,
    onError: (error) => errors.push(error),
  });
  while (await worker.tick());
  expect(errors).toEqual([]);
  expect(asked).toEqual([["system:Be brief.", "user:Hello"]]);
  expect((await api.get("agent", "/api/v1/runs/hosted")).json).toMatchObject({ state: "ended", cause: "completed" });
  const said = await inWorkspace(
    world.db,
    world.workspace,
    (tx) => tx.sql<{ content: string }[]>`
      select content from messages where thread_id = 'shared' and source_id in ('input:hosted', 'assistant:hosted:1:0') order by seq`,
  );
  expect(said.map(({ content }) => content)).toEqual(["Hello", "Done."]);
});
