import { channel } from "node:diagnostics_channel";
import postgres from "postgres";
import { instant } from "@/lib/protocol/instant";

/** The database role whose rights a process has. Source: schema "Roles". */
export type AppRole = "holdpoint_app" | "holdpoint_worker";

/** What changed, by ids alone, once it is committed. */
export interface Change {
  readonly workspace: string;
  /** Internal run ids. */
  readonly runs: readonly string[];
}

const types = {
  // Times stay text with their microseconds; a Date would lose them.
  date: { to: 1184, from: [1082, 1114, 1184], serialize: String, parse: instant },
  // Counters, epoch milliseconds and sizes: all far below 2^53.
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
};

function openPool(url: string, max: number) {
  return postgres(url, {
    max,
    types,
    transform: postgres.camel,
    onnotice: () => undefined,
    connection: { TimeZone: "UTC", DateStyle: "ISO", application_name: "holdpoint" },
  });
}

export type Pool = ReturnType<typeof openPool>;
export type TransactionSql = Parameters<Parameters<Pool["begin"]>[1]>[0];

/** A process's connections, and who is told of what it commits. */
export interface Db {
  readonly kind: "db";
  readonly sql: Pool;
  /** Null where roles could not be created: then the trace is protected by triggers alone. */
  readonly role: AppRole | null;
  /** The login has the role's rights without taking it on, as members usually do. */
  readonly inherits: boolean;
  readonly onCommit: (change: Change) => void;
  close(): Promise<void>;
}

/** One open transaction in one workspace. A verb given this joins it instead of opening its own. */
export interface Tx {
  readonly kind: "tx";
  readonly sql: TransactionSql;
  readonly workspace: string;
  readonly touched: Set<string>;
}

export type Scope = Db | Tx;

/** What work in a workspace gave back: a transaction of its own that committed, or a part of one. */
export interface Answered {
  readonly workspace: string;
  readonly answer: unknown;
}

/** Told of every `Answered`. The suite listens, to count the refusals that were given against those that were kept; nothing else does. */
export const ANSWERED = "holdpoint:answered";
const answered = channel(ANSWERED);

/** Nothing was done: a lock or a connection was not to be had in time. The doors answer 503 `busy`. */
export class Busy extends Error {
  override readonly name: string = "Busy";
}

/** The connection broke when the work was done and was to be kept: it is kept, or it is not. Whoever sends it again is told. */
export class Unsure extends Busy {
  override readonly name = "Unsure";
}

export interface ConnectOptions {
  readonly role: AppRole;
  readonly max?: number;
  readonly onCommit?: (change: Change) => void;
}

export async function connect(url: string, options: ConnectOptions): Promise<Db> {
  const sql = openPool(url, options.max ?? 10);
  const [found] = await sql<{ member: boolean; inherits: boolean }[]>`
    select pg_has_role(current_user, oid, 'member') as member, pg_has_role(current_user, oid, 'usage') as inherits
    from pg_roles where rolname = ${options.role}`;
  return {
    kind: "db",
    sql,
    role: found?.member ? options.role : null,
    inherits: found?.inherits ?? false,
    onCommit: options.onCommit ?? (() => undefined),
    close: () => sql.end({ timeout: 5 }),
  };
}

type Plans = "by key" | "by value";

/**
 * Run `work` in one transaction that sees one workspace. Role, workspace and time limits are set in the same flight as the first
 * statement, so that forgetting them is not possible and costs no round trip.
 */
export async function inWorkspace<Value>(
  scope: Scope,
  workspace: string,
  work: (tx: Tx) => Promise<Value>,
  plans: Plans = "by value",
): Promise<Value> {
  if (scope.kind === "tx") {
    if (scope.workspace !== workspace) throw new Error("a transaction belongs to one workspace");
    return told(workspace, await work(scope));
  }
  const touched = new Set<string>();
  let isDone = false;
  const value = await withBusy(
    scope.sql.begin(async (sql) => {
      const ready = prepare(sql, scope.role, workspace, plans);
      const done = work({ kind: "tx", sql, workspace, touched });
      const [, result] = await Promise.all([ready, done]);
      isDone = true;
      return { result };
    }),
    () => isDone,
  );
  // A read changes nothing, so nobody is told of it.
  if (touched.size > 0) scope.onCommit({ workspace, runs: [...touched] });
  return told(workspace, value.result as Value);
}

/**
 * The same for work that reaches a few rows by their whole keys, so that one plan fits every value. Planned by value, a workspace that
 * the statistics do not know yet looks empty, any index that begins with it as good as the right one, and each verb reads the whole
 * workspace until the next analyze.
 */
export function inWorkspaceByKey<Value>(
  scope: Scope,
  workspace: string,
  work: (tx: Tx) => Promise<Value>,
): Promise<Value> {
  return inWorkspace(scope, workspace, work, "by key");
}

function told<Value>(workspace: string, answer: Value): Value {
  if (answered.hasSubscribers) answered.publish({ workspace, answer } satisfies Answered);
  return answer;
}

/** A transaction over no workspace, for the few questions that come before one is known. */
export async function acrossWorkspaces<Value>(db: Db, work: (sql: TransactionSql) => Promise<Value>): Promise<Value> {
  const { result } = await withBusy(
    db.sql.begin(async (sql) => {
      const ready = prepare(sql, db.role, "", "by value");
      const [, result] = await Promise.all([ready, work(sql)]);
      return { result };
    }),
  );
  return result as Value;
}

/**
 * The same for a statement that is all of its transaction: one round trip instead of three. For a function alone that runs with its
 * owner's rights and says itself how long it waits for a lock.
 */
export async function inOneStatement<Value>(
  db: Db,
  ask: (sql: Pool | TransactionSql) => Promise<Value>,
): Promise<Value> {
  return db.inherits ? withBusy(ask(db.sql)) : acrossWorkspaces(db, ask);
}

function prepare(sql: TransactionSql, role: AppRole | null, workspace: string, plans: Plans) {
  return sql`
    select set_config('holdpoint.workspace', ${workspace}, true),
      set_config('lock_timeout', '2s', true),
      set_config('idle_in_transaction_session_timeout', '10s', true)
      ${plans === "by key" ? sql`, set_config('plan_cache_mode', 'force_generic_plan', true)` : sql``}
      ${role === null ? sql`` : sql`, set_config('role', ${role}, true)`}`.execute();
}

/**
 * Lock not available, deadlock, serialisation, cancelled; shutdown, crash, start, too many connections, session or transaction timed
 * out; and a pooler's word for a connection that it lost. Time cures each, and nothing was done.
 */
const BUSY_STATES: readonly string[] = [
  ...["55P03", "40P01", "40001", "57014"],
  ...["57P01", "57P02", "57P03", "53300", "25P03", "25P04", "57P05"],
  ...["08000", "08001", "08003", "08004", "08006"],
];
const BUSY_ERRORS: readonly string[] = [
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
];

async function withBusy<Value>(work: Promise<Value>, isDone: () => boolean = () => false): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (BUSY_ERRORS.includes(code) && isDone())
      throw new Unsure("the database went away as it was to keep it; it may be done", { cause: error });
    if (BUSY_STATES.includes(code) || BUSY_ERRORS.includes(code)) {
      throw new Busy("the database could not do it now; nothing was done", { cause: error });
    }
    throw error;
  }
}
