import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inWorkspace } from "@/db/client";
import { childProgram } from "@/db/testing/child-program";
import { newWorld, type World } from "@/db/testing/world";
import { readJob } from "./rows";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});
afterAll(() => world.close());

/** Enqueues one job, says its id, and keeps its connection open until it is killed. */
const ENQUEUES = `
  import { connect } from "@/db/client";
  import { enqueueJob } from "@/db/store/mailbox/enqueue";
  const [url, caller] = process.argv.slice(2);
  const db = await connect(url, { role: "holdpoint_app" });
  const job = await enqueueJob(db, JSON.parse(caller), { mailboxId: "kept", origin: "User" });
  process.send(job.ok ? job.value.jobId : job.refusal.code);
  setInterval(() => undefined, 1_000);
`;

test("D4-37: a job whose enqueue has returned is there after its process was killed", async () => {
  const program = await childProgram(ENQUEUES);
  try {
    const child = program.start(world.appUrl, JSON.stringify(world.system));
    const jobId = await program.answer(child);
    child.kill("SIGKILL");
    await once(child, "exit");
    const job = await inWorkspace(world.db, world.workspace, (tx) => readJob(tx, String(jobId)));
    expect(job).toMatchObject({ status: "Queued", mailboxId: "kept" });
  } finally {
    program.remove();
  }
});
