import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { readTestEnv } from "./lib/cli/env.ts";

const env = readTestEnv();
const root = fileURLToPath(new URL(".", import.meta.url));
const resolve = {
  alias: {
    "@": root.replace(/\/$/, ""),
    // Outside Next's build the marker throws; what it marks is tested like anything else.
    "server-only": `${root}node_modules/server-only/empty.js`,
  },
};
const notOurs = ["**/node_modules/**", "**/.next/**", "**/dist/**", "e2e/**"];

/** When a test counts as stuck. A machine that does much else at once is slow, and that is no finding. */
const SLOW_MACHINE_MS = 120_000;

export default defineConfig({
  resolve,
  test: {
    maxWorkers: 2,
    coverage: {
      provider: "v8",
      include: ["lib/protocol/**/*.ts"],
      exclude: ["**/*.test.ts", "**/fixtures/**"],
      reporter: ["text-summary", "json-summary"],
      reportsDirectory: "coverage",
      // A little below what the pure tests reach, so that a rule that lands without a test fails `npm test`.
      thresholds: { lines: 97, statements: 97, functions: 98, branches: 92 },
    },
    projects: [
      {
        resolve,
        test: {
          name: "pure",
          include: ["**/*.test.ts"],
          exclude: [...notOurs, "**/*.pg.test.ts"],
          pool: "forks",
          testTimeout: SLOW_MACHINE_MS,
        },
      },
      {
        resolve,
        test: {
          name: "pg",
          include: ["**/*.pg.test.ts"],
          exclude: notOurs,
          pool: "forks",
          globalSetup: ["db/testing/global-setup.ts"],
          provide: { externalDatabaseUrl: env.databaseUrl, stops: env.stops, soakSeconds: env.soakSeconds },
          testTimeout: SLOW_MACHINE_MS,
          hookTimeout: SLOW_MACHINE_MS,
        },
      },
    ],
  },
});
