import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

/** What stands in a file, and what it imports. */
type Case = readonly [file: string, source: string];

const FORBIDDEN: readonly Case[] = [
  ["lib/result.ts", "@/lib/protocol/run"],
  ["lib/protocol/run.ts", "@/db/schema/runs"],
  ["lib/protocol/run.ts", "../../db/schema/runs"],
  ["lib/protocol/run.ts", "../server/session"],
  ["lib/protocol/run.ts", "node:fs"],
  ["lib/protocol/run.ts", "next/server"],
  ["lib/adapters/mcp.ts", "@/db/client"],
  ["db/schema/runs.ts", "@/db/client"],
  ["db/schema/runs.ts", "@/db/store/open-run"],
  ["db/store/open-run.ts", "@/lib/runtime/worker"],
  ["db/queries/inbox.ts", "@/lib/server/session"],
  ["lib/runtime/worker.ts", "@/lib/server/database"],
  ["lib/runtime/worker.ts", "server-only"],
  ["lib/cli/main.ts", "@/app/healthz/route"],
  ["lib/server/session.ts", "@/components/ui/button"],
  ["components/tickets/card.tsx", "@/lib/server/session"],
  ["components/tickets/card.tsx", "@/db/queries/inbox"],
  ["components/tickets/card.tsx", "server-only"],
  ["lib/client/agent.ts", "@/lib/protocol/run"],
  ["app/page.tsx", "postgres"],
  ["app/page.tsx", "../../db/client"],
];

const ALLOWED: readonly Case[] = [
  ["lib/protocol/run.ts", "@/lib/result"],
  ["lib/protocol/run.ts", "../result"],
  ["lib/protocol/run.ts", "./call"],
  ["lib/protocol/run.test.ts", "node:fs"],
  ["db/schema/runs.ts", "@/lib/protocol/run"],
  ["db/store/open-run.ts", "@/db/schema/runs"],
  ["lib/runtime/worker.ts", "@/db/store/open-run"],
  ["lib/server/session.ts", "server-only"],
  ["lib/server/session.ts", "@/lib/runtime/worker"],
  ["components/tickets/card.tsx", "@/lib/protocol/ticket"],
  ["app/page.tsx", "@/lib/server/session"],
];

const report = z.object({ diagnostics: z.array(z.object({ location: z.object({ path: z.string() }) })) });

/** The cases that the linter complains of, as one run over a copy of the house with a file for each. */
function complaints(cases: readonly Case[]): Set<number> {
  const copy = mkdtempSync(path.join(os.tmpdir(), "holdpoint-lint-"));
  try {
    for (const file of ["biome.json", ".gitignore"]) copyFileSync(file, path.join(copy, file));
    cases.forEach(([file, source], index) => {
      const place = path.join(copy, nameOf(file, index));
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, `import { x } from "${source}";\n\nx();\n`);
    });
    const biome = path.resolve("node_modules", "@biomejs", "biome", "bin", "biome");
    const args = [biome, "lint", "--only=style/noRestrictedImports", "--reporter=json", "--max-diagnostics=none", "."];
    const { stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
    const complained = report
      .parse(JSON.parse(stdout))
      .diagnostics.map(({ location }) => path.normalize(location.path));
    return new Set(cases.flatMap(([file], index) => (complained.includes(nameOf(file, index)) ? [index] : [])));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Several cases may stand in for one file; lib/result.ts is known by its name. */
function nameOf(file: string, index: number): string {
  return file === "lib/result.ts" ? file : path.join(path.dirname(file), `${index}-${path.basename(file)}`);
}

describe("the directions of the house", () => {
  let found = new Set<number>();
  beforeAll(() => {
    found = complaints([...FORBIDDEN, ...ALLOWED]);
  });

  it.each(FORBIDDEN.map((each, index) => [...each, index] as const))(
    "%s may not import %s",
    (_file, _source, index) => {
      expect(found.has(index)).toBe(true);
    },
  );

  it.each(ALLOWED.map((each, index) => [...each, index] as const))("%s may import %s", (_file, _source, index) => {
    expect(found.has(FORBIDDEN.length + index)).toBe(false);
  });
});
