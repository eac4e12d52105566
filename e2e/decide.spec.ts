import { type Browser, expect, type Page } from "@playwright/test";
import { type Agent, Office, REBOOK, readTicket, SEND_MONEY } from "./office";
import { readSharedApp } from "./shared-app";
import { test } from "./test";

test.describe.configure({ mode: "serial" });

let office: Office;
let agent: Agent;
let rosa: Page;
let jonas: Page;

test.beforeAll(async ({ browser }: { browser: Browser }) => {
  office = new Office(readSharedApp());
  agent = office.agent("daily-assistant");
  rosa = await office.person(browser, "Rosa", "owner");
  jonas = await office.person(browser, "Jonas", "approver");
});

test.afterAll(async () => {
  await rosa?.context().close();
  await jonas?.context().close();
});

const bar = (page: Page) => page.getByRole("region", { name: "Decision" });

test("a new ticket is told in an open inbox, and the list does not move", async () => {
  await agent.park(REBOOK);
  await rosa.goto(`/inbox?agent=${agent.name}`);
  await rosa.getByRole("table", { name: "Open tickets" }).waitFor();
  await expect(rosa.locator("[data-live=live]")).toBeVisible();
  const rows = rosa.locator("[data-row]");
  const before = await rows.count();
  await agent.park(REBOOK);
  await expect(rosa.getByRole("button", { name: /1 new since/ })).toBeVisible();
  expect(await rows.count()).toBe(before);
  await rosa.keyboard.press("n");
  await expect(rows).toHaveCount(before + 1);
});

test("high risk is armed first, then confirmed with its consequence spelt out; the run goes on once", async () => {
  const { runId, ticketId } = await agent.park(SEND_MONEY);
  await readTicket(rosa, ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  const armed = rosa.getByRole("group", { name: "Confirm Allow" });
  await expect(armed).toBeFocused();
  await expect(armed).toContainText("Runs send_money on account:DE8937040044, once.");
  expect(await agent.run(runId)).toContain('"state":"awaiting"');
  await rosa.waitForTimeout(450);
  await rosa.getByRole("button", { name: "Confirm Allow" }).click();
  await expect(bar(rosa)).toContainText(/Allowed \d\d:\d\d:\d\d by you\./);
  expect(await agent.run(runId)).toContain('"decision":"allow"');
});

test("a denied agent gets the reason, and its run goes on", async () => {
  const { runId, ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  await rosa.getByRole("textbox", { name: "Reason" }).fill("The customer must confirm first");
  await rosa.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(bar(rosa)).toContainText(/Denied \d\d:\d\d:\d\d by you\./);
  await expect(bar(rosa)).toContainText("The customer must confirm first");
  const run = await agent.run(runId);
  expect(run).toContain("The customer must confirm first");
  expect(run).toContain('"state":"running"');
});

test("a ticket decided in one browser settles in another, and the time it took is noted", async () => {
  const { ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  await readTicket(jonas, ticketId);
  await jonas.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(bar(jonas)).toContainText("by you");
  const answered = performance.now();
  await expect(bar(rosa)).toContainText(/Allowed \d\d:\d\d:\d\d by jonas/i);
  // A second on a quiet machine; this one also builds and tests other things.
  const took = Math.round(performance.now() - answered);
  test.info().annotations.push({ type: "settled elsewhere after", description: `${took} ms` });
  expect(took).toBeLessThan(5_000);
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).toHaveCount(0);
});

test("a double click, and a held Enter, are one decision each, on the ticket that was read", async () => {
  const first = await agent.park(REBOOK);
  await readTicket(rosa, first.ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).dblclick();
  await expect(bar(rosa)).toContainText("by you");
  expect(decisionsOf(await agent.run(first.runId))).toBe(1);

  const second = await agent.park(SEND_MONEY);
  await readTicket(rosa, second.ticketId);
  await rosa.getByRole("button", { name: "Allow", exact: true }).focus();
  // A held key: one press and nine repeats. The armed state must not be confirmed by the repeats.
  await rosa.keyboard.down("Enter");
  for (let repeat = 0; repeat < 9; repeat += 1) await rosa.keyboard.down("Enter");
  await rosa.keyboard.up("Enter");
  await rosa.waitForTimeout(600);
  await expect(rosa.getByRole("group", { name: "Confirm Allow" })).toBeVisible();
  expect(decisionsOf(await agent.run(second.runId))).toBe(0);
  await rosa.keyboard.press("Escape");
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).toBeVisible();
});

function decisionsOf(run: string): number {
  return run.split('"decision":"allow"').length - 1;
}

test("two approvers at once: one decides, the other is told who, what and when", async () => {
  const { runId, ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  await readTicket(jonas, ticketId);
  await Promise.all([
    rosa.getByRole("button", { name: "Deny", exact: true }).click(),
    jonas.getByRole("button", { name: "Allow", exact: true }).click(),
  ]);
  await expect(bar(rosa)).toContainText(/by you|changed nothing and is kept as a refusal/);
  await expect(bar(jonas)).toContainText(/by you|changed nothing and is kept as a refusal/);
  const told = `${await bar(rosa).innerText()} ${await bar(jonas).innerText()}`;
  expect(told.match(/by you\./g) ?? []).toHaveLength(1);
  expect(told).toMatch(/(denied|allowed) this at \d\d:\d\d:\d\d/);
  const run = await agent.run(runId);
  expect(decisionsOf(run) + run.split('"decision":"deny"').length - 1).toBe(1);
});

test("hidden text is drawn and counted, no key allows it, and a folded value holds Allow back", async () => {
  const tags = [..."rm -rf ~"].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xe0000)).join("");
  const { ticketId } = await agent.park({
    action: "TerminalExecute",
    args: { command: `ls \u202e reports${tags}`, stdin: "a line of a report\n".repeat(300) },
    output: "host:build-07",
  });
  await readTicket(rosa, ticketId);
  await expect(rosa.getByText("⟨U+202E⟩")).toBeVisible();
  await expect(rosa.getByRole("heading", { name: "Hidden and misleading text" })).toBeVisible();
  await expect(rosa.getByText("they spell")).toContainText("rm -rf ~");
  const allow = rosa.getByRole("button", { name: "Allow", exact: true });
  await expect(allow).toHaveAttribute("aria-disabled", "true");
  await expect(bar(rosa)).toContainText("Allow opens once args.stdin has been opened to its last byte.");
  await rosa.getByRole("button", { name: /Open the other [\d,]+ bytes/ }).click();
  await expect(allow).not.toHaveAttribute("aria-disabled", "true");
  await rosa.keyboard.press("a");
  await rosa.waitForTimeout(300);
  await expect(allow).toBeVisible();
});

