import { test as base } from "@playwright/test";
import { readSharedApp, type SharedApp } from "./shared-app";

/** Playwright's `test`, on the shared app: `page.goto("/runs")` goes there. */
export const test = base.extend<{ app: SharedApp }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
  app: async ({}, use) => use(readSharedApp()),
  baseURL: async ({ app }, use) => use(app.origin),
});
