#!/usr/bin/env node
// `npm run bench`: figures for BENCHMARKS.md, from a database of their own.
import { program } from "./bundle.mjs";
import { giveUp, requireNode, requirePackages, root } from "./ground.mjs";

requireNode();
await requirePackages();
try {
  const main = await program("bench");
  process.exitCode = await main({ root });
} catch (cause) {
  giveUp(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
}
