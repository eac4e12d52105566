import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { addressOf } from "./embedded";
import { migrate } from "./migrate";
import { dropDatabase } from "./testing/fresh-database";

const { adminUrl } = inject("testServer");
const login = { user: `migrate_login_${randomBytes(4).toString("hex")}`, password: 'it\'s "quoted" \\ here' };
let folder = "";
let database = "";

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "holdpoint-migrations-"));
  database = `t_${randomBytes(6).toString("hex")}`;
});

afterEach(async () => {
  rmSync(folder, { recursive: true });
  await dropDatabase(adminUrl, database, login.user);
});

/** A migrations folder of our own: these tests must not change with the schema. */
function writeMigrations(statements: readonly string[]): void {
  mkdirSync(path.join(folder, "meta"), { recursive: true });
  const entries = statements.map((sql, idx) => {
    writeFileSync(path.join(folder, `${idx}.sql`), sql);
    return { idx, version: "7", when: 1_700_000_000_000 + idx, tag: String(idx), breakpoints: true };
  });
  writeFileSync(
    path.join(folder, "meta", "_journal.json"),
    JSON.stringify({ version: "7", dialect: "postgresql", entries }),
  );
}

function start(log: (line: string) => void = () => undefined) {
  return migrate({ adminUrl, database, folder, appLogin: login, log });
}

describe("migrate", () => {
  it("creates the database, runs what is new, and runs it once", async () => {
    writeMigrations(["create table first (id int)"]);
    await start();
    writeMigrations(["create table first (id int)", "create table second (id int)"]);
    await start();
    await start();
    const sql = postgres(addressOf(adminUrl, { database }), { max: 1 });
    const tables = await sql`select tablename from pg_tables where schemaname = 'public' order by 1`;
    await sql.end();
    expect(tables.map((row) => row.tablename)).toEqual(["first", "second"]);
  });

  it("many starts at once: each succeeds and the migration runs once", async () => {
    writeMigrations(["create table only_once (id int)"]);
    const starts = await Promise.all(Array.from({ length: 6 }, () => start()));
    expect(starts).toHaveLength(6);
  });

  it("the app's login can log in with any password and has no right of its own", async () => {
    writeMigrations(["create table guarded (id int)"]);
    await start();
    const sql = postgres(addressOf(adminUrl, { database, ...login }), { max: 1 });
    const [role] = await sql`select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = current_user`;
    expect(role).toEqual({ rolsuper: false, rolbypassrls: false, rolcreaterole: false });
    await expect(sql`drop table guarded`).rejects.toThrow(/must be owner/);
    await sql.end();
  });

  it("a failing migration leaves nothing of itself, and the next start runs it", async () => {
    writeMigrations(["create table half (id int); select 1 / 0"]);
    await expect(start()).rejects.toThrow();
    writeMigrations(["create table half (id int)"]);
    await expect(start()).resolves.toBeDefined();
  });

  it("a server that does not answer is named, with what to check", async () => {
    const nobody = "postgres://postgres:x@127.0.0.1:9/postgres";
    await expect(migrate({ adminUrl: nobody, database, folder, appLogin: null, log: () => undefined })).rejects.toThrow(
      /server at 127\.0\.0\.1:9 cannot be used: .*DATABASE_URL/,
    );
  });
});
