import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandOn, eventsOf } from "@/db/testing/command";
import { type FreshDatabase, freshDatabase } from "@/db/testing/fresh-database";
import { sha256Hex } from "@/lib/protocol/hash";

/**
 * The ten behaviours of [S1] C12 and D5 (54–66), each verb in a process of its own. The words, codes and hashes are the source's.
 */
let database: FreshDatabase;
let folder: string;
let holdpoint: ReturnType<typeof commandOn>;
let count = 0;

beforeAll(async () => {
  database = await freshDatabase();
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-c12-"));
  holdpoint = commandOn(database, folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

const SLOW = { timeout: 60_000 };

/** A run that `holdpoint start` opened, and what it prints. */
async function started() {
  count += 1;
  const run = `run-${count}`;
  const output = path.join(folder, `${run}.txt`);
  const { answer } = await holdpoint("start", run, "--output", output);
  return { run, output, hash: String(answer.proposal_hash) };
}

async function approved() {
  const what = await started();
  await holdpoint("approve", what.run, "--proposal-hash", what.hash);
  return what;
}

/** What somebody who can write the database does behind everybody's back, triggers or not. */
async function tamper(change: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(database.adminUrl, { max: 1, connection: { session_replication_role: "replica" } });
  await change(sql);
  await sql.end();
}

test("D5.54: start stops for a person, with request approval:<run> and exactly two events", SLOW, async () => {
  const answer = await holdpoint("start", "run-54", "--output", path.join(folder, "54.txt"));
  expect(answer).toMatchObject({
    code: 0,
    answer: { status: "WAITING_FOR_USER", request_id: "approval:run-54", executed: false },
  });
  expect(eventsOf(answer)).toEqual(["checkpoint_saved", "proposal_recorded"]);
  expect(await holdpoint("start", "run-54", "--output", "/tmp/other")).toMatchObject({
    code: 2,
    answer: { error: "run_exists:run-54" },
  });
  expect(await holdpoint("start", "run-54b", "--output", "relative.txt")).toMatchObject({
    code: 2,
    answer: { error: "invalid_output" },
  });
  expect(await holdpoint("show-trace", "run-54b")).toMatchObject({ code: 2, answer: { error: "unknown_run:run-54b" } });
});

test.each([
  ["/tmp/c12-draft.txt", "2bba1bb36ae552812b4b9e0d730249a3447adfc3ed100e0f4d92e3a8c28e7573"],
  ["/tmp/c12-exp1.txt", "af45d70539c0998f4e3071d23e5501ccd207fb1dd5fa1d3d758307d84b74a8b9"],
  ["/tmp/c12-exp2.txt", "bd3de4cee4ccf82fb98239c875d50dac6455907c76e67cd267949412d08cfe0c"],
])("D5.55: the fixture for %s has the golden hash", SLOW, async (output, golden) => {
  expect(await holdpoint("start", `golden-${path.basename(output)}`, "--output", output)).toMatchObject({
    answer: { proposal_hash: golden },
  });
});

test("D5.56: a wrong hash at approval is refused and the run still waits", SLOW, async () => {
  const { run } = await started();
  for (const verb of ["approve", "reject"]) {
    expect(await holdpoint(verb, run, "--proposal-hash", "0".repeat(64))).toMatchObject({
      code: 2,
      answer: { error: "proposal_hash_mismatch" },
    });
  }
  const after = await holdpoint("show-trace", run);
  expect(after.answer.status).toBe("WAITING_FOR_USER");
  expect(eventsOf(after).filter((event) => event === "proposal_rejected")).toHaveLength(2);
});

test("D5.57: without approval nothing is resumed and no file is there", SLOW, async () => {
  const { run, output } = await started();
  expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "approval_required" } });
  expect(() => statSync(output)).toThrow();
});

test("D5.58: rejected, then approved is not pending, then resumed is rejected", SLOW, async () => {
  const { run, hash, output } = await started();
  expect(await holdpoint("reject", run, "--proposal-hash", hash)).toMatchObject({
    code: 0,
    answer: { status: "REJECTED" },
  });
  expect(await holdpoint("approve", run, "--proposal-hash", hash)).toMatchObject({
    code: 2,
    answer: { error: "approval_not_pending" },
  });
  expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "approval_rejected" } });
  expect(() => statSync(output)).toThrow();
});

test("D5.59, interleaving 33: the request id replaced after approval is refused", SLOW, async () => {
  const { run, output } = await approved();
  await tamper(
    (sql) => sql`update tickets set correlation_id = 'approval:run-other' where correlation_id = ${`approval:${run}`}`,
  );
  expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "approval_request_mismatch" } });
  expect(() => statSync(output)).toThrow();
});

test(
  "D5.60, interleaving 33: arguments and proposal hash replaced together after approval are refused by the frozen approval hash",
  SLOW,
  async () => {
    const { run, output, hash } = await approved();
    const args = '{"content":"unauthorized change"}';
    const other = sha256Hex(`{"action":"write_draft","args":${args},"output":${JSON.stringify(output)}}`);
    await tamper(
      (sql) =>
        sql`update calls set args = ${args}, proposal_hash = ${other} where run = (select id from runs where run_id = ${run})`,
    );
    expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "proposal_hash_mismatch" } });
    expect(() => statSync(output)).toThrow();
    const { answer } = await holdpoint("show-trace", run);
    const rejected = (answer.trace as { event: string; payload: object }[]).find(
      (event) => event.event === "resume_rejected",
    );
    expect(rejected?.payload).toMatchObject({
      reason: "proposal_hash_mismatch",
      approval_hash: hash,
      current_hash: other,
      stored_hash: other,
    });
  },
);

