import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { readTestEnv } from "@/lib/cli/env";
import { type App, forgetFolder, startApp } from "./server";

test.describe.configure({ mode: "serial" });

let app: App;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(300_000);
  app = await startApp({ env: { HOLDPOINT_DEMO: "" } });
  const context = await browser.newContext({ baseURL: app.origin, colorScheme: "light", deviceScaleFactor: 2 });
  page = await context.newPage();
});

test.afterAll(async () => {
  await page.context().close();
  await app.stop();
  forgetFolder(app.dataDir);
});

/** README's picture is taken here; `HOLDPOINT_README=1` keeps it. */
async function picture(name: string): Promise<void> {
  const taken = path.join("test-results", `${name}.png`);
  await page.screenshot({ path: taken });
  if (!readTestEnv().keepsPictures) return;
  mkdirSync(path.join("public", "readme"), { recursive: true });
  copyFileSync(taken, path.join("public", "readme", `${name}.png`));
}

test("the first owner opens the printed link, and finds something to approve", async () => {
  await page.goto(app.ownerLink ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").fill("rosa@hold.example");
  await page.getByLabel("Name").fill("Rosa Lindqvist");
  await page.getByLabel("Password").fill("a long enough password");
  await page.getByRole("button", { name: "Become the owner" }).click();
  await expect(page.getByRole("heading", { name: "Inbox" })).toBeVisible();
  await expect(page.getByRole("link", { name: /refund_payment/ })).toBeVisible();
  await expect(page.getByText("Demo", { exact: true })).toHaveCount(6);
});

test("the hidden command is shown for what it is; denied, its run ends", async () => {
  await page.getByRole("link", { name: /run_command/ }).click();
  await expect(page.getByText("Verified in this browser")).toBeVisible();
  await expect(page.getByText("⟨120 spaces⟩").first()).toBeVisible();
  await page.getByRole("textbox", { name: "Reason" }).fill("It deletes what it says it measures.");
  await page.getByRole("button", { name: "Deny" }).click();
  await expect(page.getByRole("region", { name: "Decision" })).toContainText(/Denied \d\d:\d\d:\d\d by you/);
});

test("a refund is read, armed, allowed, and its run goes on to its next step", async () => {
  await page.goto("/inbox");
  await page.getByRole("link", { name: /refund_payment/ }).click();
  await expect(page.getByText("Verified in this browser")).toBeVisible();
  // Once it has been on screen long enough to be decided.
  await page.waitForTimeout(450);
  await picture("ticket");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  // The second half of a double click must not confirm, so nothing does for as long.
  await page.waitForTimeout(450);
  await page.getByRole("button", { name: "Confirm Allow" }).click();
  await expect(page.getByRole("region", { name: "Decision" })).toContainText(/Allowed \d\d:\d\d:\d\d by you/);
  await page.goto("/inbox");
  await page.getByRole("link", { name: /send_message/ }).click();
  await expect(page.getByText("Verified in this browser")).toBeVisible();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(page.getByRole("region", { name: "Decision" })).toContainText(/Allowed \d\d:\d\d:\d\d by you/);
  await page.goto("/runs");
  const refund = page.getByRole("row").filter({ hasText: "refund-desk" });
  await expect(refund).toContainText("Completed");
});

test("the demo is removed in one click, and leaves the lists", async () => {
  await page.goto("/inbox");
  await page.getByRole("button", { name: "Remove demo" }).click();
  // The list never moves under the pointer: what is gone is marked, and leaves when the page is opened anew.
  await expect(page.getByText("0 open", { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText("Nothing is waiting for you")).toBeVisible();
  await page.goto("/runs");
  await expect(page.getByText("refund-desk")).toHaveCount(0);
});
