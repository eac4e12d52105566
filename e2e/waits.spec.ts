import { existsSync, readFileSync } from "node:fs";
import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Answer, aCallOf, HostedOffice } from "./hosted-agents";
import { readTicket } from "./office";

test.describe.configure({ mode: "serial" });

let hosted: HostedOffice;
let thea: Page;
/** Whoever starts a run asks for its acts: another person consents. */
let rosa: Page;
let files: string;

const file = (name: string) => ({ path: `${files}/${name}.txt`, content: "A note." });

const ONE_CALL = ["clerk", "edited", "answered"];

/** Each agent's first answer; then it is done. */
function firstAnswer(agent: string): Answer {
  if (agent === "boss") return [aCallOf("ask_clerk", { message: "Write the note." })];
  if (ONE_CALL.includes(agent)) return [aCallOf("write_file", file(agent))];
  return [aCallOf("write_file", file(`${agent}-one`)), aCallOf("write_file", file(`${agent}-two`), 1)];
}

test.beforeAll(async ({ browser }) => {
  test.setTimeout(180_000);
  hosted = await HostedOffice.open(browser, ({ model, messages }) =>
    messages.some(({ role }) => role === "assistant") ? [{ content: `${model} is done.` }] : firstAnswer(model),
  );
  ({ thea, rosa, files } = hosted);
  const { office } = hosted;
  const work = { controller: "react", instructions: "Work." };
  await office.publish("Thea", "clerk", work);
  await office.publish("Thea", "boss", { ...work, delegates: { ask_clerk: "clerk" } }, ["ask_clerk"]);
  const modes = { edited: "pass_decision_to_tool", answered: "use_decision_as_tool_result" };
  for (const [name, mode] of Object.entries(modes))
    await office.publish("Thea", name, { ...work, resume_modes: { write_file: mode } });
  for (const name of ["forwards", "backwards"]) await office.publish("Thea", name, { ...work, batch_mode: "parallel" });
});

test.afterAll(() => hosted?.close());

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

/** The ticket that the run on Thea's page waits for, on Rosa's. */
async function readOnlyTicket(): Promise<void> {
  const call = thea.getByRole("region", { name: "Batch table" }).locator('a[href^="/tickets/"]');
  await expect(call).toHaveCount(1);
  await readTicket(rosa, await ticketIn(call));
}

const completed = () => expect(thea.getByText("Completed").first()).toBeVisible();

async function allow(ticketId: string): Promise<void> {
  await readTicket(rosa, ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText(/Allowed/);
}

const ticketIn = async (link: Locator) => (await link.getAttribute("href"))?.replace("/tickets/", "") ?? "";

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
  // The parent's own wait is nobody's to decide: it is shown whole, with who answers it.
  const own = thea.getByRole("region", { name: "Batch table" }).locator('a[href^="/tickets/"]');
  await rosa.goto(`/tickets/${await ticketIn(own)}`);
  await expect(rosa.getByRole("heading", { level: 1 })).toContainText("ask_clerk");
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText(
    "The run that it was delegated to answers",
  );
  await expect(rosa.getByRole("button", { name: /^(Allow|Continue|Answer)$/ })).toHaveCount(0);
  await expect(rosa.getByText("Who else may decide")).toHaveCount(0);
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
    await completed();
  });
}

test("an approver changes the arguments: what was changed is named, and the changed act is what runs", async () => {
  await startedRun("edited");
  await readOnlyTicket();
  const field = rosa.getByRole("textbox", { name: "Arguments" });
  await expect(field).toHaveValue(/"A note\."/);
  await field.fill("{");
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByText("This is not JSON.")).toBeVisible();
  await field.fill(JSON.stringify({ ...file("edited"), content: "A better note." }));
  await expect(rosa.getByText("Changed:").locator("..")).toContainText("args.content");
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await completed();
  expect(readFileSync(file("edited").path, "utf8")).toBe("A better note.");
  const batch = thea.getByRole("region", { name: "Batch table" });
  await expect(batch.getByRole("row").filter({ hasText: "replaced by" })).toHaveCount(1);
  await expect(batch.getByRole("row").filter({ hasText: "A better note." })).toContainText("Succeeded");
});

test("an approver gives the result: the tool does not run", async () => {
  await startedRun("answered");
  await readOnlyTicket();
  await rosa.getByRole("textbox", { name: "Result" }).fill("It was done by hand.");
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await completed();
  expect(existsSync(file("answered").path)).toBe(false);
});
