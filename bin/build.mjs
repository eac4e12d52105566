// `npm run build`: the programs and the console, as `npm start` would build them.
import { bundle, program } from "./bundle.mjs";
import { giveUp, requireNode, requirePackages, root } from "./ground.mjs";

requireNode();
await requirePackages();
try {
  for (const name of ["worker", "cli"]) await bundle(name);
  const main = await program("serve");
  process.exitCode = await main({ root, buildOnly: true });
} catch (cause) {
  giveUp(cause instanceof Error ? cause.message : String(cause));
}
