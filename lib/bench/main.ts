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
import { LIMIT_SCHEMA } from "./limit";
import { DRAINER, serveDrains } from "./queues/drainers";
import { SECTIONS } from "./sections";
import type { Bench } from "./verbs";

interface Program {
  readonly root: string;
  readonly words: readonly string[];
}

/**
 * `npm run bench`: what we do beside PostgreSQL doing the same by hand, on one server with durable settings, in one run. Words name
 * the sections that are wanted; none: all of them.
 */
export async function main({ root, words }: Program): Promise<number> {
  if (words[0] === DRAINER) return serveDrains();
  const unknown = words.find((word) => !(word in SECTIONS));
  if (unknown !== undefined)
    throw new Error(`There is no section "${unknown}". Sections: ${Object.keys(SECTIONS).join(", ")}`);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
  chmodSync(dataDir, 0o755);
  const settings = { ...readSettings(root), dataDir };
  const database = await openDatabase(settings, root, (line) => process.stderr.write(`${line}\n`));
  const notifier = new Notifier(database.url);
  const db = await connect(database.url, { role: "holdpoint_worker", max: 20, onCommit: notifier.tell });
  const ownerUrl = ownersUrl(database.embedded?.adminUrl ?? settings.migrateUrl ?? database.url, database.url);
  const admin = postgres(ownerUrl, { max: 16, onnotice: () => undefined });
  try {
    await admin.unsafe(LIMIT_SCHEMA);
    const bench: Bench = { db, admin, ...(await callers(db)) };
    for (const [word, section] of Object.entries(SECTIONS)) {
      if (words.length === 0 || words.includes(word)) await section({ bench, url: database.url, ownerUrl });
    }
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
