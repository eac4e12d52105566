import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Busy } from "@/db/client";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, refuse } from "@/lib/result";
import { guardedAction } from "./action";

const request = vi.hoisted(() => ({ headers: new Headers(), caller: null as Caller | null, logged: [] as unknown[] }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(request.headers) }));
vi.mock("./session", () => ({ currentCaller: () => Promise.resolve(request.caller) }));
vi.mock("./env", () => ({ serverSettings: () => ({ origin: "https://hold.example" }) }));
vi.mock("./log", () => ({ log: { error: (...line: unknown[]) => request.logged.push(line) } }));

const APPROVER: Caller = {
  workspace: "w",
  principal: "p",
  kind: "person",
  role: "approver",
  person: "x",
  display: "Ada",
  surface: "console",
  credential: "s",
};

const work = vi.fn();
const decide = guardedAction({ verb: "decide", input: z.strictObject({ ticket: z.string() }) }, work);
const code = async (raw: unknown) => {
  const answer = await decide(raw);
  return answer.ok ? "ok" : answer.refusal.code;
};

beforeEach(() => {
  work.mockReset().mockResolvedValue(ok({ at_ms: 5 }));
  request.headers = new Headers({ origin: "https://hold.example" });
  request.caller = APPROVER;
  request.logged = [];
});

describe("a guarded action", () => {
  it("answers what the work answers", async () => {
    await expect(decide({ ticket: "t" })).resolves.toEqual({ ok: true, at_ms: 5 });
    expect(work).toHaveBeenCalledWith(APPROVER, { ticket: "t" });
  });

  it("a refusal says what is wrong here, with nothing in it that cannot be seen", async () => {
    work.mockResolvedValue(refuse(refusal("stale_view", {}, "the key pay\u202e has gone")));
    const answer = await decide({ ticket: "t" });
    expect(answer).toMatchObject({
      refusal: { code: "stale_view", title: "What you saw has changed: the key pay⟨U+202E⟩ has gone" },
    });
  });

  it("the first guard that fails answers, and the work never starts", async () => {
    request.headers = new Headers();
    request.caller = null;
    expect(await code({})).toBe("not_permitted");
    request.headers = new Headers({ origin: "https://hold.example" });
    expect(await code({})).toBe("unauthenticated");
    request.caller = { ...APPROVER, role: "operator" };
    expect(await code({})).toBe("not_permitted");
    request.caller = { ...APPROVER, role: null };
    expect(await code({})).toBe("not_permitted");
    request.caller = APPROVER;
    expect(await code({ ticket: "t", more: 1 })).toBe("invalid_body");
    expect(work).not.toHaveBeenCalled();
  });

  it("a refusal comes with its sentence, its next step and plain facts", async () => {
    work.mockResolvedValue(refuse(refusal("not_awaiting", { by: "Bo", many: 12n, list: ["a", 1n] })));
    await expect(decide({ ticket: "t" })).resolves.toMatchObject({
      ok: false,
      refusal: { code: "not_awaiting", facts: { by: "Bo", many: "12", list: '["a","1"]' } },
    });
  });

  it("a busy database is said as such", async () => {
    work.mockRejectedValue(new Busy("locked"));
    expect(await code({ ticket: "t" })).toBe("busy");
  });

  it("anything unexpected: the browser gets an incident's number, the log the rest", async () => {
    work.mockRejectedValue(new Error("password=hunter2 at /srv/app.ts:1"));
    const answer = await decide({ ticket: "t" });
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|app\.ts|stack/);
    if (answer.ok) throw new Error("it should be a failure");
    expect(answer.refusal.code).toBe("unexpected");
    expect(JSON.stringify(request.logged)).toContain(String(answer.refusal.facts.incident));
  });
});
