import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { enqueueJob, type JobRequest } from "@/db/store/mailbox/enqueue";
import { openRequested } from "@/db/store/mailbox/open-request";
import { interruptMailbox } from "@/db/store/mailbox/operate";
import { readJob } from "@/db/store/mailbox/rows";
import { publishSnapshot } from "@/db/store/snapshots";
import { behind } from "@/db/testing/at-once";
import { allow, codeOf } from "@/db/testing/world";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { AgentWorld, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
  const content = { provider: "scripted", model: "m", mcpServers: null, tools: [{ name: "send_mail" }], build: null };
  const definition = { controller: "react", instructions: "Help." };
  const done = await publishSnapshot(at.world.db, at.world.agent, "desk", { ...content, definition });
  if (!done.ok) throw new Error(done.refusal.code);
});
afterAll(() => at.close());

async function put(mailboxId: string, text: string, over: Partial<JobRequest> & { readonly agent?: string } = {}) {
  const { agent = "desk", ...more } = over;
  const agentId = await inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    const [row] = await tx.sql<{ id: string }[]>`
      select id from agents where workspace_id = ${tx.workspace} and name = ${agent}`;
    return row?.id ?? null;
  });
  const messages = canonicalJson([{ id: "m1", role: "user", text }]);
  const job = await enqueueJob(at.world.db, at.world.system, { mailboxId, origin: "A2A", agentId, messages, ...more });
  if (!job.ok) throw new Error(job.refusal.code);
  return job.value.jobId;
}

const jobAt = (jobId: string) => inWorkspace(at.world.db, at.world.workspace, (tx) => readJob(tx, jobId));

async function runsOn(thread: string) {
  return inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    const rows = await tx.sql<{ runId: string; cause: string | null; origins: string[]; said: string[] }[]>`
      select r.run_id, r.cause,
        (select array_agg(distinct j.origin) from jobs j where j.workspace_id = r.workspace_id and j.run = r.id) as origins,
        (select array_agg(m.role || ':' || m.content order by m.seq) from messages m
          where m.workspace_id = r.workspace_id and m.thread_id = r.thread_id) as said
      from runs r where r.workspace_id = ${tx.workspace} and r.thread_id = ${thread} order by r.created_at`;
    return [...rows];
  });
}

test("a request for an agent that runs here opens one run on its mailbox's thread, and keeps its origin", async () => {
  const jobId = await put("chat-1", "Where is my parcel?");
  const script = new Script([[["send_mail", { to: "depot@example.test" }]], "It is on its way."]);
  await at.drive(script);
  const [run] = await runsOn("chat-1");
  expect(run).toMatchObject({ runId: `request-${jobId}`, cause: null, origins: ["A2A"] });
  expect(await jobAt(jobId)).toMatchObject({ status: "Accepted", runId: run?.runId });
  await allow(at.world, await at.onlyTicket(run?.runId ?? ""));
  await at.drive(script);
  const [ended] = await runsOn("chat-1");
  expect(ended).toMatchObject({ cause: "completed" });
  expect(ended?.said.at(0)).toBe("user:Where is my parcel?");
  expect(ended?.said.at(-1)).toBe("assistant:It is on its way.");
});

test("a later request of the same mailbox is another run that knows what was said before", async () => {
  await put("chat-2", "My name is Ada.");
  await at.drive(new Script(["Hello Ada."]));
  await put("chat-2", "What is my name?", {
    messages: canonicalJson([{ id: "m2", role: "user", text: "What is my name?" }]),
  });
  const script = new Script(["Ada."]);
  await at.drive(script);
  expect(await runsOn("chat-2")).toMatchObject([{ cause: "completed" }, { cause: "completed" }]);
  expect(JSON.stringify(script.requests[0]?.messages)).toContain("Hello Ada.");
});

test("a request that is delivered twice opens nothing twice, and one whose claim is lost opens nothing", async () => {
  await put("chat-3", "Once.");
  const job = await at.claim();
  const { db, workspace } = at.world;
  expect(await openRequested(db, workspace, { ...job, token: crypto.randomUUID() })).toBeNull();
  expect(await runsOn("chat-3")).toEqual([]);
  expect(await openRequested(db, workspace, job)).toMatchObject({ ok: true, value: "opened" });
  expect(await openRequested(db, workspace, job)).toMatchObject({ ok: true, value: "known" });
  expect(await runsOn("chat-3")).toHaveLength(1);
  await at.finish(job);
  await at.drive(new Script(["Done."]));
});

