// `npm start`: from a fresh clone to a console that answers.
import { bundle, program } from "./bundle.mjs";
import { giveUp, requireNode, requirePackages, root } from "./ground.mjs";

requireNode();
await requirePackages();
try {
  const main = await program("serve");
  process.exitCode = await main({ root, worker: await bundle("worker") });
} catch (cause) {
  giveUp(cause instanceof Error ? cause.message : String(cause));
}
