import AxeBuilder from "@axe-core/playwright";
import { type Browser, expect, type Page } from "@playwright/test";
import { type Agent, Office, type Parked, REBOOK, readTicket, SEND_MONEY } from "./office";
import { readSharedApp } from "./shared-app";
import { test } from "./test";

test.describe.configure({ mode: "serial" });

let agent: Agent;
let rosa: Page;
let ticket: Parked;
const complaints: string[] = [];

test.beforeAll(async ({ browser }: { browser: Browser }) => {
  const office = new Office(readSharedApp());
  agent = office.agent("desk");
  rosa = await office.person(browser, "Rosa", "owner");
  // A refused style or script is a sentence in the console; so is a fault of ours.
  rosa.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  rosa.on("pageerror", (fault) => complaints.push(fault.message));
  ticket = await agent.park(SEND_MONEY);
});

test.afterAll(() => rosa.context().close());

async function nothingFound(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
}

test("axe finds nothing on any page, in both themes, on a desk and on a phone; nothing scrolls sideways", async () => {
  test.setTimeout(900_000);
  const pages = [
    "/inbox",
    `/tickets/${ticket.ticketId}`,
    "/runs",
    `/runs/${ticket.runId}`,
    `/runs/${ticket.runId}/trace`,
    `/threads/${ticket.runId}`,
    "/agents",
    "/mailbox",
    "/refusals",
    "/no-such-page",
  ];
  for (const colorScheme of ["light", "dark"] as const) {
    await rosa.emulateMedia({ colorScheme });
    for (const width of [1440, 375, 320]) {
      await rosa.setViewportSize({ width, height: 900 });
      for (const path of pages) {
        await rosa.goto(path);
        await expect(rosa.getByRole("heading", { level: 1 })).toBeVisible();
        await rosa.waitForTimeout(400);
        if (width !== 320) await nothingFound(rosa);
        expect(
          await rosa.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
          `${path} at ${width}`,
        ).toBe(0);
      }
    }
  }
  await rosa.setViewportSize({ width: 1440, height: 900 });
  expect(complaints.filter((words) => !words.includes("404"))).toEqual([]);
});

test("the tab order of the decision bar is Reason, Deny, Allow, and focus rests on neither", async () => {
  await readTicket(rosa, ticket.ticketId);
  expect(await rosa.evaluate(() => document.activeElement === document.body)).toBe(true);
  await rosa.keyboard.press("r");
  await expect(rosa.getByRole("textbox", { name: "Reason" })).toBeFocused();
  await rosa.keyboard.press("Tab");
  await expect(rosa.getByRole("button", { name: "Deny", exact: true })).toBeFocused();
  await rosa.keyboard.press("Tab");
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).toBeFocused();
  const sizes = await Promise.all(
    ["Deny", "Allow"].map((name) => rosa.getByRole("button", { name, exact: true }).boundingBox()),
  );
  expect(sizes[0]?.height).toBe(sizes[1]?.height);
});

test("what the page draws reads back to the proposal's hash, in both of its views", async () => {
  await readTicket(rosa, ticket.ticketId);
  await rosa.keyboard.press("v");
  const raw = (await rosa.locator("[data-raw]").innerText()).replace(/\s*\n\s*/g, "").replaceAll(": ", ":");
  expect(JSON.parse(raw)).toEqual({ action: SEND_MONEY.action, args: SEND_MONEY.args, output: SEND_MONEY.output });
});

test("no hidden character of an agent is drawn as such, wherever the page names what it found", async () => {
  const key = "pay\u202eevil\u200b\u2066";
  const hostile = await agent.park({
    action: "send\u202e_money\n",
    args: { [key]: key.repeat(200) },
    output: "\u200bhome",
  });
  // An agent chooses its thread's id too.
  const thread = `th\u202e${key.repeat(4)}`;
  const opened = await agent.call("POST", "/runs", { agent: agent.name, thread_id: thread });
  const { run_id } = opened.json as { readonly run_id: string };
  const paths = [
    `/tickets/${hostile.ticketId}`,
    "/inbox",
    `/inbox?action=${encodeURIComponent(key)}`,
    `/runs/${hostile.runId}`,
    `/runs/${run_id}`,
    `/threads/${encodeURIComponent(thread)}`,
  ];
  for (const path of paths) {
    await rosa.goto(path);
    await expect(rosa.getByText("⟨U+202E⟩").first()).toBeVisible();
    expect(await rosa.evaluate(everyWord), path).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  }
});

