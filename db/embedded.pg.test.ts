import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EmbeddedServer, startEmbedded } from "./embedded";
import { processIdentity } from "./embedded/process-identity";
import { type ChildProgram, childProgram } from "./testing/child-program";

let parent = "";
let folder = "";
let program: ChildProgram;
const started: EmbeddedServer[] = [];

beforeAll(async () => {
  program = await childProgram(`
    import { startEmbedded } from "./db/embedded";
    const server = await startEmbedded({ folder: process.argv[2] });
    process.send({ pid: server.pid, adopted: server.adopted });
    process.on("message", async () => {
      process.send(await server.leave());
      process.disconnect();
    });
  `);
});
afterAll(() => program.remove());

beforeEach(() => {
  parent = mkdtempSync(path.join(os.tmpdir(), "holdpoint-embedded-"));
  chmodSync(parent, 0o755);
  folder = path.join(parent, "pg");
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.leave()));
  rmSync(parent, { recursive: true, force: true });
});

async function start(at = folder): Promise<EmbeddedServer> {
  const server = await startEmbedded({ folder: at });
  started.push(server);
  return server;
}

async function ask(server: EmbeddedServer, statement: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => undefined });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe("the embedded PostgreSQL", () => {
  it("is a PostgreSQL 18 that only this machine can reach, by a secret only its owner can read", async () => {
    const server = await start();
    const [row] = await ask(
      server,
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('listen_addresses') as host,
         current_setting('unix_socket_directories') as sockets, current_setting('fsync') as fsync`,
    );
    expect(row).toEqual({ major: 18, host: "127.0.0.1", sockets: "", fsync: "on" });
    expect(mode(path.join(folder, "cluster", "superuser-password"))).toBe("600");
    expect(mode(path.join(folder, "cluster", "pgdata"))).toBe("700");
    expect(mode(path.join(folder, "postgresql.log"))).toBe("600");
    const wrong = postgres(server.adminUrl.replace(/:[^:@]+@/, ":postgres@"), { max: 1 });
    await expect(wrong`select 1`).rejects.toThrow(/password authentication failed/);
    await wrong.end();
  });

  it("a second start adopts the server, and the last one to leave stops it", async () => {
    const first = await start();
    const second = await start();
    expect(second).toMatchObject({ pid: first.pid, port: first.port, adopted: true });
    await expect(first.leave()).resolves.toEqual({ stopped: false });
    await expect(ask(second, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
    await expect(second.leave()).resolves.toEqual({ stopped: true });
    expect(processIdentity(second.pid)).toBeNull();
  });

  it("four processes start at once on an empty folder: one server", async () => {
    const children = Array.from({ length: 4 }, () => program.start(folder));
    const answers = await Promise.all(children.map((child) => program.answer(child)));
    const pids = new Set(answers.map((answer) => JSON.stringify((answer as { pid: number }).pid)));
    expect(pids.size).toBe(1);
    expect(answers.filter((answer) => !(answer as { adopted: boolean }).adopted)).toHaveLength(1);
    const left = children.map((child) => program.answer(child));
    for (const child of children) child.send("leave");
    const stops = (await Promise.all(left)) as { stopped: boolean }[];
    expect(stops.filter((stop) => stop.stopped)).toHaveLength(1);
  });

  it("after kill -9 of its starter, the next start adopts the server and stops it at the end", async () => {
    const child = program.start(folder);
    const { pid } = (await program.answer(child)) as { pid: number };
    const gone = new Promise((ended) => child.once("exit", ended));
    child.kill("SIGKILL");
    await gone;
    const server = await start();
    expect(server).toMatchObject({ pid, adopted: true });
    await expect(server.leave()).resolves.toEqual({ stopped: true });
  });

  it("after kill -9 of the server itself, the next start replaces it at once and no commit is lost", async () => {
    const first = await start();
    await ask(first, "create table kept as select generate_series(1, 1000) as id");
    const lingering = postgres(first.adminUrl, { max: 4, onnotice: () => undefined });
    const sleepers = [1, 2, 3].map(() => lingering`select pg_sleep(5)`.catch(() => "cut off"));
    await sleep(200);
    process.kill(first.pid, "SIGKILL");
    const second = await start();
    expect(second.pid).not.toBe(first.pid);
    await expect(ask(second, "select count(*)::int as rows from kept")).resolves.toEqual([{ rows: 1000 }]);
    await Promise.all(sleepers);
    await lingering.end({ timeout: 0 });
  });

  it("a pid file that now names another program does not keep the server from starting", async () => {
    const first = await start();
    const pidFile = path.join(folder, "cluster", "pgdata", "postmaster.pid");
    const lines = readFileSync(pidFile, "utf8").split("\n");
    process.kill(first.pid, "SIGKILL");
    while (processIdentity(first.pid) !== null) await sleep(10);
    writeFileSync(pidFile, [String(process.pid), ...lines.slice(1)].join("\n"));
    await expect(start()).resolves.toMatchObject({ adopted: false });
  });

  it("two folders side by side: two servers that share nothing", async () => {
    const [one, two] = await Promise.all([start(), start(path.join(parent, "other"))]);
    expect(one.pid).not.toBe(two.pid);
    expect(one.port).not.toBe(two.port);
    await ask(one, "create table mine (id int)");
    await expect(ask(two, "select from mine")).rejects.toThrow(/does not exist/);
  });

  it.runIf(process.getuid?.() === 0)("in a folder closed to PostgreSQL's account, the data lies outside", async () => {
    chmodSync(parent, 0o700);
    const first = await start();
    const outside = readFileSync(path.join(folder, "elsewhere"), "utf8").trim();
    try {
      expect(outside).toMatch(/^\/var\/lib\/holdpoint\/data-[0-9a-f]{16}$/);
      expect(existsSync(path.join(outside, "cluster", "pgdata", "PG_VERSION"))).toBe(true);
      await ask(first, "create table kept (id int)");
      await first.leave();
      await expect(ask(await start(), "select count(*)::int as rows from kept")).resolves.toEqual([{ rows: 0 }]);
    } finally {
      await Promise.all(started.splice(0).map((server) => server.leave()));
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("data of another PostgreSQL version is refused with what to do", async () => {
    const server = await start();
    await server.leave();
    writeFileSync(path.join(folder, "cluster", "pgdata", "PG_VERSION"), "17\n");
    await expect(start()).rejects.toThrow(/made by PostgreSQL 17, and this Holdpoint brings 18.*HOLDPOINT_DATA_DIR/);
  });

  it("damaged data: the error says what PostgreSQL said and where its log is", async () => {
    const server = await start();
    await server.leave();
    rmSync(path.join(folder, "cluster", "pgdata", "global"), { recursive: true });
    await expect(start()).rejects.toThrow(/did not start[\s\S]*pg_control[\s\S]*postgresql\.log[\s\S]*DATABASE_URL/);
  });

  it("a data folder that cannot be made is named", async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "file"), "");
    await expect(startEmbedded({ folder: path.join(folder, "file", "pg") })).rejects.toThrow(
      /cannot be made or used.*HOLDPOINT_DATA_DIR/,
    );
  });

  it("nothing of our environment reaches the server", async () => {
    const server = await start();
    if (process.platform !== "linux") return;
    const environment = execFileSync("cat", [`/proc/${server.pid}/environ`], { encoding: "utf8" });
    expect(environment.split("\0").map((line) => line.split("=")[0])).not.toContain("HOME");
  });
});
