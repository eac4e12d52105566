import { expect, type Page, test } from "@playwright/test";
import { type Answer, aCallOf, fakeProvider } from "./hosted-agents";
import { Office, readTicket } from "./office";
import { type App, forgetFolder, startApp, throwAwayFolder } from "./server";

test.describe.configure({ mode: "serial" });

let app: App;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
let thea: Page;
/** Whoever starts a run asks for its acts: another person consents. */
let rosa: Page;
let files: string;

const file = (name: string) => ({ path: `${files}/${name}.txt`, content: "A note." });

/** Each agent's first answer; then it is done. */
function firstAnswer(agent: string): Answer {
  if (agent === "boss") return [aCallOf("ask_clerk", { message: "Write the note." })];
  if (agent === "clerk") return [aCallOf("write_file", file("clerk"))];
  return [aCallOf("write_file", file(`${agent}-one`)), aCallOf("write_file", file(`${agent}-two`), 1)];
}

test.beforeAll(async ({ browser }) => {
  test.setTimeout(180_000);
  files = throwAwayFolder();
  provider = await fakeProvider(({ model, messages }) =>
    messages.some(({ role }) => role === "assistant") ? [{ content: `${model} is done.` }] : firstAnswer(model),
  );
  app = await startApp({
    env: {
      HOLDPOINT_WRITE_ROOTS: files,
      HOLDPOINT_MODEL_BASE_URL: provider.baseUrl,
      HOLDPOINT_MODEL_API_KEY: "sk-of-a-test",
    },
  });
  const office = new Office(app);
  thea = await office.person(browser, "Thea", "owner");
  rosa = await office.person(browser, "Rosa", "approver");
  const work = { controller: "react", instructions: "Work." };
  await office.publish("Thea", "clerk", work);
  await office.publish("Thea", "boss", { ...work, delegates: { ask_clerk: "clerk" } }, ["ask_clerk"]);
  for (const name of ["forwards", "backwards"]) await office.publish("Thea", name, { ...work, batch_mode: "parallel" });
});

test.afterAll(async () => {
  for (const page of [thea, rosa]) await page?.context().close();
  await app?.stop();
  provider?.close();
  for (const folder of [app?.dataDir, files]) if (folder) forgetFolder(folder);
});

/** Start an agent's run in the browser and open the run's page. */
async function startedRun(agent: string): Promise<void> {
  await thea.goto("/agents");
  const form = thea.getByRole("form", { name: "Start a run" });
  await form.getByLabel("Agent").selectOption(agent);
  await form.getByRole("textbox", { name: "Message" }).fill("Go on.");
  await form.getByRole("button", { name: "Start" }).click();
  await thea.waitForURL(/\/threads\//);
  await thea.getByRole("region", { name: "Run", exact: true }).getByRole("link").first().click();
  await thea.waitForURL(/\/runs\//);
}

async function allow(ticketId: string): Promise<void> {
  await readTicket(rosa, ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText(/Allowed/);
}

const ticketIn = async (link: ReturnType<Page["getByRole"]>) =>
  (await link.getAttribute("href"))?.replace("/tickets/", "") ?? "";

test("a parent shows what its child waits for, and goes on with the child's end", async () => {
  await startedRun("boss");
  const parent = thea.url();
  const delegated = thea.getByRole("region", { name: "Delegated runs", exact: true });
  const child = delegated.getByRole("row", { name: /clerk/ });
  await expect(child).toContainText("awaiting approval");
  await expect(child).toContainText("s1.0");
  const ticketId = await ticketIn(child.getByRole("link", { name: "Open ticket" }));

  await child.getByRole("link").first().click();
  await expect(thea.getByText("Works for")).toBeVisible();
  await expect(thea.locator(`a[href="${new URL(parent).pathname}"]`)).toBeVisible();

  await thea.goto(parent);
  await expect(child).toContainText("awaiting approval");
  await allow(ticketId);
  await expect(child).toContainText("Completed");
  await expect(thea.getByRole("banner").or(thea.locator("main")).first()).toContainText("Completed");
  await expect(delegated.getByRole("link", { name: "Open ticket" })).toBeHidden();
});

for (const agent of ["forwards", "backwards"]) {
  test(`two parallel waits of one run are answered ${agent}, each by itself, and the run ends`, async () => {
    await startedRun(agent);
    const batch = thea.getByRole("region", { name: "Batch table" });
    const waiting = batch.getByRole("row").filter({ hasText: "Awaiting" });
    await expect(waiting).toHaveCount(2);
    const tickets: string[] = [];
    for (const link of await batch.locator('a[href^="/tickets/"]').all()) tickets.push(await ticketIn(link));
    expect(new Set(tickets).size).toBe(2);
    if (agent === "backwards") tickets.reverse();

    await allow(tickets[0] ?? "");
    await expect(waiting).toHaveCount(1);
    await allow(tickets[1] ?? "");
    await expect(waiting).toHaveCount(0);
    await expect(batch.getByRole("row").filter({ hasText: "Succeeded" })).toHaveCount(2);
    await expect(thea.getByText("Completed").first()).toBeVisible();
  });
}