test("several tickets of one action are decided with the exact list; each has its own answer", async () => {
  const action = `rebook_${Date.now()}`;
  for (let index = 0; index < 3; index += 1) await agent.park({ ...REBOOK, action, args: { seat: index } });
  await rosa.goto(`/inbox?action=${action}`);
  await rosa.getByRole("checkbox", { name: "Select all on this page" }).check();
  const bulk = rosa.getByRole("region", { name: "Decide several" });
  await expect(bulk.getByText("verified")).toHaveCount(3);
  await bulk.getByRole("textbox", { name: "Reason" }).fill("checked by phone");
  const allow = bulk.getByRole("button", { name: "Allow 3" });
  await expect(allow).not.toHaveAttribute("aria-disabled", "true");
  await allow.click();
  await expect(bulk).toContainText("3 allowed");
  await expect(rosa.getByText("No longer open")).toHaveCount(3);
});

test("a question is answered by its form, and what does not fit is refused in words", async () => {
  const runId = await agent.ask("Which payment method?", {
    type: "object",
    properties: {
      payment_id: { type: "string", enum: ["gift_card", "certificate"] },
      max_amount: { type: "number", maximum: 2000 },
    },
    required: ["payment_id"],
  });
  await rosa.goto(`/inbox?kind=question&agent=${agent.name}`);
  await rosa
    .getByRole("link", { name: /Which payment method/ })
    .first()
    .click();
  await rosa.getByLabel("max_amount").fill("2500");
  await expect(rosa.getByText("2500 is over 2000, the most this question takes")).toBeVisible();
  await rosa.getByLabel("max_amount").fill("150");
  await rosa.getByLabel("payment_id").selectOption({ label: "certificate" });
  const answer = rosa.getByRole("button", { name: "Answer" });
  await expect(answer).not.toHaveAttribute("aria-disabled", "true");
  await answer.click();
  await expect(bar(rosa)).toContainText(/Answered \d\d:\d\d:\d\d by you\./);
  expect(await agent.run(runId)).toContain('"max_amount":150');
});

test("an expired ticket is replaced by an operator, and then allowed", async () => {
  const { ticketId } = await agent.park({ ...REBOOK, deadline_in_ms: 1_500 });
  await rosa.goto(`/tickets/${ticketId}`);
  await expect(rosa.getByText("An answer no longer counts.")).toBeVisible({ timeout: 9_000 });
  await rosa.getByRole("button", { name: "Replace ticket" }).click();
  const dialog = rosa.getByRole("dialog", { name: "Replace ticket" });
  await dialog.getByRole("combobox").selectOption({ label: "1 hour" });
  await dialog.getByRole("textbox", { name: "Reason" }).fill("nobody was in");
  await dialog.getByRole("button", { name: "Replace ticket" }).click();
  await expect(rosa).not.toHaveURL(new RegExp(ticketId));
  await expect(rosa.getByText("Verified in this browser")).toBeVisible();
  const allow = rosa.getByRole("button", { name: "Allow", exact: true });
  await expect(allow).not.toHaveAttribute("aria-disabled", "true");
  await allow.click();
  await expect(bar(rosa)).toContainText(/Allowed \d\d:\d\d:\d\d by you\./);
});
