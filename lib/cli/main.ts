import os from "node:os";
import { parseArgs } from "node:util";
import { connect } from "@/db/client";
import { Notifier } from "@/db/notifier";
import { ensureWorkspace, localCaller } from "@/db/store/identity";
import { canonicalJson, type JsonObject } from "@/lib/protocol/canonical-json";
import { drawUnseen } from "@/lib/protocol/hidden-characters";
import { ROLES } from "@/lib/protocol/principal";
import { killAt } from "@/lib/runtime/failpoint";
import { wordsOf } from "@/lib/runtime/words-of";
import { runWorker } from "@/lib/runtime/worker";
import { decide, resume, type Session, showTrace, start } from "./commands/durable-resume";
import { createKey, createPerson, KEY_KINDS } from "./commands/grant";
import { replay } from "./commands/replay";
import { verifyFile, verifyRun } from "./commands/verify";
import { isUnused, openDatabase } from "./database";
import { readSettings, type Settings } from "./env";
import { reachOf } from "./reach";
import { CommandRefused } from "./refused";
import { originForLinks } from "./served-at";
import { printJson, report, reportFailure } from "./terminal";
import { usage, usageLines } from "./usage";

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

type Act = (session: Session & { readonly settings: Settings; readonly url: string }) => Promise<JsonObject>;

/** A verb. Its words are judged before anything is opened; the act then works on the database and gives the one object that is printed. */
type Verb = (words: Words) => Act;

const VERBS: Readonly<Record<string, Verb>> = {
  start: (words) => {
    const [name, output] = [run(words), option(words, "output")];
    return (session) => start(session, name, output);
  },
  approve: (words) => decideBy(words, "allow"),
  reject: (words) => decideBy(words, "deny"),
  resume: (words) => {
    const [name, output] = [run(words), optional(words, "output")];
    return (session) => resume(session, name, output);
  },
  "show-trace": (words) => {
    const name = run(words);
    return (session) => showTrace(session, name);
  },
  verify: (words) => {
    const name = run(words);
    return ({ db, caller }) => verifyRun(db, caller.workspace, name);
  },
  replay: (words) => {
    const askAll = words.values["ask-all"] === true;
    const options = { file: run(words), thread: optional(words, "thread"), most: most(words), askAll };
    return ({ db, caller }) => replay(db, caller, options);
  },
  keys: (words) => {
    if (words.positionals[1] !== "create") throw usage("Say: keys create.", "keys");
    const [kind, name] = [oneOf(words, "kind", KEY_KINDS), option(words, "name")];
    return ({ db, caller }) => createKey(db, caller.workspace, kind, name);
  },
  people: (words) => {
    const [, verb, email] = words.positionals;
    if (verb !== "add") throw usage("Say: people add.", "people");
    if (email === undefined) throw usage("The e-mail of the person is missing.", "people");
    if (!email.includes("@")) throw usage(`"${email}" is no e-mail address.`, "people");
    const role = oneOf(words, "role", ROLES);
    return ({ db, caller, settings }) => createPerson(db, caller.workspace, email, role, originForLinks(settings));
  },
};

function decideBy(words: Words, verdict: "allow" | "deny"): Act {
  const [name, hash] = [run(words), option(words, "proposal-hash")];
  return (session) => decide(session, name, verdict, hash);
}

async function perform(root: string, args: readonly string[]): Promise<JsonObject | null> {
  const words = readWords(args);
  const name = words.positionals[0] ?? "help";
  if (name === "help") return help();
  if (name === "verify") {
    const verdict = await verifyFile(run(words));
    if (verdict) return verdict;
  }
  const verb = VERBS[name];
  if (!verb && name !== "worker") throw usage(`There is no verb "${name}".`);
  const act = verb?.(words);
  const settings = readSettings(root);
  if (isUnused(settings)) {
    report(`There is no database in ${settings.dataDir} yet; it is made there now.`);
    report(
      "A Holdpoint that runs with another HOLDPOINT_DATA_DIR or DATABASE_URL does not see it: give the command the same.",
    );
  }
  const database = await openDatabase(settings, root, report);
  try {
    return act ? await withSession(settings, database.url, act) : await work(settings, database.url);
  } finally {
    await database.close();
  }
}

function help(): JsonObject {
  for (const line of usageLines(null)) report(line);
  return { usage: [...usageLines(null)] };
}

async function withSession(settings: Settings, url: string, act: Act): Promise<JsonObject> {
  const notifier = new Notifier(url);
  const db = await connect(url, { role: "holdpoint_app", max: 4, onCommit: notifier.tell });
  try {
    const workspace = await ensureWorkspace(db);
    const caller = await localCaller(db, workspace, "cli", os.userInfo().username, "cli");
    return await act({
      db,
      caller,
      settings,
      url,
      writeRoots: settings.writeRoots,
      process: `${os.hostname()}:${process.pid}`,
      isAlive,
      failAt: killAt(settings.failpoint),
    });
  } finally {
    await notifier.close();
    await db.close();
  }
}

async function work(settings: Settings, databaseUrl: string): Promise<null> {
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort(signal));
  report("This worker polls until Ctrl-C; it finishes what it holds then.");
  await runWorker({
    databaseUrl,
    ...reachOf(settings),
    models: { settings: settings.model, scripts: {}, recording: null },
    stop: stop.signal,
    failpoint: settings.failpoint,
    onNotice: report,
    onError: reportFailure,
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
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split(". ")[0] : String(cause);
    throw usage(`${why}.`, argv[0] ?? null);
  }
}

function run(words: Words): string {
  const [verb = null, name, ...rest] = words.positionals;
  if (name === undefined) throw usage("The word after the verb is missing.", verb);
  if (rest.length > 0) throw usage(`"${rest[0]}" is one word too many.`, verb);
  return name;
}

function optional(words: Words, name: keyof typeof OPTIONS): string | null {
  const value = words.values[name];
  return typeof value === "string" ? value : null;
}

function option(words: Words, name: keyof typeof OPTIONS): string {
  const value = optional(words, name);
  if (value === null) throw usage(`--${name} is missing.`, words.positionals[0] ?? null);
  return value;
}

function oneOf<Known extends string>(words: Words, name: keyof typeof OPTIONS, known: readonly Known[]): Known {
  const value = option(words, name);
  const found = known.find((it) => it === value);
  if (found === undefined) throw usage(`--${name} is one of ${known.join(", ")}.`, words.positionals[0] ?? null);
  return found;
}

function most(words: Words): number | null {
  const value = optional(words, "most");
  if (value === null) return null;
  if (!/^[1-9]\d{0,6}$/.test(value)) throw usage("--most is a whole number from 1.", "replay");
  return Number(value);
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
    if (answer) printJson(canonicalJson(answer));
    return 0;
  } catch (cause) {
    // Its message is all that the caller prints.
    if (!(cause instanceof CommandRefused)) throw new Error(drawUnseen(wordsOf(cause)), { cause });
    printJson(JSON.stringify({ error: cause.error, ...cause.more }));
    if (cause.advice !== null) report(cause.advice);
    return 2;
  }
}
