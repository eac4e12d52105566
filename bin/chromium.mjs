// A real Chromium for the browser tests: the system's, installed from Debian's packages where we may.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { root, run, say } from "./ground.mjs";

/** Answers null when there is one, else the sentence that says what to do. */
export async function requireChromium() {
  const places = JSON.parse(readFileSync(path.join(root, "e2e", "chromium.json"), "utf8"));
  if (places.some((place) => existsSync(place))) return null;
  const mayInstall = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  if (!mayInstall) {
    return (
      "No Chromium was found, and only root can install Debian's. " +
      "Install one (apt-get install chromium-headless-shell, or chromium), then run the tests again."
    );
  }
  say("Installing Debian's chromium-headless-shell for the browser tests …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update", "-qq"], { env });
  const install = ["install", "-y", "-qq", "--no-install-recommends"];
  // Older Debians have the whole browser only.
  for (const name of ["chromium-headless-shell", "chromium"]) {
    if ((await run("apt-get", [...install, name], { env })) === 0) break;
  }
  if (places.some((place) => existsSync(place))) return null;
  return "apt-get could not install Chromium; its message stands above. Install chromium by hand, then test again.";
}
