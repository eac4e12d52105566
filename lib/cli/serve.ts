import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { connect } from "@/db/client";
import { seedDemo } from "@/lib/runtime/demo";
import { type OpenDatabase, openDatabase } from "./database";
import { childEnvironment, readSettings, type Settings, withoutModelKey } from "./env";
import { firstOwnerLink } from "./first-owner-link";
import { requireFreePort } from "./port";
import { reachOf } from "./reach";
import { waitUntilReady } from "./readiness";
import { secretFile } from "./secret-file";
import { rememberOrigin } from "./served-at";
import { type Supervisor, supervise } from "./supervisor";
import { report } from "./terminal";
import { ensureWebBuild } from "./web-build";

export interface ServeOptions {
  /** The project's folder. */
  readonly root: string;
  /** The worker's program. */
  readonly worker: string;
}

/** `npm start` and `npm run build`: build what is stale, then run the console and a worker until told to stop. */
export async function main(
  options: ServeOptions | { readonly root: string; readonly buildOnly: true },
): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort(signal));
  try {
    if ("buildOnly" in options) await ensureWebBuild(options.root, report, stop.signal);
    else await serve(options, stop.signal);
    return 0;
  } catch (cause) {
    // Told to stop while still starting: that is no failure.
    if (stop.signal.aborted) return 0;
    report(cause instanceof Error ? cause.message : String(cause));
    return 1;
  }
}

async function serve(options: ServeOptions, stop: AbortSignal): Promise<void> {
  const settings = readSettings(options.root);
  // Only the worker needs it; what is wrong in it is told before anything is started.
  reachOf(settings);
  await requireFreePort(settings.port, settings.host);
  const web = await ensureWebBuild(options.root, report, stop);
  stop.throwIfAborted();
  makeOwnRoot(settings);
  const database = await openDatabase(settings, options.root, report);
  const { embedded } = database;
  if (embedded?.adopted) report(`PostgreSQL runs already (process ${embedded.pid})`);
  const programs = supervise(report);
  try {
    await run(programs, database, settings, { web: web.folder, worker: options.worker, root: options.root }, stop);
  } finally {
    // The order matters: nobody may still write when the database goes.
    await programs.stop();
    await database.close();
  }
  report("Holdpoint has stopped");
}

/** The data folder's write root is there before anybody is asked to allow a file in it. Roots that were set are their owner's to make. */
function makeOwnRoot({ dataDir, writeRoots }: Settings): void {
  const own = path.join(dataDir, "out");
  if (writeRoots.includes(own)) mkdirSync(own, { recursive: true });
}

async function run(
  programs: Supervisor,
  database: OpenDatabase,
  settings: Settings,
  files: { readonly web: string; readonly worker: string; readonly root: string },
  stop: AbortSignal,
): Promise<void> {
  const bootId = randomUUID();
  const env = childEnvironment({
    NODE_ENV: "production",
    DATABASE_URL: database.url,
    PORT: String(settings.port),
    // Next's name for the address to listen on.
    HOSTNAME: settings.host,
    HOLDPOINT_ORIGIN: settings.origin,
    HOLDPOINT_DATA_DIR: settings.dataDir,
    HOLDPOINT_WRITE_ROOTS: settings.writeRoots.join(path.delimiter),
    HOLDPOINT_BOOT_ID: bootId,
    HOLDPOINT_AUTH_SECRET: secretFile(path.join(settings.dataDir, "auth-secret")),
  });
  await seedDemoWhereWanted(settings, database);
  programs.start({
    name: "web server",
    file: path.join(files.web, "server.js"),
    cwd: files.web,
    env: withoutModelKey(env),
  });
  programs.start({ name: "worker", file: files.worker, cwd: files.root, env });

  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const failed = Promise.race([programs.failure, databaseGone(database, stop)]).then((sentence) => {
    throw new Error(sentence);
  });
  await Promise.race([announce(settings, database, bootId, stop), failed, stopped]);
  await Promise.race([failed, stopped]);
}

/** A first visit shows something to approve: in an embedded database that nobody has used, or where it is asked for. */
async function seedDemoWhereWanted({ demo }: Settings, { url, embedded }: OpenDatabase): Promise<void> {
  if (demo === false || (demo === null && embedded === null)) return;
  const db = await connect(url, { role: "holdpoint_app", max: 2 });
  try {
    if (await seedDemo(db, demo === true)) report("Seeded the demo: four invented agents with something to approve");
  } finally {
    await db.close();
  }
}

async function announce(settings: Settings, database: OpenDatabase, bootId: string, stop: AbortSignal): Promise<void> {
  await waitUntilReady(`http://${hostForUs(settings.host)}:${settings.port}`, bootId, stop);
  const link = await firstOwnerLink({ databaseUrl: database.url, origin: settings.origin });
  rememberOrigin(settings);
  process.stdout.write(`Holdpoint is ready at ${settings.origin}\n`);
  process.stdout.write(
    link === null
      ? `Sign in at ${settings.origin}/sign-in with your e-mail and password\n`
      : `No owner yet. Open this link once, within 24 hours, to become the owner:\n${link}\n`,
  );
}

/** An address that listens everywhere is reached by loopback. */
function hostForUs(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Resolves when the embedded server is gone: without it the rest only fails. Never for an external one. */
function databaseGone(database: OpenDatabase, stop: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const { embedded } = database;
    if (embedded === null) return;
    const timer = setInterval(() => {
      if (stop.aborted || embedded.isRunning()) return;
      clearInterval(timer);
      resolve(`PostgreSQL (process ${embedded.pid}) ended by itself. Start again: no committed work is lost.`);
    }, 1_000);
    timer.unref();
  });
}
