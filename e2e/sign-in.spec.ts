import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, expect, type Page, test } from "@playwright/test";
import postgres from "postgres";
import { z } from "zod";
import { childEnvironment } from "@/lib/cli/env";
import { rawRequest } from "./raw-request";
import { type App, forgetFolder, startApp } from "./server";
import { serverActions } from "./server-actions";

const OWNER = { email: "ada@hold.example", name: "Ada", password: "a long enough password" };

test.describe.configure({ mode: "serial" });
let app: App;
test.beforeAll(async () => {
  app = await startApp();
});
test.afterAll(async () => {
  await app.stop();
  forgetFolder(app.dataDir);
});

async function cookie(page: Page) {
  return (await page.context().cookies()).find(({ name }) => name.includes("session"));
}

async function freshPage(browser: Browser): Promise<Page> {
  return (await browser.newContext()).newPage();
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.goto(`${app.origin}/sign-in?next=/healthz`);
  await page.getByRole("textbox", { name: "E-mail" }).fill(OWNER.email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

const isArrived = (url: URL) => url.pathname === "/healthz";

const added = z.object({ sign_in_link: z.string() });

/** A one-time link from the command line, as an operator would make one. */
function newLink(): string {
  const args = ["bin/holdpoint.mjs", "people", "add", OWNER.email, "--role", "owner"];
  const env = childEnvironment({ DATABASE_URL: "", HOLDPOINT_DATA_DIR: app.dataDir, HOLDPOINT_ORIGIN: app.origin });
  const said = execFileSync("node", args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return added.parse(JSON.parse(said)).sign_in_link;
}

async function ask<Row extends object>(work: (sql: postgres.Sql) => Promise<Row[]>): Promise<Row[]> {
  const home = path.join(app.dataDir, "pg", "cluster");
  const password = readFileSync(path.join(home, "superuser-password"), "utf8").trim();
  const port = Number(readFileSync(path.join(home, "pgdata", "postmaster.pid"), "utf8").split("\n")[3]);
  const sql = postgres({ host: "127.0.0.1", port, user: "postgres", password, database: "holdpoint", max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

test("the first owner: opening the link signs nobody in, its button asks who they are, and it works once", async ({
  page,
  browser,
}) => {
  const link = app.ownerLink ?? "";
  expect(link).toMatch(/\/sign-in#[A-Za-z0-9_-]{43}$/);
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "Sign in by your link" })).toBeVisible();
  expect(await cookie(page)).toBeUndefined();
  await page.reload();
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Become the owner" })).toBeVisible();
  expect(page.url()).not.toContain("#");
  expect(await cookie(page)).toBeUndefined();

  await page.getByRole("textbox", { name: "E-mail" }).fill(OWNER.email);
  await page.getByRole("textbox", { name: "Name" }).fill(OWNER.name);
  await page.getByRole("textbox", { name: "Password" }).fill(OWNER.password);
  await page.getByRole("button", { name: "Become the owner" }).dblclick();
  await expect.poll(() => cookie(page)).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });

  const other = await freshPage(browser);
  await other.goto(link);
  await other.getByRole("button", { name: "Sign in" }).click();
  await expect(other.getByRole("alert").first()).toContainText("This link cannot be used");
  expect(await cookie(other)).toBeUndefined();
});

test("e-mail and password: wrong ones are told apart for nobody, right ones go where the person wanted", async ({
  page,
}) => {
  await signIn(page, "not the password");
  await expect(page.getByRole("alert").first()).toContainText("E-mail or password is wrong");
  expect(await cookie(page)).toBeUndefined();
  await signIn(page, OWNER.password);
  await page.waitForURL(isArrived);
  expect(await cookie(page)).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
});

test("a link that was cut on its way is told what any link is that no longer works", async ({ page }) => {
  await page.goto(`${app.origin}/sign-in#cut`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText(/This link cannot be used\. It was used, replaced/)).toBeVisible();
});

test("a next address of another site is not followed", async ({ page }) => {
  for (const next of ["//evil.example/x", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]) {
    await page.goto(`${app.origin}/sign-in?next=${encodeURIComponent(next)}`);
    expect(await page.content()).not.toMatch(/"next":"[^"]*evil|javascript:alert/);
  }
});

test("a person's link signs in, sets a password, and ends the other sessions", async ({ page, browser }) => {
  const before = await freshPage(browser);
  await signIn(before, OWNER.password);
  await before.waitForURL(isArrived);

  await page.goto(newLink());
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "You are signed in" })).toBeVisible();
  const sessions = () => ask((sql) => sql<{ id: string }[]>`select id from auth_sessions`);
  expect((await sessions()).length).toBeGreaterThanOrEqual(2);
  await page.getByRole("textbox", { name: "Password" }).fill("another long password");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
  expect(await sessions()).toHaveLength(1);

  await signIn(before, OWNER.password);
  await expect(before.getByRole("alert").first()).toContainText("E-mail or password is wrong");
  await signIn(before, "another long password");
  await before.waitForURL(isArrived);
});

