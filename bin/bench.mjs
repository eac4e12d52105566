#!/usr/bin/env node
// `npm run bench`: figures for BENCHMARKS.md, from a database of their own. `npm run bench -- mailbox`: of that section alone.
import { program } from "./bundle.mjs";
import { giveUp, requireNode, requirePackages, root } from "./ground.mjs";

requireNode();
// The other queues are among the tests' packages.
await requirePackages({ withTests: true });
try {
  const main = await program("bench");
  process.exitCode = await main({ root, words: process.argv.slice(2) });
} catch (cause) {
  giveUp(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
}
