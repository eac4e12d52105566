import { existsSync } from "node:fs";
import path from "node:path";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import { addressOf } from "./embedded";

/** The roles that the migrations create and that every transaction of the app takes on. */
const APP_ROLES = ["holdpoint_app", "holdpoint_worker"] as const;

/** Any constant will do, as long as every Holdpoint takes the same one. */
const MIGRATION_LOCK = 4_730_117;

const OLDEST_SERVER = 150_000;

export interface MigrateOptions {
  /** The address of the role that owns the schema; its database part does not matter. */
  readonly adminUrl: string;
  readonly database: string;
  /** The folder with the migrations and their journal. */
  readonly folder: string;
  /**
   * The login that the app uses, where it is another than the owner. With a password it is created or
   * given that password; without one it must exist.
   */
  readonly appLogin: { readonly user: string; readonly password: string | null } | null;
  readonly log: (line: string) => void;
}

export interface Migrated {
  /** What keeps the trace from being changed: revoked rights and triggers, or triggers alone. */
  readonly traceGuardedBy: "roles and triggers" | "triggers";
}

/**
 * Bring the database to the newest schema: create it if it is missing, run what is new under a lock,
 * and give the app's login its roles. Any number of starts may do this at once.
 *
 * @throws Error with a sentence that says what to do.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const url = addressOf(options.adminUrl, { database: options.database });
  await ensureDatabase(options, url);
  const sql = connect(url);
  try {
    await requireServer(sql);
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    // An empty folder is a schema without tables: drizzle would stumble over the missing journal.
    if (existsSync(journalOf(options.folder))) {
      await runMigrations(drizzle(sql), { migrationsFolder: options.folder });
    }
    const separate = await grantRoles(sql, options);
    await sql`select pg_advisory_unlock(${MIGRATION_LOCK})`;
    return { traceGuardedBy: separate ? "roles and triggers" : "triggers" };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** One session: the lock, the migrations and the grants must not land on different ones. */
function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, connect_timeout: 10, onnotice: () => undefined });
}

async function ensureDatabase(options: MigrateOptions, url: string): Promise<void> {
  if (await exists(url)) return;
  options.log(`Creating the database ${options.database}`);
  const sql = connect(addressOf(options.adminUrl, { database: "postgres" }));
  try {
    await sql.unsafe(`create database ${quoted(options.database)} encoding 'UTF8' template template0`);
  } catch (cause) {
    // Another start was faster: 42P04 says so, or the catalogue's unique index does.
    if (!["42P04", "23505"].includes(codeOf(cause))) {
      throw new Error(
        `The database ${options.database} does not exist and cannot be created by this role (${messageOf(cause)}). ` +
          "Create it as the server's administrator, then start again.",
        { cause },
      );
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function exists(url: string): Promise<boolean> {
  const sql = connect(url);
  try {
    await sql`select 1`;
    return true;
  } catch (cause) {
    if (codeOf(cause) === "3D000") return false;
    const { hostname, port } = new URL(url);
    throw new Error(
      `The database server at ${hostname}:${port || "5432"} cannot be used: ${messageOf(cause)}. ` +
        "Check that it runs and that DATABASE_URL (or DATABASE_MIGRATE_URL) names the right host, role and password.",
      { cause },
    );
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function requireServer(sql: postgres.Sql): Promise<void> {
  const [row] = await sql<{ version: number; name: string; encoding: string }[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
           current_setting('server_encoding') as encoding`;
  if (row === undefined || row.version < OLDEST_SERVER) {
    throw new Error(
      `Holdpoint needs PostgreSQL 15 or later, and this server is ${row?.name}. Point it at a newer one.`,
    );
  }
  if (row.encoding !== "UTF8") {
    throw new Error(`Holdpoint needs a database in UTF8, and this one is in ${row.encoding}. Create another one.`);
  }
}

/** Give the app's login the app's roles. False when the app runs as the schema's owner, or there are no roles. */
async function grantRoles(sql: postgres.Sql, options: MigrateOptions): Promise<boolean> {
  if (options.appLogin?.password != null) await ensureLogin(sql, options.appLogin.user, options.appLogin.password);
  const present = await sql<
    { name: string }[]
  >`select rolname as name from pg_roles where rolname in ${sql(APP_ROLES)}`;
  const [me] = await sql<{ name: string }[]>`select current_user as name`;
  const login = options.appLogin?.user ?? me?.name ?? "";
  let granted = present.length === APP_ROLES.length;
  if (granted && existsSync(journalOf(options.folder))) {
    // `/readyz` compares what was run with what its build knows.
    await sql`grant usage on schema drizzle to holdpoint_app`;
    await sql`grant select on drizzle.__drizzle_migrations to holdpoint_app`;
  }
  for (const role of present) {
    try {
      await sql.unsafe(`grant ${quoted(role.name)} to ${quoted(login)}`);
    } catch {
      // 42501: this role may not pass them on. A membership from an earlier, stronger owner still counts.
      const [member] = await sql<{ yes: boolean }[]>`select pg_has_role(${login}, ${role.name}, 'member') as yes`;
      granted &&= member?.yes === true;
    }
  }
  if (!granted) options.log("The database's roles could not be set up: the trace is protected by triggers alone.");
  return granted;
}

async function ensureLogin(sql: postgres.Sql, user: string, password: string): Promise<void> {
  const [row] = await sql<{ statement: string }[]>`
    select format(case when exists (select from pg_roles where rolname = ${user})
                       then 'alter role %I' else 'create role %I' end
                  || ' login nosuperuser nobypassrls nocreatedb nocreaterole password %L', ${user}::text, ${password}::text)
           as statement`;
  if (row !== undefined) await sql.unsafe(row.statement);
}

function journalOf(folder: string): string {
  return path.join(folder, "meta", "_journal.json");
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

function messageOf(cause: unknown): string {
  // A refused connection to several addresses is an AggregateError without a message of its own.
  return cause instanceof Error ? cause.message || codeOf(cause) : String(cause);
}
