import { inWorkspaceByKey, type Scope, type Tx } from "@/db/client";
import { lapseOver } from "@/lib/protocol/book/begin";
import type { Book } from "@/lib/protocol/book/book";
import { CALL_REF_PATTERN, type CallRef } from "@/lib/protocol/call";
import { type Act, may, type Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, type RefusalCode, refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { type Locator, namesNothing, type OpenBook, readBook, type Wanted } from "./read-book";
import { type Attempted, type Refused, recordRefusal } from "./refuse";
import { appendTrace, traceActor } from "./trace";
import { writeBook } from "./write-book";

/** What a verb does to a run: the right it needs, how it names the run, and what it must see. */
export interface Visit<Beside = undefined> extends Wanted {
  /** What it attempts; where the ticket's target says which, what to call it until that is read. */
  readonly verb: Act;
  readonly verbOf?: (book: Book) => Act;
  /** The right it takes, where that is not its own. */
  readonly right?: Verb;
  readonly at: Locator;
  readonly attempted?: Omit<Attempted, "verb">;
  /** What only this verb reads, sent in the same flight as the book: behind the lock, and without a round trip of its own. */
  readonly beside?: (tx: Tx) => Promise<Beside>;
  /** Set by complete, which never acts on a lapse that it meets. */
  readonly leavesLapses?: boolean;
  /** Set for what has come about already, by the clock or by an effect: it is so in a suspended workspace too. */
  readonly evenSuspended?: boolean;
  /** Set by the command line's verbs and the worker: they act on runs that the principal did not open. */
  readonly onlyExecutor?: "cli" | "worker";
}

export interface Visited<Beside = undefined> {
  readonly tx: Tx;
  readonly open: OpenBook;
  readonly book: Book;
  readonly caller: Caller;
  readonly beside: Beside;
  /** Rows that only this verb writes, sent in the same flight as the book's. */
  readonly alongside: (write: () => Promise<unknown>) => void;
}

/** A verb's answer, and the last event of the run after it. */
export interface Done<Value> {
  readonly value: Value;
  readonly traceSeq: number;
  readonly runId: string;
}

export type Outcome<Value> = Result<Done<Value>, Refused>;

/**
 * One verb, one transaction: lock the run, read the clock, judge, write, note. A refusal is a value and its transaction commits,
 * so that its record stays; what the clock had brought about before (a lapse, a deny rule met on the way) stays with it.
 */
export async function visit<Value, Beside = undefined>(
  scope: Scope,
  caller: Caller,
  what: Visit<Beside>,
  act: (visited: Visited<Beside>) => Result<Value, Refusal> | Promise<Result<Value, Refusal>>,
  /** An answer on record, given before any right is judged; null when there is none. */
  recall: (visited: Visited<Beside>) => Result<Value, Refusal> | null = () => null,
): Promise<Outcome<Value>> {
  return inWorkspaceByKey(scope, caller.workspace, async (tx) => {
    const [open, beside] = namesNothing(what.at)
      ? [null, undefined]
      : await Promise.all([readBook(tx, caller, what.at, what), what.beside?.(tx)]);
    const verb = (open && what.verbOf?.(open.book)) ?? what.verb;
    const attempted: Attempted = { ...named(what), ...what.attempted, verb };
    const right = open ? judgeRight(caller, what.right ?? verb, what, open) : "unknown";
    if (!open || right === "unknown") {
      return refuse(await recordRefusal(tx, caller, attempted, unknown(what.at), null));
    }
    const { book } = open;
    const writes: (() => Promise<unknown>)[] = [];
    const alongside = (write: () => Promise<unknown>) => void writes.push(write);
    // Absent exactly where the verb's type says `undefined`.
    const visited = { tx, open, book, caller, beside: beside as Beside, alongside };
    // A lease that is over acts first, as its own step. A report alone judges the call as it stands.
    if (!what.leavesLapses) lapseOver(book);
    const outcome = recall(visited) ?? (right === "may" ? await act(visited) : refuse(refusal("not_permitted")));
    const { run, now } = book;
    const [head] = await Promise.all([
      appendTrace(tx, run, open.head, traceActor(caller), now.at, book.events),
      writeBook(tx, book, caller),
      ...writes.map((write) => write()),
      noteSeen(tx, caller, open),
    ]);
    if (outcome.ok) return ok({ value: outcome.value, traceSeq: head.seq, runId: run.runId });
    return refuse(await recordRefusal(tx, caller, attempted, outcome.refusal, { run, head, at: now.at }));
  });
}

function named<Beside>({ at, call }: Visit<Beside>): Omit<Attempted, "verb"> {
  return {
    run: "run" in at ? at.run : null,
    ticket: "ticket" in at ? at.ticket : null,
    call: call ?? null,
  };
}

function unknown(at: Locator): Refusal<RefusalCode> {
  return refusal("ticket" in at ? "ticket_not_found" : "unknown_run");
}

/** Another's run answers as one that does not exist; nothing about it is told. */
function judgeRight(
  caller: Caller,
  verb: Verb,
  what: Pick<Visit, "onlyExecutor" | "evenSuspended">,
  { book, rights }: OpenBook,
): "may" | "may not" | "unknown" {
  const now = caller.kind === "person" ? { kind: caller.kind, role: rights.role } : caller;
  const right = rights.suspended && !what.evenSuspended ? "no" : may(now, verb);
  const isOwn = book.run.principalId === caller.principal;
  if (right === "own" && !isOwn) return "unknown";
  if (caller.kind === "agent" && !isOwn) return "unknown";
  if (what.onlyExecutor !== undefined && book.run.executor !== what.onlyExecutor) return "may not";
  return right === "no" ? "may not" : "may";
}

/** Which call a path's `{call}` names: a `call_ref`, or a `call_id` that is unique in the run. Source: http-api "Conventions". */
export function findCall(book: Book, name: string): Result<CallRef, Refusal> {
  const byRef = CALL_REF_PATTERN.test(name) ? book.callAt(name as CallRef) : undefined;
  if (byRef) return ok(byRef.callRef);
  // An edited call stands for the one that it replaced: one place, one name.
  const byPlace = new Map(
    book
      .calls()
      .filter((call) => call.callId === name)
      .map((call) => [`${call.step}.${call.batchIndex}`, call]),
  );
  const byId = [...byPlace.values()];
  const [only, ...others] = byId;
  if (!only) return refuse(refusal("unknown_call"));
  if (others.length > 0) return refuse(refusal("ambiguous_call", { call_refs: byId.map((call) => call.callRef) }));
  return ok(only.callRef);
}

const SEEN_EVERY_MS = 30_000;

/** Any call of a run's own principal shows that its agent is there; written at most every 30 s. Source: schema `last_seen_at`. */
async function noteSeen(tx: Tx, caller: Caller, { book, lastSeenAt }: OpenBook): Promise<void> {
  const { run, now } = book;
  if (caller.principal !== run.principalId) return;
  if (lastSeenAt !== null && now.ms - Date.parse(lastSeenAt) < SEEN_EVERY_MS) return;
  await tx.sql`update runs set last_seen_at = ${now.at} where workspace_id = ${tx.workspace} and id = ${run.id}`;
}