test("the database holds no token that a browser holds", async ({ page }) => {
  const token = new URL(newLink()).hash.slice(1);
  await signIn(page, "another long password");
  await page.waitForURL(isArrived);
  const session = decodeURIComponent((await cookie(page))?.value ?? "").split(".")[0] ?? "";
  expect(session.length).toBeGreaterThanOrEqual(32);
  const rows = await ask(
    (sql) => sql<{ row: string }[]>`
      select to_jsonb(s)::text as row from auth_sessions s union all select to_jsonb(l)::text from auth_links l
      union all select to_jsonb(a)::text from auth_accounts a`,
  );
  const everything = rows.map(({ row }) => row).join("\n");
  expect(everything).not.toContain(session);
  expect(everything).not.toContain(token);
  expect(everything).not.toContain("another long password");
});

test("every signing-in has a session of its own, and the one it replaces is dead", async ({ page }) => {
  await signIn(page, "another long password");
  await page.waitForURL(isArrived);
  const first = (await cookie(page))?.value;
  const count = async () => (await ask((sql) => sql<{ id: string }[]>`select id from auth_sessions`)).length;
  const before = await count();
  await signIn(page, "another long password");
  await page.waitForURL(isArrived);
  expect((await cookie(page))?.value).not.toBe(first);
  expect(await count()).toBe(before);
});

test("signing out ends the session everywhere, at once", async ({ page }) => {
  await signIn(page, "another long password");
  await page.waitForURL(isArrived);
  const held = await cookie(page);
  const rows = () => ask((sql) => sql<{ id: string }[]>`select id from auth_sessions`);
  const before = (await rows()).length;
  const call = (name: string, body: string) => {
    const action = serverActions().find((each) => each.name === name);
    return rawRequest(app.origin, {
      method: "POST",
      path: action?.page ?? "",
      headers: {
        host: new URL(app.origin).host,
        origin: app.origin,
        cookie: `${held?.name}=${held?.value}`,
        "next-action": action?.id ?? "",
        "content-type": "text/plain;charset=UTF-8",
      },
      body,
    });
  };
  const out = await call("signOutAction", "[null]");
  expect(String(out.headers["set-cookie"])).toMatch(/holdpoint\.session=;.*Max-Age=0/i);
  expect(await rows()).toHaveLength(before - 1);
  // The cookie that a thief kept opens nothing.
  const token = new URL(newLink()).hash.slice(1);
  const late = await call("setPasswordAction", JSON.stringify([{ token, password: "a thief's long password" }]));
  expect(late.body).toContain("dead_link");
});

test("the page has no accessibility fault, by password and by link", async ({ page }) => {
  for (const where of ["/sign-in", `/sign-in#${"x".repeat(43)}`]) {
    await page.goto(app.origin + where);
    await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  }
});

test("no page of ours breaks its own content security policy", async ({ page }) => {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(`${app.origin}/sign-in`);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  expect(complaints).toEqual([]);
});

test("behind https the cookie is bound to the host and never sent in the clear", async () => {
  const secure = await startApp({ env: { HOLDPOINT_ORIGIN: "https://hold.example" } });
  try {
    const token = (secure.ownerLink ?? "").split("#")[1] ?? "";
    const become = serverActions().find(({ name }) => name === "becomeOwnerAction");
    const answer = await rawRequest(secure.origin, {
      method: "POST",
      path: "/sign-in",
      headers: {
        host: "hold.example",
        origin: "https://hold.example",
        "next-action": become?.id ?? "",
        "content-type": "text/plain;charset=UTF-8",
        accept: "text/x-component",
      },
      body: JSON.stringify([{ token, ...OWNER }]),
    });
    const [line = ""] = answer.headers["set-cookie"] ?? [];
    expect(line).toMatch(/^__Host-holdpoint\.session=/);
    expect(line).toMatch(/; Secure/);
    expect(line).toMatch(/; HttpOnly/);
    expect(line).toMatch(/; SameSite=lax/i);
    expect(line).toMatch(/; Path=\/(;|$)/);
    expect(line).not.toMatch(/Domain=/i);
  } finally {
    await secure.stop();
    forgetFolder(secure.dataDir);
  }
});
