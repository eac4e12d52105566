import { type Browser, expect, type Page } from "@playwright/test";
import { Office } from "./office";
import { readSharedApp } from "./shared-app";
import { test } from "./test";

test.describe.configure({ mode: "serial" });

let office: Office;
let rosa: Page;

test.beforeAll(async ({ browser }: { browser: Browser }) => {
  office = new Office(readSharedApp());
  rosa = await office.person(browser, "Rosa", "owner");
});

test.afterAll(() => rosa.context().close());

const bar = () => rosa.getByRole("region", { name: "Decision" });

/** From the run's page to its open ticket, by the one safe step that the verdict names. */
async function openTicketOf(runId: string, action: string): Promise<void> {
  await rosa.goto(`/runs/${runId}`);
  await expect(rosa.getByRole("heading", { name: "Why it is not moving" })).toBeVisible();
  await expect(rosa.locator(".verdict")).toContainText(`a decision on ${action}`);
  await rosa.getByRole("link", { name: "Open the ticket" }).click();
  await expect(rosa.getByText("Verified in this browser")).toBeVisible();
  await expect(rosa.getByRole("button", { name: "Allow", exact: true })).not.toHaveAttribute("aria-disabled", "true");
}

test("a recorded airline thread is allowed call by call in the browser, and the worker completes it", async () => {
  const [runId] = office.replay("airline.jsonl", "rebook");
  await openTicketOf(runId ?? "", "update_reservation_flights");
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(bar()).toContainText("by you");
  await openTicketOf(runId ?? "", "send_certificate");
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(bar()).toContainText("by you");
  await rosa.goto(`/runs/${runId}`);
  await expect(rosa.locator(".verdict")).toContainText("Completed");
  await expect(rosa.getByText(/Chain verified: \d+ events/)).toBeVisible();
});

test("another is denied, told why, and goes on to its next step", async () => {
  const [runId] = office.replay("airline.jsonl", "refund-noah");
  await openTicketOf(runId ?? "", "send_certificate");
  await rosa.getByRole("textbox", { name: "Reason" }).fill("Too much");
  await rosa.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(bar()).toContainText("Too much");
  await openTicketOf(runId ?? "", "update_reservation_flights");
  await expect(rosa.getByRole("table").filter({ hasText: "send_certificate" }).first()).toContainText("Blocked");
});
