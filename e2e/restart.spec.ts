import { expect, test } from "@playwright/test";
import { Office, REBOOK, readTicket } from "./office";
import { forgetFolder, startApp } from "./server";

test("a restart of everything between park and Allow changes nothing", async ({ browser }) => {
  test.setTimeout(180_000);
  let app = await startApp();
  const office = new Office(app);
  const agent = office.agent("survivor");
  const rosa = await office.person(browser, "Rosa", "owner");
  const { runId, ticketId } = await agent.park(REBOOK);
  await readTicket(rosa, ticketId);
  const hash = await rosa.locator(".hash-line .hash").innerText();

  const port = Number(new URL(app.origin).port);
  await app.stop();
  await expect(rosa.getByText(/Decisions are off\./)).toBeVisible({ timeout: 30_000 });
  app = await startApp({ dataDir: app.dataDir, port });

  await readTicket(rosa, ticketId);
  expect(await rosa.locator(".hash-line .hash").innerText()).toBe(hash);
  await rosa.getByRole("button", { name: "Allow", exact: true }).click();
  await expect(rosa.getByRole("region", { name: "Decision" })).toContainText(/Allowed \d\d:\d\d:\d\d by you\./);
  expect(await agent.run(runId)).toContain('"decision":"allow"');
  await rosa.context().close();
  await app.stop();
  forgetFolder(app.dataDir);
});
