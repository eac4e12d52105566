import "server-only";
import { randomUUID } from "node:crypto";
import { headers } from "next/headers";
import { unstable_rethrow } from "next/navigation";
import type { z } from "zod";
import { Busy, Unsure } from "@/db/client";
import type { Facts, ShownRefusal } from "@/lib/protocol/console-view";
import { drawMarked, markHidden } from "@/lib/protocol/hidden-characters";
import { may, type Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, type RefusalFacts, refusal, refusalRule } from "@/lib/protocol/refusals";
import type { Result } from "@/lib/result";
import { serverSettings } from "./env";
import { log } from "./log";
import { isOwnWrite } from "./origin";
import { currentCaller } from "./session";

/** What a browser gets from an action: what it asked for, or why not. */
export type ActionAnswer<Value extends object> =
  | ({ readonly ok: true } & Value)
  | { readonly ok: false; readonly refusal: ShownRefusal };

/**
 * The only way to make a server action for signed-in people.
 *
 * In this order: the request comes from our own pages, somebody is signed in, they may do it, what they sent has
 * the right form; then the work. A refusal is an answer; anything unexpected is logged under an incident id, and
 * the browser gets that id and nothing else.
 */
export function guardedAction<Input, Value extends object>(
  guard: { readonly verb: Verb; readonly input: z.ZodType<Input> },
  work: (caller: Caller, input: Input) => Promise<Result<Value, Refusal>>,
): (raw: unknown) => Promise<ActionAnswer<Value>> {
  return (raw) =>
    answering(guard.verb, async () => {
      if (!isOwnWrite(await headers(), serverSettings().origin)) return turnedDown(refusal("not_permitted"));
      const caller = await currentCaller();
      if (caller === null) return turnedDown(refusal("unauthenticated"));
      if (may(caller, guard.verb) === "no") return turnedDown(refusal("not_permitted"));
      const input = guard.input.safeParse(raw);
      if (!input.success) return turnedDown(refusal("invalid_body"));
      return asAnswer(await work(caller, input.data));
    });
}

/**
 * The same for what must work before anybody is signed in: the origin and the form are judged, the rest is the
 * work's own business.
 */
export function openAction<Input, Value extends object>(
  guard: { readonly name: string; readonly input: z.ZodType<Input> },
  work: (input: Input) => Promise<Result<Value, ShownRefusal>>,
): (raw: unknown) => Promise<ActionAnswer<Value>> {
  return (raw) =>
    answering(guard.name, async () => {
      if (!isOwnWrite(await headers(), serverSettings().origin)) return turnedDown(refusal("not_permitted"));
      const input = guard.input.safeParse(raw);
      if (!input.success) return turnedDown(refusal("invalid_body"));
      const result = await work(input.data);
      return result.ok ? { ok: true, ...result.value } : { ok: false, refusal: result.refusal };
    });
}

async function answering<Value extends object>(
  name: string,
  act: () => Promise<ActionAnswer<Value>>,
): Promise<ActionAnswer<Value>> {
  try {
    return await act();
  } catch (cause) {
    unstable_rethrow(cause);
    // Which says that nothing was done.
    if (cause instanceof Busy && !(cause instanceof Unsure)) return turnedDown(refusal("busy"));
    const incident = randomUUID();
    log.error({ incident, action: name, err: cause }, "an action failed");
    return { ok: false, refusal: unexpected(incident) };
  }
}

function asAnswer<Value extends object>(result: Result<Value, Refusal>): ActionAnswer<Value> {
  return result.ok ? { ok: true, ...result.value } : turnedDown(result.refusal);
}

/** A refusal as the screen shows it: its sentence and next step come from the one table, what is wrong here from whoever refused. */
function turnedDown({ code, facts, detail }: Refusal): { readonly ok: false; readonly refusal: ShownRefusal } {
  const { title, advice } = refusalRule(code);
  // A detail may name what an agent wrote: a key of a schema, a name.
  const sentence = detail === undefined ? title : `${title}: ${drawMarked(markHidden(detail, { lines: "marked" }))}`;
  return { ok: false, refusal: { code, title: sentence, advice, facts: plainFacts(facts ?? {}) } };
}

/** A screen shows plain values; a list or an object is shown as the JSON it is. */
function plainFacts(facts: RefusalFacts): Facts {
  const big = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  const plain = (value: RefusalFacts[string]) => {
    if (typeof value === "bigint") return String(value);
    return typeof value === "object" && value !== null ? JSON.stringify(value, big) : value;
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, plain(value)]));
}

function unexpected(incident: string): ShownRefusal {
  return {
    code: "unexpected",
    title: "Something went wrong on our side",
    advice: `Reload the page to see what is recorded. If it happens again, tell an operator this number: ${incident}`,
    facts: { incident },
  };
}
