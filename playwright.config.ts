import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import { z } from "zod";

const places = z
  .array(z.string())
  .parse(JSON.parse(readFileSync(new URL("e2e/chromium.json", import.meta.url), "utf8")));
const executablePath = places.find((place) => existsSync(place));

export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/global-setup.ts",
  fullyParallel: true,
  forbidOnly: true,
  // A test that passes at the second try has found a fault.
  retries: 0,
  workers: 2,
  // When a test counts as stuck. A machine that does much else at once is slow, and that is no finding.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  reporter: "list",
  outputDir: "test-results",
  use: {
    trace: "off",
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        // The tests run as root in containers, where Chromium's own sandbox cannot.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    },
  },
});
