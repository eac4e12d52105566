import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { inject } from "vitest";
import { addressOf } from "@/db/embedded";
import { checkRefusals } from "./refusal-count";

/** A suite's own database, copied from the migrated template. */
export interface FreshDatabase {
  /** The owner's address: for arranging what no verb can, and for looking behind the curtain. */
  readonly adminUrl: string;
  /** The app's login, with the app's rights alone. What is under test connects by this one. */
  readonly appUrl: string;
  /** Drop it, once its ledger was held against the refusals that were given. */
  drop(): Promise<void>;
}

/** Make a database of this suite's own (about a third of a second). Drop it in `afterAll`. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { adminUrl, template, login, refusalLog } = inject("testServer");
  const database = `t_${randomBytes(6).toString("hex")}`;
  await asAdmin(adminUrl, (sql) => sql.unsafe(`create database ${database} template ${template}`));
  const ownUrl = addressOf(adminUrl, { database });
  return {
    adminUrl: ownUrl,
    appUrl: addressOf(adminUrl, { database, ...login }),
    drop: async () => {
      try {
        await asAdmin(ownUrl, (sql) => checkRefusals(sql, refusalLog));
      } finally {
        await dropDatabase(adminUrl, database);
      }
    },
  };
}

/** Drop a database with whatever is connected to it, and the login that was made for it. */
export async function dropDatabase(adminUrl: string, database: string, login?: string): Promise<void> {
  await asAdmin(adminUrl, async (sql) => {
    await sql.unsafe(`drop database if exists ${database} with (force)`);
    if (login !== undefined) await sql.unsafe(`drop role if exists ${login}`);
  });
}

async function asAdmin(adminUrl: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
