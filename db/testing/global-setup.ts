import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { addressOf, startEmbedded } from "@/db/embedded";
import { migrate } from "@/db/migrate";
import { dropDatabase } from "./fresh-database";
import { printRefusals } from "./refusal-count";

declare module "vitest" {
  interface ProvidedContext {
    /** An external server to test against; empty: the embedded one. Set by vitest.config.ts. */
    readonly externalDatabaseUrl: string;
    /** How many workers are stopped in mid-call. Set by vitest.config.ts. */
    readonly stops: number;
    /** How long the soak ends workers, sessions and connections. Set by vitest.config.ts. */
    readonly soakSeconds: number;
    readonly testServer: TestServer;
  }
}

/** What a suite needs to make its own database. */
export interface TestServer {
  readonly adminUrl: string;
  readonly template: string;
  readonly login: { readonly user: string; readonly password: string };
  /** Where each suite leaves how many refusals it was given and how many were kept. */
  readonly refusalLog: string;
}

/**
 * Once for the whole run: a server in a throw-away folder (or the external one), and one migrated template
 * that every suite copies. Names are random, so that two runs may share an external server.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = project.config.provide.externalDatabaseUrl;
  const server = external ? { adminUrl: external, leave: () => Promise.resolve() } : await startThrowAway();
  const run = randomBytes(4).toString("hex");
  const template = `tpl_${run}`;
  const login = { user: `test_login_${run}`, password: randomBytes(18).toString("base64url") };
  await migrate({
    adminUrl: server.adminUrl,
    database: template,
    folder: path.resolve("db/migrations"),
    appLogin: login,
    log: () => undefined,
  });
  const counts = mkdtempSync(path.join(os.tmpdir(), "holdpoint-refusals-"));
  const refusalLog = path.join(counts, "counts.jsonl");
  writeFileSync(refusalLog, "");
  const adminUrl = addressOf(server.adminUrl, { database: "postgres" });
  project.provide("testServer", { adminUrl, template, login, refusalLog });
  return async () => {
    printRefusals(refusalLog);
    rmSync(counts, { recursive: true, force: true });
    if (external) await dropDatabase(addressOf(external, { database: "postgres" }), template, login.user);
    await server.leave();
  };
}

async function startThrowAway(): Promise<{ adminUrl: string; leave(): Promise<void> }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-test-"));
  chmodSync(folder, 0o755);
  const server = await startEmbedded({ folder });
  await forgoDurability(server.adminUrl);
  return {
    adminUrl: server.adminUrl,
    leave: async () => {
      await server.leave();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What is thrown away need not outlive a power cut; every process still sees what every other committed. And a database that is
 * seconds old is analysed within seconds, as one that is in use is within a minute: before that, plans are guesses.
 */
async function forgoDurability(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  try {
    for (const setting of ["fsync", "full_page_writes"]) await sql.unsafe(`alter system set ${setting} = off`);
    await sql.unsafe("alter system set autovacuum_naptime = 1");
    await sql`select pg_reload_conf()`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