test("D5.61, interleaving 33: another output path is refused before anything else that is wrong", SLOW, async () => {
  const { run } = await approved();
  await tamper(
    (sql) => sql`update tickets set correlation_id = 'approval:run-else' where correlation_id = ${`approval:${run}`}`,
  );
  expect(await holdpoint("resume", run, "--output", path.join(folder, "elsewhere.txt"))).toMatchObject({
    code: 2,
    answer: { error: "output_mismatch" },
  });
});

test(
  "D5.62 and D5.65: approved in one process and resumed in another is executed once; again it is already completed",
  SLOW,
  async () => {
    const { run, output } = await approved();
    const first = await holdpoint("resume", run);
    expect(first).toMatchObject({ code: 0, answer: { result: "executed", status: "COMPLETED", executed: true } });
    expect(readFileSync(output, "utf8")).toBe("approved technical brief");
    const { mtimeMs } = statSync(output);
    const second = await holdpoint("resume", run);
    expect(second).toMatchObject({ code: 0, answer: { result: "already_completed" } });
    expect(statSync(output).mtimeMs).toBe(mtimeMs);
    const events = eventsOf(second).filter((event) => event !== "run_ended");
    expect(events).toEqual([
      "checkpoint_saved",
      "proposal_recorded",
      "proposal_verified",
      "approval_recorded",
      "proposal_verified",
      "resume_started",
      "action_executed",
      "action_replayed",
    ]);
    expect(await holdpoint("verify", run)).toMatchObject({ code: 0, answer: { verified: true, events: 9 } });
  },
);

test(
  "D5.63: killed after the file was made, the next process finds it done and does not write again",
  SLOW,
  async () => {
    const { run, output } = await approved();
    expect((await commandOn(database, folder, "after_effect:1")("resume", run)).code).not.toBe(0);
    const { mtimeMs } = statSync(output);
    const resumed = await holdpoint("resume", run);
    expect(resumed).toMatchObject({ code: 0, answer: { result: "recovered", status: "COMPLETED" } });
    expect(statSync(output).mtimeMs).toBe(mtimeMs);
    expect(eventsOf(resumed)).toContain("action_recovered");
  },
);

test("D5.64: an existing file with other content is a conflict, untouched, and may be retried", SLOW, async () => {
  const { run, output } = await approved();
  writeFileSync(output, "different content\n");
  expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "output_conflict" } });
  expect(readFileSync(output, "utf8")).toBe("different content\n");
  const after = await holdpoint("show-trace", run);
  expect(after.answer.status).toBe("APPROVED");
  const conflict = (after.answer.trace as { event: string; payload: object }[]).find(
    (event) => event.event === "action_conflict",
  );
  expect(conflict?.payload).toMatchObject({
    expected_content_hash: "6c2595d3124e2ba62657df81eb1b4fd933468c8d3dea6f4e6d3d77a00483c41c",
    existing_content_hash: sha256Hex("different content\n"),
  });
  rmSync(output);
  expect(await holdpoint("resume", run)).toMatchObject({ code: 0, answer: { result: "executed" } });
});

test(
  "D5.66: every refused verdict and resume is an event with its reason and the input that was rejected",
  SLOW,
  async () => {
    const { run } = await started();
    await holdpoint("approve", run, "--proposal-hash", "f".repeat(64));
    await holdpoint("resume", run);
    const { answer } = await holdpoint("show-trace", run);
    const refused = (answer.trace as { event: string; payload: object }[]).filter((event) =>
      event.event.endsWith("_rejected"),
    );
    expect(refused.map((event) => event.event)).toEqual(["proposal_rejected", "resume_rejected"]);
    for (const event of refused) {
      expect(event.payload).toMatchObject({ reason: expect.any(String), rejected_input: { hash: expect.any(String) } });
    }
  },
);

test.each(["directly", "through a link"])(
  "a target outside the write roots, named %s, is refused",
  SLOW,
  async (how) => {
    symlinkSync("/etc", path.join(folder, `link-${how.length}`));
    const output =
      how === "directly" ? "/etc/holdpoint-test" : path.join(folder, `link-${how.length}`, "holdpoint-test");
    const run = `outside-${how.length}`;
    const { answer } = await holdpoint("start", run, "--output", output);
    await holdpoint("approve", run, "--proposal-hash", String(answer.proposal_hash));
    expect(await holdpoint("resume", run)).toMatchObject({ code: 2, answer: { error: "output_outside_roots" } });
    expect(() => statSync("/etc/holdpoint-test")).toThrow();
  },
);

test(
  "whatever the command line was refused is kept as what it attempted, in the words of every other door",
  SLOW,
  async () => {
    const { run } = await started();
    await holdpoint("approve", run, "--proposal-hash", "0".repeat(64));
    await holdpoint("resume", run);
    await holdpoint("start", run, "--output", path.join(folder, "again.txt"));
    const sql = postgres(database.adminUrl, { max: 1 });
    const kept = await sql`select verb from refusals where named_run = ${run} and surface = 'cli' order by id`;
    await sql.end();
    expect(kept.map(({ verb }) => String(verb))).toEqual(["decide", "begin", "open_run"]);
  },
);