test("a target of any length keeps the page as wide as it is, and a short one is never cut", async () => {
  const long = await agent.park({
    action: "call_out",
    args: { to: "x".repeat(600) },
    output: `https://${"way/".repeat(80)}`,
  });
  const short = await agent.park({ action: "wire", args: { amount: 7 }, output: "account:Y" });
  for (const path of [
    "/inbox?action=call_out",
    `/threads/${long.runId}`,
    `/runs/${long.runId}`,
    `/tickets/${long.ticketId}`,
  ]) {
    await rosa.goto(path);
    await expect(rosa.getByText("call_out").first()).toBeVisible();
    expect(await rosa.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), path).toBe(0);
  }
  for (const path of ["/inbox?action=wire", `/runs/${short.runId}`]) {
    await rosa.goto(path);
    const target = rosa.locator(".target > .keep").first();
    await expect(target).toHaveText("→ account:Y");
    expect(await target.evaluate((it) => it.scrollWidth - it.clientWidth), path).toBeLessThanOrEqual(1);
  }
});

test("a path that cannot be read is a page that is not there, not a fault", async () => {
  for (const path of ["/runs/%E0%A4%A", "/threads/%FF"]) {
    expect((await rosa.goto(path))?.status()).toBe(404);
    await expect(rosa.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  }
});

test("a character that no text here can hold is refused where it is looked for, not a fault", async () => {
  const asked = ["/console/find?q=a%00", "/console/runs?q=%00", "/console/runs/a%00b", "/console/inbox?agent=%00"];
  const statuses = await rosa.evaluate(
    (paths) => Promise.all(paths.map(async (path) => (await fetch(path)).status)),
    asked,
  );
  expect(statuses).toEqual(asked.map(() => 422));
  expect(await rosa.evaluate(async () => (await fetch("/console/find?q=a%2500")).status)).toBe(200);
});

test("cancelling a call is told apart from denying it, before and after", async () => {
  const { ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  await expect(rosa.getByText("To cancel is not to deny", { exact: false })).toBeVisible();
  await rosa.getByRole("button", { name: "Cancel call" }).click();
  const dialog = rosa.getByRole("dialog", { name: "Cancel call" });
  await dialog.getByRole("textbox", { name: "Reason" }).fill("not needed");
  await dialog.getByRole("button", { name: "Cancel call" }).click();
  const bar = rosa.getByRole("region", { name: "Decision" });
  await expect(bar).toContainText(/Cancelled \d\d:\d\d:\d\d/);
  await expect(bar).toContainText("The model is told “cancelled”, and its run goes on.");
});

/** All that a page says, also where no token can be drawn: its title, its tooltips, and the names that are read aloud. */
function everyWord(): string {
  const said = [document.title, document.body.innerText];
  for (const element of document.querySelectorAll("[title], [aria-label], [placeholder], [alt]"))
    for (const name of ["title", "aria-label", "placeholder", "alt"]) said.push(element.getAttribute(name) ?? "");
  return said.join("\n");
}

test("a page that can no longer be read says so, with how old it is, and is current again when it can", async () => {
  const { runId, ticketId } = await agent.park(REBOOK);
  const paths = ["/inbox", `/tickets/${ticketId}`, "/runs", `/runs/${runId}`, `/threads/${runId}`, "/agents"];
  for (const path of [...paths, "/mailbox", "/refusals"]) {
    await rosa.goto(path);
    await expect(rosa.locator("[data-live=live]")).toBeVisible();
    await expect(rosa.getByText(/could not be read/)).toHaveCount(0);
    const broken = /\/console\/(?!stream)/;
    await rosa.route(broken, (route) => route.fulfill({ status: 503, json: { title: "The database is away" } }));
    // The network goes and comes back, and with it everything that is shown is read again.
    await rosa.evaluate(() => {
      for (const name of ["offline", "online"]) window.dispatchEvent(new Event(name));
    });
    const notice = rosa.getByRole("alert").filter({ hasText: "could not be read again" }).first();
    await expect(notice).toContainText("The database is away");
    await expect(notice).toContainText(/was read at \d\d:\d\d:\d\d/);
    await rosa.unroute(broken);
    await notice.getByRole("button", { name: "Try now" }).click();
    await expect(rosa.getByText(/could not be read again/)).toHaveCount(0);
  }
});

test("the palette reaches a page and an id, and ? lists the keys", async () => {
  await rosa.goto("/inbox");
  await rosa.keyboard.press("Control+k");
  await rosa.getByRole("combobox").fill(ticket.ticketId.slice(0, 18));
  await expect(rosa.getByRole("option").filter({ hasText: "send_money" })).toBeVisible();
  await rosa.keyboard.press("Enter");
  await expect(rosa).toHaveURL(new RegExp(ticket.ticketId));
  await rosa.keyboard.press("?");
  await expect(rosa.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  // In one task, so no frame is painted between them: the dialog is still in the document when G comes.
  await rosa.evaluate(async () => {
    for (const key of ["Escape", "g", "r"]) {
      document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      await Promise.resolve();
    }
  });
  await expect(rosa.getByRole("heading", { name: "Runs" })).toBeVisible();
});

test("a tampered begin is refused, and the run's trace shows the reason with the hashes side by side", async () => {
  const { runId, ticketId, requestId } = await agent.park({ ...REBOOK, args: { reservation_id: "QX41TR" } });
  await readTicket(rosa, ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText("by you");
  const begun = await agent.call("POST", `/runs/${runId}/calls/s1.0/begin`, {
    request_id: requestId,
    action: REBOOK.action,
    args: { reservation_id: "X7BYG1" },
    output: null,
  });
  expect(begun.status).toBe(409);
  await rosa.goto(`/runs/${runId}?refused=true`);
  const row = rosa.locator("[data-refused]").filter({ hasText: "proposal_hash_mismatch" });
  await expect(row).toBeVisible();
  const detail = rosa.locator(".trace-detail");
  for (const name of ["supplied", "stored", "approval"])
    await expect(detail.getByText(name, { exact: true })).toBeVisible();
  await expect(detail.getByText(/\d+ of 64 differ/)).toBeVisible();
  await expect(detail.getByText("equals approval").first()).toBeVisible();
  await expect(rosa.getByText(/Chain verified: \d+ events/)).toBeVisible();
  await rosa.goto("/refusals?code=proposal_hash_mismatch");
  await expect(rosa.getByRole("button", { name: "proposal_hash_mismatch, open details" }).first()).toBeVisible();
});

test("an operator cancels a run with a reason, and downloads its bundle", async () => {
  const { runId } = await agent.park(REBOOK);
  await rosa.goto(`/runs/${runId}`);
  await rosa.getByRole("button", { name: "Cancel run" }).click();
  const dialog = rosa.getByRole("dialog", { name: "Cancel run" });
  await dialog.getByRole("textbox", { name: "Reason" }).fill("not needed any more");
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await expect(rosa.locator(".verdict")).toContainText("Cancelled");
  const download = rosa.waitForEvent("download");
  await rosa.getByRole("link", { name: "Download bundle" }).click();
  expect((await download).suggestedFilename()).toContain(runId);
});

test("a lost stream is said, decisions are off, and they come back with it", async () => {
  const { ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  await rosa.context().setOffline(true);
  await rosa.evaluate(() => window.dispatchEvent(new Event("offline")));
  await expect(rosa.getByText(/Not live since \d\d:\d\d:\d\d\. Decisions are off\./)).toBeVisible({ timeout: 30_000 });
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).toHaveAttribute("aria-disabled", "true");
  await rosa.context().setOffline(false);
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).not.toHaveAttribute("aria-disabled", "true", {
    timeout: 15_000,
  });
});
