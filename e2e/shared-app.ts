import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

/** What the specs must know of the app that the set-up started. The set-up and the specs are different processes. */
const sharedApp = z.object({ origin: z.string(), ownerLink: z.string().nullable(), dataDir: z.string() });
export type SharedApp = z.infer<typeof sharedApp>;

const FILE = path.resolve("node_modules", ".cache", "holdpoint-e2e", "app.json");

export function rememberSharedApp(app: SharedApp): void {
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(app), { mode: 0o600 });
}

export function readSharedApp(): SharedApp {
  return sharedApp.parse(JSON.parse(readFileSync(FILE, "utf8")));
}

export function forgetSharedApp(): void {
  rmSync(FILE, { force: true });
}
