import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Settings } from "./env";

const NAME = "served-at";

/** Remember in the data folder where the console answers, for commands that are run in another shell. */
export function rememberOrigin({ dataDir, origin }: Pick<Settings, "dataDir" | "origin">): void {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(path.join(dataDir, NAME), `${origin}\n`);
}

/** The console's origin for a link: as this shell has it, else where the console was served last. */
export function originForLinks(settings: Pick<Settings, "dataDir" | "origin" | "originIsGiven">): string {
  if (settings.originIsGiven) return settings.origin;
  try {
    const served = readFileSync(path.join(settings.dataDir, NAME), "utf8").trim();
    return URL.canParse(served) ? served : settings.origin;
  } catch {
    // It was never served from this folder; the default is as good as any.
    return settings.origin;
  }
}
