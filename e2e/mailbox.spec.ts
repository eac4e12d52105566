import { randomUUID } from "node:crypto";
import { type Browser, expect, type Page } from "@playwright/test";
import { z } from "zod";
import { type Agent, Office } from "./office";
import { readSharedApp } from "./shared-app";
import { test } from "./test";

test.describe.configure({ mode: "serial" });

const claimed = z.object({ jobs: z.array(z.object({ job_id: z.string(), claim_token: z.string() })) });

let worker: Agent;
let otto: Page;
let office: Office;

test.beforeAll(async ({ browser }: { browser: Browser }) => {
  office = new Office(readSharedApp());
  worker = office.worker("courier");
  otto = await office.person(browser, "Otto", "operator");
});

test.afterAll(() => otto.context().close());

async function enqueue(mailbox: string, priority = 128): Promise<void> {
  const { status } = await worker.call("POST", `/mailboxes/${mailbox}/jobs`, { messages: [], priority });
  expect(status).toBe(201);
}

async function claim(mailbox: string) {
  const { json } = await worker.call("POST", `/mailboxes/${mailbox}/claim`, { worker: "courier-1" });
  const [job] = claimed.parse(json).jobs;
  if (!job) throw new Error(`nothing to claim in ${mailbox}: ${JSON.stringify(json)}`);
  return job;
}

const jobs = () => otto.getByRole("region", { name: "Jobs table" });

/** Press an act of the first job that has it, say why, and be ready to confirm it. */
async function ask(act: string, reason: string) {
  await jobs().getByRole("button", { name: act }).first().click();
  const dialog = otto.getByRole("dialog", { name: act });
  await dialog.getByRole("textbox", { name: "Reason" }).fill(reason);
  return { dialog, confirm: () => dialog.getByRole("button", { name: act }).click() };
}

test("a dead letter says why, is requeued by an operator with a reason, and is delivered", async () => {
  const mailbox = `post-${randomUUID().slice(0, 8)}`;
  await enqueue(mailbox);
  const lost = await claim(mailbox);
  const error = "the model\u202e answered with HTML";
  await worker.call("POST", `/jobs/${lost.job_id}/nack`, { claim_token: lost.claim_token, error, permanent: true });

  await otto.goto(`/mailbox?mailbox=${mailbox}`);
  await expect(jobs().getByText("Dead letter", { exact: true })).toBeVisible();
  await expect(jobs().getByText("⟨U+202E⟩")).toBeVisible();
  expect(await otto.locator("body").innerText()).not.toContain("\u202e");
  await jobs().getByRole("button", { name: "Requeue" }).click();
  const dialog = otto.getByRole("dialog", { name: "Requeue" });
  await expect(dialog.getByRole("button", { name: "Requeue" })).toHaveAttribute("aria-disabled", "true");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("the model is back");
  await dialog.getByRole("button", { name: "Requeue" }).click();
  await expect(jobs().getByText("Queued", { exact: true })).toBeVisible();
  await expect(jobs().getByText(/requeued by .*: the model is back/)).toBeVisible();

  const again = await claim(mailbox);
  expect(again.job_id).toBe(lost.job_id);
  await expect(jobs().getByText("courier-1")).toBeVisible();
  await worker.call("POST", `/jobs/${again.job_id}/ack`, { claim_token: again.claim_token });
  await expect(jobs().getByText("Accepted", { exact: true })).toBeVisible();
});

