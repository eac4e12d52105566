// The one test command. `--quick` is its seconds-long part (npm run check); `--only=name,name` picks parts.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { requireChromium } from "./chromium.mjs";
import { findSystemPostgres, startSystemPostgres } from "./external-postgres.mjs";
import { requireNode, requirePackages, root, say } from "./ground.mjs";

const PATIENCE_MS = 15 * 60_000;
const scratch = mkdtempSync(path.join(os.tmpdir(), "holdpoint-npm-test-"));
const modules = path.join(root, "node_modules");
const tool = {
  biome: path.join(modules, "@biomejs", "biome", "bin", "biome"),
  next: path.join(modules, "next", "dist", "bin", "next"),
  tsc: path.join(modules, "typescript", "bin", "tsc"),
  knip: path.join(modules, "knip", "bin", "knip.js"),
  drizzle: path.join(modules, "drizzle-kit", "bin.cjs"),
  vitest: path.join(modules, "vitest", "vitest.mjs"),
  playwright: path.join(modules, "@playwright", "test", "cli.js"),
};

/** Every part answers {passed, failed, skipped, output}. A plain command counts as one. */
const parts = {
  lint: () => command([tool.biome, "check", "--colors=off", "."]),
  types: () => command([tool.next, "typegen"], [tool.tsc, "--noEmit"]),
  "dead code": () => command([tool.knip]),
  schema: schemaDrift,
  pure: () => vitest("pure", ["--coverage"]),
  postgres: () => vitest("pg"),
  "external postgres": externalPostgres,
  build: () => command([path.join("bin", "build.mjs")]),
  browser,
};
const QUICK = ["lint", "types", "pure"];

const only = process.argv
  .find((arg) => arg.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",");
const chosen = only ?? (process.argv.includes("--quick") ? QUICK : Object.keys(parts));

requireNode();
await requirePackages({ withTests: true });
const sum = { passed: 0, failed: 0, skipped: 0 };
try {
  for (const name of chosen) await runPart(name, parts[name]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed${skipped}\n`);
process.exitCode = sum.failed > 0 ? 1 : 0;

async function runPart(name, part) {
  if (part === undefined) throw new Error(`There is no part "${name}". Parts: ${Object.keys(parts).join(", ")}`);
  const began = Date.now();
  let result;
  try {
    result = await part();
  } catch (cause) {
    result = { passed: 0, failed: 1, skipped: 0, output: cause instanceof Error ? cause.stack : String(cause) };
  }
  for (const kind of ["passed", "failed", "skipped"]) sum[kind] += result[kind];
  const mark = result.failed > 0 ? "✗" : result.passed > 0 ? "✓" : "–";
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  if (result.failed > 0) say(`\n──── ${name}: what it said ────\n${result.output}\n────`);
  else if (result.note) say(result.note);
  say(`${mark} ${name}: ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped (${seconds} s)`);
}

/** Run Node programs one after the other; the first failure ends the part. */
async function command(...programs) {
  let output = "";
  for (const args of programs) {
    const ended = await node(args);
    output += ended.output;
    if (ended.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: `${output}\n(ended with ${ended.code})` };
  }
  return { passed: 1, failed: 0, skipped: 0, output };
}

function node(args, extra = {}) {
  // Nothing may ask a question, send statistics or colour what is read as text.
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1", CI: "true", ...extra };
  delete env.FORCE_COLOR;
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => {
      output += text;
    });
  }
  const impatient = setTimeout(() => child.kill("SIGTERM"), PATIENCE_MS);
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      clearTimeout(impatient);
      resolve({ code: code ?? signal, output });
    });
  });
}

/** Generate from the schema into a copy: a migration that nobody made would show as a new file. */
async function schemaDrift() {
  // Inside the project: drizzle-kit takes a relative folder only.
  const copy = path.join("node_modules", ".cache", "holdpoint-drift");
  rmSync(path.join(root, copy), { recursive: true, force: true });
  cpSync(path.join(root, "db", "migrations"), path.join(root, copy), { recursive: true });
  const list = () => readdirSync(path.join(root, copy)).join(" ");
  const before = list();
  const args = ["generate", "--dialect=postgresql", "--schema=./db/schema/*.ts", `--out=./${copy}`, "--name=drift"];
  const ended = await command([tool.drizzle, ...args]);
  const after = list();
  rmSync(path.join(root, copy), { recursive: true, force: true });
  if (ended.failed > 0 || before === after) return ended;
  const output = `${ended.output}\ndb/schema says more than db/migrations. Run: npm run db:generate -- --name <what_it_does>`;
  return { passed: 0, failed: 1, skipped: 0, output };
}

async function vitest(project, args = [], env = {}) {
  const report = path.join(scratch, `${project}-${Date.now()}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const ended = await node([tool.vitest, "run", "--project", project, ...reporters, ...args], env);
  return count(ended, report, (found) => ({
    passed: found.numPassedTests,
    // A file that fails before its first test counts nothing by itself.
    failed: found.numFailedTests + found.testResults.filter(brokenFile).length,
    skipped: found.numPendingTests + found.numTodoTests,
  }));
}

function brokenFile({ status, assertionResults }) {
  return status === "failed" && !assertionResults.some((test) => test.status === "failed");
}

/** The store and its queries once more, on the system's PostgreSQL: what we ship must run on another's server too. */
async function externalPostgres() {
  const given = process.env.HOLDPOINT_TEST_DATABASE_URL;
  const bin = given ? null : findSystemPostgres();
  const server = given ? { url: given, stop: async () => {} } : bin && (await startSystemPostgres(bin));
  if (!server) {
    const note = "No PostgreSQL 15 or later in /usr/lib/postgresql: the embedded one alone was tested.";
    return { passed: 0, failed: 0, skipped: 1, output: note, note };
  }
  try {
    const where = { HOLDPOINT_TEST_DATABASE_URL: server.url };
    return await vitest("pg", [...storeTests(), "db/queries/", "db/migrate", "lib/bench/history"], where);
  } finally {
    await server.stop();
  }
}

/** The store's tests but the long random one: one server's minutes of that are enough. */
function storeTests() {
  const tests = readdirSync(path.join(root, "db", "store")).filter((name) => name.endsWith(".pg.test.ts"));
  return tests.filter((name) => name !== "model.pg.test.ts").map((name) => `db/store/${name}`);
}

async function browser() {
  const missing = await requireChromium();
  if (missing !== null) return { passed: 0, failed: 1, skipped: 0, output: missing };
  const report = path.join(scratch, "browser.json");
  const env = { PLAYWRIGHT_JSON_OUTPUT_NAME: report };
  const ended = await node([tool.playwright, "test", "--reporter=list,json"], env);
  return count(ended, report, ({ stats, errors }) => ({
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + (stats.unexpected === 0 ? errors.length : 0),
    skipped: stats.skipped,
  }));
}

/** The report's figures; a run that failed without a failed test, or without a report, is one failure. */
function count(ended, report, figures) {
  const found = existsSync(report)
    ? figures(JSON.parse(readFileSync(report, "utf8")))
    : { passed: 0, failed: 0, skipped: 0 };
  if (ended.code !== 0 && found.failed === 0) found.failed = 1;
  const coverage = /^(Statements|Branches|Functions|Lines) .*$/gm;
  const note = [...ended.output.matchAll(coverage)].map(([line]) => `  ${line.trim()}`).join("\n");
  return { ...found, output: ended.output, note };
}
