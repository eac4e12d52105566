import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const manifest = z.object({
  node: z.record(z.string(), z.object({ exportedName: z.string(), filename: z.string() })),
});

export interface ServerAction {
  readonly id: string;
  readonly name: string;
  /** A page that it belongs to. */
  readonly page: string;
}

/** Every server action of the newest build: what a stranger could call. */
export function serverActions(): ServerAction[] {
  const dist = path.resolve("dist");
  const builds = readdirSync(dist).filter((name) => name.startsWith("web-"));
  const age = (name: string) => statSync(path.join(dist, name)).mtimeMs;
  const newest = builds.sort((a, b) => age(b) - age(a))[0] ?? "";
  const file = path.join(dist, newest, ".next", "server", "server-reference-manifest.json");
  const { node } = manifest.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(node).map(([id, { exportedName, filename }]) => ({
    id,
    name: exportedName,
    page: filename.startsWith("app/sign-in/") ? "/sign-in" : "/inbox",
  }));
}
