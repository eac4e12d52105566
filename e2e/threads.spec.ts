import { expect, type Page, test } from "@playwright/test";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { type Answer, aCallOf, HostedOffice } from "./hosted-agents";
import { readTicket } from "./office";

test.describe.configure({ mode: "serial" });

const NAMES = ["react", "plan_and_execute", "workflow"] as const;
type Name = (typeof NAMES)[number];

let hosted: HostedOffice;
let thea: Page;
/** Whoever starts a run asks for its acts: another person consents. */
let rosa: Page;
let files: string;
/** Keeps the last words of the `react` agent back until the test has looked at them. */
let letGo: () => void = () => undefined;
const held = new Promise<void>((resolve) => {
  letGo = resolve;
});

const brief = (name: Name) => ({ path: `${files}/${name}.txt`, content: "A brief." });

function answerOf(name: string, answers: number): Answer {
  if (name === "plan_and_execute") {
    const write = { type: "EXECUTE_TOOL", action: "write_file", args: brief(name), output: brief(name).path };
    return [{ content: canonicalJson([write, { type: "FINISH", output: "Done." }]) }];
  }
  if (name === "workflow") return [{ content: "A thought." }];
  if (answers === 0) return [aCallOf("write_file", brief("react"))];
  return [{ content: "The brief " }, held, { content: "is written." }];
}

function definitionOf(name: Name) {
  const nodes = [
    { model: "Think.", as: "thought" },
    { tool: "write_file", args: brief(name), output: brief(name).path },
    { finish: "Done." },
  ];
  return { controller: name, instructions: "Write a brief.", ...(name === "workflow" ? { nodes } : {}) };
}

test.beforeAll(async ({ browser }) => {
  test.setTimeout(180_000);
  hosted = await HostedOffice.open(browser, ({ model, messages }) =>
    answerOf(model, messages.filter(({ role }) => role === "assistant").length),
  );
  ({ thea, rosa, files } = hosted);
  for (const name of NAMES) await hosted.office.publish("Thea", name, definitionOf(name));
});

test.afterAll(() => hosted?.close());

/** Start an agent's run in the browser; gives its thread's path. */
async function started(name: Name): Promise<string> {
  await thea.goto("/agents");
  await expect(thea.getByRole("heading", { name: "Agents", exact: true })).toBeVisible();
  await expect(thea.getByRole("row", { name })).toContainText("never");
  const form = thea.getByRole("form", { name: "Start a run" });
  await expect(form).toContainText("Whoever starts a run cannot allow what it asks for");
  await form.getByLabel("Agent").selectOption(name);
  await form.getByRole("textbox", { name: "Message" }).fill("Write a brief, please.");
  await form.getByRole("button", { name: "Start" }).click();
  await thea.waitForURL(/\/threads\//);
  await expect(thea.getByRole("heading", { level: 1, name: /Thread/ })).toBeVisible();
  await expect(thea.getByText("Write a brief, please.")).toBeVisible();
  return new URL(thea.url()).pathname;
}

const pending = () => thea.getByRole("link", { name: "Open the ticket" });

async function ticketOf(): Promise<string> {
  await expect(pending()).toBeVisible();
  return (await pending().getAttribute("href"))?.replace("/tickets/", "") ?? "";
}

async function allow(ticketId: string): Promise<void> {
  await readTicket(rosa, ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText(/Allowed/);
}

test("react: live words are marked until they are committed; a lost stream brings back the same pending item", async () => {
  const thread = await started("react");
  const ticketId = await ticketOf();
  const messages = thea.getByRole("region", { name: "Messages" });
  await expect(messages).toContainText("tool call");
  await expect(messages.getByText("write_file", { exact: true })).toBeVisible();
  await expect(messages).toContainText('"content": "A brief."');
  await expect(messages).not.toContainText("call_ref");

  await thea.context().setOffline(true);
  await expect(thea.getByText(/Decisions are off\./)).toBeVisible({ timeout: 30_000 });
  await thea.context().setOffline(false);
  await expect(thea.getByText(/Decisions are off\./)).toBeHidden({ timeout: 30_000 });
  expect(await ticketOf()).toBe(ticketId);

  // Said while it waits: it is on the thread, and changes nothing of what waits.
  await thea.getByRole("textbox", { name: "Message" }).fill("And quickly.");
  await thea.getByRole("button", { name: "Send" }).click();
  await expect(thea.getByRole("region", { name: "Messages" })).toContainText("And quickly.");
  expect(await ticketOf()).toBe(ticketId);

  await allow(ticketId);
  await thea.goto(thread);
  const live = thea.getByRole("region", { name: "Live words" });
  await expect(live).toContainText("Not committed yet");
  await expect(live).toContainText("The brief");
  await expect(thea.getByRole("region", { name: "Messages" })).not.toContainText("The brief");
  letGo();
  await expect(thea.getByRole("region", { name: "Messages" })).toContainText("The brief is written.");
  await expect(live).toBeHidden();
  await expect(thea.getByText("Every run of this thread has ended.", { exact: false })).toBeVisible();
});

for (const name of ["plan_and_execute", "workflow"] as const) {
  test(`${name}: a run that was started in the browser stops for approval, is answered, and ends`, async () => {
    const thread = await started(name);
    await allow(await ticketOf());
    await thea.goto(thread);
    await expect(thea.getByRole("region", { name: "Run", exact: true })).toContainText("Completed");
    await expect(pending()).toBeHidden();
    await thea.getByRole("region", { name: "Run", exact: true }).getByRole("link").click();
    await thea.waitForURL(/\/runs\//);
    await thea.locator(`a[href="${thread}"]`).click();
    await thea.waitForURL(`**${thread}`);
  });
}