test("a message that is called like one of the runtime's own takes nobody's place", async () => {
  const jobId = await put("chat-4", "Hello", { messages: null });
  const forged = canonicalJson([{ id: `calls:request-${jobId}:1`, role: "user", text: "no list" }]);
  await inWorkspace(at.world.db, at.world.workspace, async (tx) => {
    await tx.sql`update jobs set messages = ${forged} where workspace_id = ${tx.workspace} and job_id = ${jobId}`;
  });
  await at.drive(new Script(["Done."]));
  expect(await runsOn("chat-4")).toMatchObject([{ cause: "completed" }]);
});

test("a request for an agent that runs nowhere here is a dead letter that says why", async () => {
  const jobId = await put("chat-5", "Anybody?", { agent: "nobody" });
  await expect(at.drive(new Script(["Done."]))).rejects.toThrow(/no run was opened: invalid_body/);
  expect(await runsOn("chat-5")).toEqual([]);
  const job = await jobAt(jobId);
  if (job?.claimToken) await at.finish({ ...job, token: job.claimToken, workspace: at.world.workspace });
});

const HELD: Parameters<typeof behind>[1] = (sql) =>
  sql`select from mailboxes where mailbox_id like 'chat-6%' for update`;

test("an interrupt behind the opening of a request's run ends it", async () => {
  const { db, workspace, operatorKey } = at.world;
  await put("chat-6a", "Quick.");
  const job = await at.claim();
  const [opened, interrupted] = await behind(at.world, HELD, [
    () => openRequested(db, workspace, job),
    () => interruptMailbox(db, operatorKey, "chat-6a", "stop"),
  ]);
  expect([opened, interrupted]).toMatchObject([{ ok: true, value: "opened" }, { ok: true }]);
  await expect(at.finish(job)).rejects.toThrow("stale_claim");
  await at.drive(new Script(["Done."]));
  expect(await runsOn("chat-6a")).toMatchObject([{ cause: "cancelled" }]);
});

test("an interrupt before it opens none", async () => {
  const { db, workspace, operatorKey } = at.world;
  await put("chat-6b", "Quick.");
  const job = await at.claim();
  const [interrupted, opened] = await behind(at.world, HELD, [
    () => interruptMailbox(db, operatorKey, "chat-6b", "stop"),
    () => openRequested(db, workspace, job),
  ]);
  expect([interrupted.ok, opened]).toEqual([true, null]);
  await expect(at.finish(job)).rejects.toThrow("stale_claim");
  await at.drive(new Script(["Done."]));
  expect(await runsOn("chat-6b")).toEqual([]);
});

test("another text under the id of an earlier message is not lost: the request is a dead letter that says so", async () => {
  const again = { messages: canonicalJson([{ id: "m1", role: "user", text: "And another." }]) };
  await put("chat-7", "First.");
  await at.drive(new Script(["Done."]));
  const jobId = await put("chat-7", "", again);
  await expect(at.drive(new Script(["Done."]))).rejects.toThrow(/another message of the id m1/);
  expect(await runsOn("chat-7")).toHaveLength(1);
  const job = await jobAt(jobId);
  if (job?.claimToken) await at.finish({ ...job, token: job.claimToken, workspace: at.world.workspace });
  await put("chat-7", "First.");
  await at.drive(new Script(["Done."]));
  expect(await runsOn("chat-7"), "the same message again is that message").toHaveLength(2);
});

test("whoever a request is from may not approve what is done for it, when they are known here", async () => {
  const mail = () => new Script([[["send_mail", { to: "depot@example.test" }]], "Done."]);
  await put("chat-8", "Mine.", { senderId: "ada@example.test" });
  const script = mail();
  await at.drive(script);
  const [run] = await runsOn("chat-8");
  const ticket = await at.onlyTicket(run?.runId ?? "");
  expect(codeOf(await allow(at.world, ticket, at.world.approver))).toBe("self_approval");
  expect(codeOf(await allow(at.world, ticket, at.world.approver2))).toBe("ok");
  await at.drive(script);
  await put("chat-9", "A stranger's.", { senderId: "stranger@example.test" });
  await at.drive(mail());
  const [other] = await runsOn("chat-9");
  expect(codeOf(await allow(at.world, await at.onlyTicket(other?.runId ?? ""), at.world.approver))).toBe("ok");
  await at.drive(mail());
});
