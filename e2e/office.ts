import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import path from "node:path";
import { type Browser, type BrowserContext, expect, type Page } from "@playwright/test";
import { z } from "zod";
import { childEnvironment } from "@/lib/cli/env";
import type { SharedApp } from "./shared-app";

const key = z.object({ key: z.string() });
const added = z.object({ sign_in_link: z.string(), personal_key: z.string() });
const replayed = z.object({ runs: z.array(z.string()) });
const opened = z.object({ run_id: z.string() });
const parked = z.object({
  calls: z.array(
    z.object({ call_ref: z.string(), request_id: z.string(), ticket: z.object({ ticket_id: z.string() }).nullable() }),
  ),
});

/** The people and agents of one spec: made by the command line, signed in by their links, as on a first day. */
export class Office {
  readonly #app: SharedApp;
  readonly #personalKeys = new Map<string, string>();

  constructor(app: SharedApp) {
    this.#app = app;
  }

  /** A person with a role, signed in, in a browser of their own. */
  async person(browser: Browser, name: string, role: "approver" | "operator" | "owner"): Promise<Page> {
    const context: BrowserContext = await browser.newContext({ baseURL: this.#app.origin, colorScheme: "light" });
    const page = await context.newPage();
    const email = `${name.toLowerCase()}.${randomUUID().slice(0, 8)}@hold.example`;
    const { sign_in_link, personal_key } = added.parse(this.#holdpoint(["people", "add", email, "--role", role]));
    this.#personalKeys.set(name, personal_key);
    await page.goto(sign_in_link);
    await page.getByRole("button", { name: "Sign in" }).click();
    // The link has signed in; a password is for the next time.
    await expect(page.getByRole("heading", { name: "You are signed in" })).toBeVisible();
    await page.goto("/inbox");
    await expect(page.getByRole("heading", { name: "Inbox" })).toBeVisible();
    await expect(page.locator("[data-live=live]")).toBeVisible();
    return page;
  }

  /** Freeze an agent that runs here, over HTTP with the key of a person who has signed in: its runs are theirs to start. */
  async publish(
    person: string,
    name: string,
    definition: object,
    tools: readonly string[] = ["write_file"],
  ): Promise<void> {
    const key = this.#personalKeys.get(person);
    if (key === undefined) throw new Error(`nobody is called ${person}`);
    const { status, json } = await new Agent(this.#app.origin, key, person).call("POST", `/agents/${name}/snapshots`, {
      provider: "openai",
      model: name,
      tools: tools.map((tool) => ({ name: tool })),
      definition,
    });
    if (status !== 201) throw new Error(`${name} was not published: ${JSON.stringify(json)}`);
  }

  /** An agent of its own name: a name belongs to the first principal that uses it. */
  agent(title: string): Agent {
    const name = `${title}-${randomUUID().slice(0, 8)}`;
    const made = this.#holdpoint(["keys", "create", "--kind", "agent", "--name", name]);
    return new Agent(this.#app.origin, key.parse(made).key, name);
  }

  /** A worker in any language: it claims over HTTP. */
  worker(title: string): Agent {
    const name = `${title}-${randomUUID().slice(0, 8)}`;
    return new Agent(
      this.#app.origin,
      key.parse(this.#holdpoint(["keys", "create", "--kind", "worker", "--name", name])).key,
      name,
    );
  }

  /** Start recorded threads of a file in this folder; the worker moves them. */
  replay(file: string, thread: string): readonly string[] {
    return replayed.parse(this.#holdpoint(["replay", path.resolve("e2e", file), "--thread", thread])).runs;
  }

  #holdpoint(args: readonly string[]): unknown {
    const env = childEnvironment({
      DATABASE_URL: "",
      HOLDPOINT_DATA_DIR: this.#app.dataDir,
      HOLDPOINT_ORIGIN: this.#app.origin,
    });
    const said = execFileSync("node", ["bin/holdpoint.mjs", ...args], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return JSON.parse(said);
  }
}

export interface Parked {
  readonly runId: string;
  readonly ticketId: string;
  readonly requestId: string;
}

/** An agent of any framework, over HTTP. */
export class Agent {
  readonly #origin: string;
  readonly #key: string;
  readonly name: string;

  constructor(origin: string, secret: string, name: string) {
    this.#origin = origin;
    this.#key = secret;
    this.name = name;
  }

  async call(
    method: "GET" | "POST",
    route: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly json: unknown }> {
    const response = await fetch(`${this.#origin}/api/v1${route}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  }

  async openRun(): Promise<string> {
    const { json } = await this.call("POST", "/runs", { agent: this.name });
    return opened.parse(json).run_id;
  }

  /** Open a run and park one call in it. */
  async park(call: object): Promise<Parked> {
    const runId = await this.openRun();
    const { json } = await this.call("POST", `/runs/${runId}/calls`, { step: 1, calls: [call] });
    const first = parked.parse(json).calls[0];
    if (!first?.ticket) throw new Error(`not parked: ${JSON.stringify(json)}`);
    return { runId, ticketId: first.ticket.ticket_id, requestId: first.request_id };
  }

  async ask(question: string, schema: object): Promise<string> {
    const runId = await this.openRun();
    await this.call("POST", `/runs/${runId}/ask`, { call_id: "q1", question, schema });
    return runId;
  }

  async run(runId: string): Promise<string> {
    return JSON.stringify((await this.call("GET", `/runs/${runId}`)).json);
  }
}

/** Wait until a ticket may be decided: hashed here, on screen long enough, and live. */
export async function readTicket(page: Page, ticketId: string): Promise<void> {
  await page.goto(`/tickets/${ticketId}`);
  await expect(page.getByText("Verified in this browser")).toBeVisible();
  await expect(page.getByRole("button", { name: "Deny", exact: true })).not.toHaveAttribute("aria-disabled", "true");
}

export const SEND_MONEY = {
  action: "send_money",
  args: { amount: 1653.1, date: "2024-05-19", recipient: "DE8937040044", subject: "Remaining Balance Transfer" },
  output: "account:DE8937040044",
  risk: "high",
} as const;

export const REBOOK = {
  action: "update_reservation_flights",
  args: { cabin: "economy", reservation_id: "QX41TR" },
  risk: "low",
} as const;
