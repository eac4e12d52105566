import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect } from "@playwright/test";
import { childEnvironment } from "@/lib/cli/env";
import { Office, readTicket } from "./office";
import type { SharedApp } from "./shared-app";
import { test } from "./test";

/** README's shell blocks under a heading, as they stand there, with the address of the app under test. */
function blocks(heading: string, app: SharedApp): readonly string[] {
  const readme = readFileSync("README.md", "utf8");
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const found = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");
  expect(found.length, `shell under "${heading}"`).toBeGreaterThan(0);
  return found.map((code) => code.replaceAll(/(http:\/\/)?localhost:3000/g, app.origin));
}

/** Run it as a reader would, in the project's folder; answers all that it printed. */
function shell(code: string, app: SharedApp, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn("bash", ["-c", code], {
    env: childEnvironment({
      DATABASE_URL: "",
      HOLDPOINT_DATA_DIR: app.dataDir,
      HOLDPOINT_ORIGIN: "",
      PORT: "",
      ...env,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  return new Promise((resolve) => child.once("close", () => resolve(said)));
}

const canRun = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);

test.describe("README", () => {
  // biome-ignore lint/suspicious/noSkippedTests: the project promises Node alone; a machine without these is told that they were not run.
  test.skip(!canRun, "its examples are for bash and curl");

  test("the example parks a call, waits for a person, executes once, and ends", async ({ app, browser }) => {
    const rosa = await new Office(app).person(browser, "Rosa", "owner");
    const [example = ""] = blocks("Park a call from any language", app);
    const running = shell(example, app);
    // Opened before anything waits: the first ticket comes into an empty inbox by itself.
    await rosa.goto("/inbox?agent=my-agent");
    const link = rosa.getByRole("link", { name: /send_money/ });
    await expect(link).toBeVisible({ timeout: 30_000 });
    const ticket = (await link.getAttribute("href"))?.replace("/tickets/", "") ?? "";
    await readTicket(rosa, ticket);
    await rosa.getByRole("button", { name: "Allow", exact: true }).click();
    const said = await running;
    expect(said).toContain('"attempt":1,"idempotency_key"');
    expect(said).toContain('"outcome":"succeeded"');
    expect(said).toContain('"cause":"completed"');
    await rosa.context().close();
  });

  test("a sign-in link that is made in a second shell opens the console where it is served", async ({ app }) => {
    const said = await shell("npm run -s holdpoint -- people add second@hold.example --role approver", app);
    expect(JSON.parse(said.split("\n")[0] ?? "").sign_in_link).toContain(`${app.origin}/sign-in#`);
  });

  test("what an operator is told to ask answers", async ({ app }) => {
    const [asked = ""] = blocks("When a run does not move", app);
    const made = await shell("npm run -s holdpoint -- keys create --kind operator --name night", app);
    const { key } = JSON.parse(made.split("\n")[0] ?? "") as { readonly key: string };
    const reads = asked.split("\n").filter((line) => line.startsWith("curl"));
    expect(reads).toHaveLength(3);
    const said = await shell(reads.join("\n"), app, { OPERATOR: key });
    expect(said).toContain('"status":"ready"');
    expect(said).toContain('"status":"ok"');
    expect(said).toContain("holdpoint_http_requests_total");
  });
});