test("what needs a person stands above all that is over, and who works on what above both, on the first screen", async () => {
  await otto.setViewportSize({ width: 1440, height: 900 });
  const lost = `lost-${randomUUID().slice(0, 8)}`;
  await enqueue(lost);
  const job = await claim(lost);
  await worker.call("POST", `/jobs/${job.job_id}/nack`, {
    claim_token: job.claim_token,
    error: "away",
    permanent: true,
  });
  // More that is over, and younger, than a page holds.
  const done = `done-${randomUUID().slice(0, 8)}`;
  for (let count = 0; count < 52; count += 1) {
    await enqueue(done);
    const { job_id, claim_token } = await claim(done);
    await worker.call("POST", `/jobs/${job_id}/ack`, { claim_token });
  }
  const busy = `busy-${randomUUID().slice(0, 8)}`;
  for (const one of [1, 2, 3, 4]) await enqueue(`${busy}-${one}`);
  await otto.goto("/mailbox");
  await expect(jobs().getByRole("rowheader", { name: "Needs a person" })).toBeVisible();
  const place = async (text: string) => (await jobs().getByText(text, { exact: true }).first().boundingBox())?.y ?? 0;
  expect(await place("Dead letter")).toBeLessThan(await place("Queued"));
  expect(await place("Queued")).toBeLessThan(await place("Accepted"));
  for (const name of ["Workers", "Busy mailboxes"]) {
    const box = await otto.getByRole("region", { name }).boundingBox();
    expect((box?.y ?? 900) + (box?.height ?? 0), name).toBeLessThan(await place("Needs a person"));
  }
  expect(await place("Dead letter")).toBeLessThan(600);
  await otto.getByRole("button", { name: "Show more" }).click();
  await expect(otto.getByRole("button", { name: "Show more" })).toHaveCount(0);
  await expect(jobs().getByText("Accepted", { exact: true })).not.toHaveCount(50);

  await otto.getByRole("button", { name: /^(All|First) \d+ busy mailboxes/ }).click();
  await otto.getByRole("region", { name: "Busy mailboxes" }).getByText(`${busy}-4`).click();
  await expect(otto).toHaveURL(new RegExp(`${busy}-4`));
  await expect(jobs().getByRole("row").filter({ hasText: "Queued" })).toHaveCount(1);
});

test("an interrupt supersedes what is queued, and its holder can deliver nothing any more", async () => {
  const mailbox = `post-${randomUUID().slice(0, 8)}`;
  await enqueue(mailbox, 7);
  await enqueue(mailbox);
  const held = await claim(mailbox);
  await otto.goto(`/mailbox?mailbox=${mailbox}`);
  await expect(jobs().getByRole("row").filter({ hasText: "Claimed" })).toContainText("Priority 7");
  await expect(jobs().getByRole("row").filter({ hasText: "Queued" })).not.toContainText("Priority");
  const { confirm } = await ask("Interrupt", "the customer called it off");
  await confirm();
  await expect(jobs().getByText("Superseded")).toBeVisible();
  await expect(jobs().getByText(/interrupted by .*: the customer called it off/)).toBeVisible();
  const late = await worker.call("POST", `/jobs/${held.job_id}/ack`, { claim_token: held.claim_token });
  expect(late.json).toMatchObject({ code: "stale_claim" });
  await expect(jobs().getByText("Superseded")).toHaveCount(2);
});

test("a job that a worker was faster on stays as it is, and whoever pressed is told", async () => {
  const mailbox = `post-${randomUUID().slice(0, 8)}`;
  await enqueue(mailbox);
  await otto.goto(`/mailbox?mailbox=${mailbox}`);
  const { dialog, confirm } = await ask("Cancel job", "sent by mistake");
  await claim(mailbox);
  await confirm();
  await expect(dialog.getByText("What you saw has changed: the job has moved on. Nothing was changed.")).toBeVisible();
  await dialog.getByRole("button", { name: "Back" }).click();
  await expect(jobs().getByText("Claimed", { exact: true })).toBeVisible();
});

test("a queued job is cancelled; an approver is told that the mailbox is not theirs", async ({ browser }) => {
  const mailbox = `post-${randomUUID().slice(0, 8)}`;
  await enqueue(mailbox);
  await otto.goto(`/mailbox?mailbox=${mailbox}`);
  const { confirm } = await ask("Cancel job", "sent by mistake");
  await confirm();
  await expect(jobs().getByText("Cancelled", { exact: true })).toBeVisible();
  await expect(otto.getByText("No worker is polling.")).toBeHidden();

  const ada = await office.person(browser, "Ada", "approver");
  await expect(ada.getByRole("link", { name: "Mailbox" })).toHaveCount(0);
  await ada.goto("/mailbox");
  await expect(ada.getByText("Operators and owners read the mailbox")).toBeVisible();
  expect(await ada.evaluate(async () => (await fetch("/console/mailbox")).status)).toBe(403);
  await ada.context().close();
});
