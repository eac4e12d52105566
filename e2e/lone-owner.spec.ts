import { expect, test } from "@playwright/test";
import { Office } from "./office";
import { type App, forgetFolder, startApp } from "./server";

let app: App;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
  forgetFolder(app.dataDir);
});

test("a lone owner is told before a run starts that nobody may allow its acts, until somebody else may", async ({
  browser,
}) => {
  const office = new Office(app);
  const thea = await office.person(browser, "Thea", "owner");
  await office.publish("Thea", "clerk", { controller: "react", instructions: "Write a note." });
  const form = thea.getByRole("form", { name: "Start a run" });
  const alone = form.getByText("Nobody may allow what a run of yours asks for.");

  await thea.goto("/agents");
  await expect(alone).toBeVisible();
  await expect(form).toContainText("people add EMAIL --role approver");
  await expect(form.getByRole("button", { name: "Start" })).toBeVisible();

  // An operator starts and settles; deciding is another's duty.
  const otto = await office.person(browser, "Otto", "operator");
  await thea.reload();
  await expect(alone).toBeVisible();

  const ada = await office.person(browser, "Ada", "approver");
  await thea.reload();
  await expect(form).toContainText("one other person may");
  await expect(alone).toBeHidden();
  for (const page of [thea, otto, ada]) await page.context().close();
});
