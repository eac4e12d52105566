import type { Scope } from "@/db/client";
import { type RunHead, type RunStateRecord, readRunHead, readRunState } from "@/db/queries/run-state";
import { may, type Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";

/** Whose runs a caller may read: all, its own, or none. */
export function reach(caller: Caller, verb: Verb): Result<{ readonly principal: string | null }, Refusal> {
  const right = may(caller, verb);
  if (right === "no") return refuse(refusal("not_permitted"));
  return ok({ principal: right === "own" ? caller.principal : null });
}

/** A run that the caller may read. Another's is answered as one that does not exist. */
export async function readableRun(
  scope: Scope,
  caller: Caller,
  verb: Verb,
  runId: string,
): Promise<Result<RunHead, Refusal>> {
  const reaches = reach(caller, verb);
  if (!reaches.ok) return reaches;
  const run = await readRunHead(scope, caller.workspace, runId);
  return isWithin(reaches.value, run) ? ok(run) : refuse(refusal("unknown_run"));
}

/** A run with everything on it, in one reading; by the same rule. */
export async function readableState(
  scope: Scope,
  caller: Caller,
  runId: string,
): Promise<Result<RunStateRecord, Refusal>> {
  const reaches = reach(caller, "read_run");
  if (!reaches.ok) return reaches;
  const state = await readRunState(scope, caller.workspace, runId);
  return state && isWithin(reaches.value, state.run) ? ok(state) : refuse(refusal("unknown_run"));
}

function isWithin({ principal }: { readonly principal: string | null }, run: RunHead | null): run is RunHead {
  return run !== null && (principal === null || run.principalId === principal);
}

const MOST_ITEMS = 200;

/** `?limit=`, at most 200. */
export function limitOf(query: URLSearchParams): Result<number, Refusal> {
  return wholeNumber(query, "limit", MOST_ITEMS, 1, MOST_ITEMS);
}

/** A whole number of the query; out of range or no number at all is told, never guessed. */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  fallback: number,
  min: number,
  max: number,
): Result<number, Refusal> {
  const text = query.get(name);
  if (text === null) return ok(fallback);
  const number = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return ok(number);
  return refuse({ code: "invalid_body", path: `?${name}`, detail: `a whole number from ${min} to ${max}` });
}
