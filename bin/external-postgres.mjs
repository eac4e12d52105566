// A throw-away server from the system's own PostgreSQL, where there is one: the tests' second database.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const HOME = "/usr/lib/postgresql";

/** The newest of the system's PostgreSQL 15 or later: its programs' folder, or null. */
export function findSystemPostgres() {
  if (!existsSync(HOME)) return null;
  const versions = readdirSync(HOME)
    .map(Number)
    .filter((version) => version >= 15);
  const bin = path.join(HOME, String(Math.max(...versions)), "bin");
  return existsSync(path.join(bin, "initdb")) ? bin : null;
}

/** Start it on a free loopback port. Answers its address and how to stop it, or null where it cannot run. */
export async function startSystemPostgres(bin) {
  const account = unprivileged();
  if (account === null) return null;
  const home = mkdtempSync(path.join(os.tmpdir(), "holdpoint-external-"));
  const data = path.join(home, "data");
  const passwordFile = path.join(home, "password");
  const password = randomBytes(18).toString("base64url");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account.uid !== undefined)
    for (const each of [home, data, passwordFile]) chownSync(each, account.uid, account.gid);
  const options = { ...account, cwd: home, stdio: "ignore", env: { LC_ALL: "C.UTF-8", PATH: process.env.PATH } };
  const forget = () => rmSync(home, { recursive: true, force: true });

  const init = ["-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", passwordFile, "-E", "UTF8"];
  if (spawnSync(path.join(bin, "initdb"), init, options).status !== 0) {
    forget();
    return null;
  }
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"].flatMap((each) => [
    "-c",
    each,
  ]);
  const server = spawn(path.join(bin, "postgres"), ["-D", data, "-p", String(port), ...settings], options);
  const gone = new Promise((resolve) => server.once("exit", resolve));
  const ready = () =>
    spawnSync(path.join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).status === 0;
  for (let tries = 0; tries < 300 && !ready(); tries += 1) await sleep(100);
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      server.kill("SIGINT");
      await gone;
      forget();
    },
  };
}

/** PostgreSQL does not run as root; root lends it Debian's postgres account. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => spawnSync("id", [flag, "postgres"], { encoding: "utf8" });
  const [uid, gid] = [id("-u"), id("-g")];
  return uid.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : null;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
