// Our TypeScript programs as single files that Node runs. A bundle remembers what it was made of.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./ground.mjs";

const entries = {
  serve: "lib/cli/serve.ts",
  worker: "lib/cli/worker.ts",
  cli: "lib/cli/main.ts",
  bench: "lib/bench/main.ts",
};

/** The path of an up-to-date bundle. Costs a few file stats when nothing changed. */
export async function bundle(name) {
  const file = path.join(root, "dist", `${name}.mjs`);
  const memory = path.join(root, "dist", `${name}.inputs.json`);
  if (existsSync(file) && existsSync(memory) && sameInputs(JSON.parse(readFileSync(memory, "utf8")))) return file;
  const { build, stop } = await import("esbuild");
  const made = await build({
    absWorkingDir: root,
    entryPoints: [entries[name]],
    alias: { "@": root },
    external: ["./node_modules/*"],
    packages: "external",
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: file,
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  // Its helper process would stay with us for as long as we run.
  await stop();
  mkdirSync(path.dirname(file), { recursive: true });
  const inputs = Object.keys(made.metafile.inputs).map((input) => [input, signature(input)]);
  // The program first: should this process end in between, the next one bundles again.
  replace(file, made.outputFiles[0].text);
  replace(memory, JSON.stringify([["package-lock.json", signature("package-lock.json")], ...inputs]));
  return file;
}

/** Import a bundle's `main`. */
export async function program(name) {
  const { main } = await import(pathToFileURL(await bundle(name)).href);
  return main;
}

function sameInputs(inputs) {
  return inputs.every(([input, before]) => signature(input) === before);
}

function signature(input) {
  const found = statSync(path.join(root, input), { throwIfNoEntry: false });
  return found === undefined ? "gone" : `${found.size}:${found.mtimeMs}`;
}

/** Several starts may bundle at once: each writes its own draft, and a reader sees a whole file or the one before. */
function replace(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
