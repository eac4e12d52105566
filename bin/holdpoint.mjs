#!/usr/bin/env node
// The `holdpoint` command. Its stdout is one JSON object, so everything else goes to stderr.
import { bundle, program } from "./bundle.mjs";
import { giveUp, requireNode, requirePackages, root } from "./ground.mjs";

requireNode();
await requirePackages();
try {
  const main = await program("cli");
  process.exitCode = await main({ root, args: process.argv.slice(2), worker: () => bundle("worker") });
} catch (cause) {
  giveUp(cause instanceof Error ? cause.message : String(cause));
}
