import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { connect } from "@/db/client";
import { Notifier } from "@/db/notifier";
import { addPerson, ensureWorkspace, makeKeyFor } from "@/db/store/identity";
import { openDatabase } from "@/lib/cli/database";
import { readSettings } from "@/lib/cli/env";
import type { Caller } from "@/lib/protocol/principal";
import { measureInbox } from "./inbox";
import { measureLatency } from "./latency";
import { LIMIT_SCHEMA } from "./limit";
import { median } from "./load";
import { type Bench, type Compared, compareVerbs, costOfApproval } from "./verbs";

const ROUNDS = 3;
const TIMES = 400;
const TICKETS = 100_000;

/** `npm run bench`: our verbs beside PostgreSQL writing the same rows by hand, on one server with durable settings, in one run. */
export async function main({ root }: { readonly root: string }): Promise<number> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
  chmodSync(dataDir, 0o755);
  const settings = { ...readSettings(root), dataDir };
  const database = await openDatabase(settings, root, (line) => process.stderr.write(`${line}\n`));
  const notifier = new Notifier(database.url);
  const db = await connect(database.url, { role: "holdpoint_worker", max: 20, onCommit: notifier.tell });
  const admin = postgres(ownersUrl(database.embedded?.adminUrl ?? settings.migrateUrl ?? database.url, database.url), {
    max: 16,
    onnotice: () => undefined,
  });
  try {
    await admin.unsafe(LIMIT_SCHEMA);
    const bench: Bench = { db, admin, ...(await callers(db)) };
    await report(bench, database.url);
  } finally {
    await notifier.close();
    await Promise.all([db.close(), admin.end()]);
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return 0;
}

/** The owner's address, of the database that the app uses. */
function ownersUrl(owner: string, app: string): string {
  const address = new URL(owner);
  address.pathname = new URL(app).pathname;
  return address.href;
}

async function callers(db: Bench["db"]): Promise<{ agent: Caller; approver: Caller }> {
  const workspace = await ensureWorkspace(db);
  const key = await makeKeyFor(db, workspace, "agent", "bench");
  const added = await addPerson(db, workspace, "bench@example.test", "approver");
  const common = { workspace, credential: null } as const;
  return {
    agent: {
      ...common,
      principal: key.principal,
      kind: "agent",
      role: null,
      person: null,
      display: "bench",
      surface: "api",
    },
    approver: {
      ...common,
      principal: added.principal,
      kind: "person",
      role: "approver",
      person: added.person,
      display: "bench",
      surface: "console",
    },
  };
}

async function report(bench: Bench, url: string): Promise<void> {
  await compareVerbs(bench, 4, 50);
  say("| verb | clients | ours a second | by hand a second | ours / by hand |");
  say("|---|---|---|---|---|");
  for (const clients of [1, 16]) {
    const rounds: (readonly Compared[])[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(await compareVerbs(bench, clients, clients === 1 ? TIMES / 2 : TIMES * 2));
    for (const [index, { verb }] of (rounds[0] ?? []).entries()) {
      const of = (pick: (compared: Compared) => number) =>
        median(rounds.flatMap((round) => (round[index] ? [pick(round[index])] : [])));
      const ratio = of(({ ours, limit }) => ours.perSecond / limit.perSecond);
      say(
        `| ${verb} | ${clients} | ${of((c) => c.ours.perSecond).toFixed(0)} | ${of((c) => c.limit.perSecond).toFixed(0)} | ${ratio.toFixed(2)} |`,
      );
    }
  }
  // Without a notifier: its notices are commits too, but flush nothing and hold nobody up.
  const quiet = await connect(url, { role: "holdpoint_worker", max: 2 });
  const cost = await costOfApproval({ ...bench, db: quiet }, 100).finally(() => quiet.close());
  say(
    `\none approval of a client run: ${cost.commits.toFixed(1)} write commits, ${cost.rows.toFixed(1)} rows, ${(cost.walBytes / 1_024).toFixed(1)} KiB of WAL`,
  );
  const latency = await measureLatency(bench, url, 100);
  say(
    `Allow clicked → the worker's file is there, idle: p50 ${latency.p50.toFixed(1)} ms, p99 ${latency.p99.toFixed(1)} ms`,
  );
  const inbox = await measureInbox(bench, TICKETS);
  say(
    `inbox with ${TICKETS} open tickets: first page ${inbox.first.toFixed(1)} ms, at 90 % depth ${inbox.deep.toFixed(1)} ms, ` +
      `the counts beside it ${inbox.counts.toFixed(1)} ms; the bare keyset query by hand ${inbox.byHand.toFixed(1)} ms`,
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
