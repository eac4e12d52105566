import os from "node:os";
import { parseArgs } from "node:util";
import { connect } from "@/db/client";
import { Notifier } from "@/db/notifier";
import { ensureWorkspace, localCaller } from "@/db/store/identity";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { ROLES, type Role } from "@/lib/protocol/principal";
import { killAt } from "@/lib/runtime/failpoint";
import { runWorker } from "@/lib/runtime/worker";
import { decide, resume, type Session, showTrace, start } from "./commands/durable-resume";
import { createKey, createPerson, KEY_KINDS, type KeyKind } from "./commands/grant";
import { replay } from "./commands/replay";
import { verifyFile, verifyRun } from "./commands/verify";
import { openDatabase } from "./database";
import { readSettings, type Settings } from "./env";
import { reachOf } from "./reach";
import { CommandRefused } from "./refused";

const USAGE = `holdpoint start RUN --output PATH
holdpoint approve RUN --proposal-hash H
holdpoint reject RUN --proposal-hash H
holdpoint resume RUN [--output PATH]
holdpoint show-trace RUN
holdpoint verify FILE|RUN
holdpoint replay FILE.jsonl [--thread TEXT] [--most N] [--ask-all]
holdpoint worker
holdpoint keys create --kind agent|operator|worker --name N
holdpoint people add EMAIL --role approver|operator|owner`;

const OPTIONS = {
  output: { type: "string" },
  "proposal-hash": { type: "string" },
  thread: { type: "string" },
  most: { type: "string" },
  "ask-all": { type: "boolean" },
  kind: { type: "string" },
  name: { type: "string" },
  role: { type: "string" },
} as const;

interface Words {
  readonly positionals: readonly string[];
  readonly values: { readonly [name in keyof typeof OPTIONS]?: string | boolean | undefined };
}

/** A command that works on the open database. It prints the one object that it gives. */
type Command = (
  session: Session & { readonly settings: Settings; readonly url: string },
  words: Words,
) => Promise<JsonObject>;

const COMMANDS: Readonly<Record<string, Command>> = {
  start: (session, words) => start(session, run(words), option(words, "output")),
  approve: (session, words) => decide(session, run(words), "allow", option(words, "proposal-hash")),
  reject: (session, words) => decide(session, run(words), "deny", option(words, "proposal-hash")),
  resume: (session, words) => resume(session, run(words), optional(words, "output")),
  "show-trace": (session, words) => showTrace(session, run(words)),
  verify: (session, words) => verifyRun(session.db, session.caller.workspace, run(words)),
  replay: (session, words) =>
    replay(session.db, session.caller, {
      file: run(words),
      thread: optional(words, "thread"),
      most: optional(words, "most") === null ? null : Number(option(words, "most")),
      askAll: words.values["ask-all"] === true,
    }),
  keys: (session, words) => {
    const kind = option(words, "kind");
    if (words.positionals[1] !== "create" || !isKeyKind(kind)) throw usage();
    return createKey(session.db, session.caller.workspace, kind, option(words, "name"));
  },
  people: (session, words) => {
    const [, verb, email] = words.positionals;
    const role = ROLES.find((known) => known === option(words, "role"));
    if (verb !== "add" || email === undefined || !email.includes("@") || !role) throw usage();
    return createPerson(session.db, session.caller.workspace, email, role satisfies Role, session.settings.origin);
  },
};

async function perform(root: string, args: readonly string[]): Promise<JsonObject | null> {
  const words = readWords(args);
  const name = words.positionals[0] ?? "";
  if (name === "verify") {
    const verdict = await verifyFile(run(words));
    if (verdict) return verdict;
  }
  const command = COMMANDS[name];
  if (!command && name !== "worker") throw usage();
  const settings = readSettings(root);
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const database = await openDatabase(settings, root, report);
  try {
    return command ? await withSession(settings, database.url, command, words) : await work(settings, database.url);
  } finally {
    await database.close();
  }
}

async function withSession(settings: Settings, url: string, command: Command, words: Words): Promise<JsonObject> {
  const notifier = new Notifier(url);
  const db = await connect(url, { role: "holdpoint_app", max: 4, onCommit: notifier.tell });
  try {
    const workspace = await ensureWorkspace(db);
    const caller = await localCaller(db, workspace, "cli", os.userInfo().username, "cli");
    return await command(
      {
        db,
        caller,
        settings,
        url,
        writeRoots: settings.writeRoots,
        process: `${os.hostname()}:${process.pid}`,
        isAlive,
        failAt: killAt(settings.failpoint),
      },
      words,
    );
  } finally {
    await notifier.close();
    await db.close();
  }
}

async function work(settings: Settings, databaseUrl: string): Promise<null> {
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort(signal));
  const onError = (error: unknown) => process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  await runWorker({
    databaseUrl,
    ...reachOf(settings),
    models: { settings: settings.model, scripts: {}, recording: null },
    stop: stop.signal,
    failpoint: settings.failpoint,
    onError,
  });
  return null;
}

/** An attempt of this machine whose process is gone can be taken over at once; another machine's waits for its lease. */
function isAlive(named: string): boolean {
  const [host, pid] = named.split(":");
  if (host !== os.hostname()) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}

function readWords(argv: readonly string[]): Words {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch {
    throw usage();
  }
}

function run(words: Words): string {
  const name = words.positionals[1];
  if (name === undefined || words.positionals.length > 2) throw usage();
  return name;
}

function optional(words: Words, name: keyof typeof OPTIONS): string | null {
  const value = words.values[name];
  return typeof value === "string" ? value : null;
}

function option(words: Words, name: keyof typeof OPTIONS): string {
  const value = optional(words, name);
  if (value === null) throw usage();
  return value;
}

function isKeyKind(kind: string): kind is KeyKind {
  return KEY_KINDS.some((known) => known === kind);
}

function usage(): CommandRefused {
  return new CommandRefused("usage", USAGE);
}

/** The command's entry: one JSON object on stdout. Gives the exit code: 0 done, 2 refused, 1 failed. */
export async function main({
  root,
  args,
}: {
  readonly root: string;
  readonly args: readonly string[];
}): Promise<number> {
  try {
    const answer = await perform(root, args);
    if (answer) process.stdout.write(`${canonicalJson(answer)}\n`);
    return 0;
  } catch (cause) {
    if (!(cause instanceof CommandRefused)) throw cause;
    process.stdout.write(`${JSON.stringify({ error: cause.error, ...cause.more })}\n`);
    if (cause.advice !== null) process.stderr.write(`${cause.advice}\n`);
    return 2;
  }
}
