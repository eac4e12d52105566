// What must hold before anything else can run. Node's own modules only: nothing may be installed yet.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { mendDriver } from "./mend-driver.mjs";

/** The project's folder. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Progress goes to stderr: a command's stdout belongs to its answer. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** End with a sentence that says what to do. */
export function giveUp(sentence) {
  say(sentence);
  process.exit(1);
}

/** Check Node's version against package.json's "engines", whose form is fixed: a range for 20 and everything from 22.12. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return;
  giveUp(
    `Holdpoint needs Node 20.19 or later of version 20, or 22.12 or later, and this is ${process.version}. ` +
      "Install one of those (https://nodejs.org), then run the command again.",
  );
}

/** Install the packages when they are missing or not those of the lock. */
export async function requirePackages({ withTests = false } = {}) {
  const wanting = firstWanting(withTests);
  if (wanting !== null) await install(wanting);
  mendDriver(root);
}

async function install(wanting) {
  say(`Installing packages (${wanting}). This takes about a minute …`);
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const code = await run("npm", args, { env: { ...process.env, npm_config_update_notifier: "false" } });
  if (code !== 0) {
    giveUp(
      `npm ci failed (exit code ${code}); its message stands above. ` +
        "Check the network and the npm registry, then run the command again.",
    );
  }
}

/** Run a program with its output on stderr and say every ten seconds that it still runs. Answers its exit code. */
export function run(program, args, options = {}) {
  const began = Date.now();
  const shell = process.platform === "win32";
  const child = spawn(program, args, { cwd: root, stdio: ["ignore", 2, 2], shell, ...options });
  const tick = setInterval(() => say(`  … ${Math.round((Date.now() - began) / 1000)} s`), 10_000);
  const stop = (signal) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  return new Promise((resolve) => {
    const end = (code) => {
      clearInterval(tick);
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
      resolve(code);
    };
    child.once("error", (cause) => {
      say(`${program} cannot be run: ${cause.message}`);
      end(127);
    });
    child.once("exit", (code, signal) => end(code ?? `ended by ${signal}`));
  });
}

/** The first package that the lock names and node_modules has not in that version; null when all are there. */
function firstWanting(withTests) {
  const installed = path.join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return "none are there yet";
  const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  const have = JSON.parse(readFileSync(installed, "utf8")).packages;
  for (const [where, { version, optional, dev, devOptional }] of Object.entries(lock)) {
    // Optional packages are for one platform or another; the tests' tools need not be there to start.
    if (where === "" || optional || devOptional || (dev && !withTests)) continue;
    if (have[where]?.version !== version) return `${where.replace("node_modules/", "")} ${version} is missing`;
  }
  return null;
}
