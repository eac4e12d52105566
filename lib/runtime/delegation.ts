import type { Tx } from "@/db/client";
import { type ChildRecord, readChildren, readLineage } from "@/db/queries/family";
import type { RunProgress } from "@/db/queries/run-progress";
import { answerDelegation, isStillOpen } from "@/db/store/delegate";
import { openRun } from "@/db/store/open-run";
import { cancel, withdrawCall } from "@/db/store/operate";
import { inRuntimeStep } from "@/db/store/runtime-step";
import type { AgentDefinition } from "@/lib/protocol/agent-definition";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { isTerminal } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { isObject } from "@/lib/protocol/canonical-json";
import { childEnded } from "@/lib/protocol/delegation";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import type { Advancing } from "./advance";
import { withoutRight } from "./runtime";

type Delegates = NonNullable<AgentDefinition["delegates"]>;

/** Nothing is due; something was done; or the run is another worker's by now. */
export type Tended = "nothing" | "moved" | "held";

interface Parent {
  readonly context: Advancing;
  readonly agent: Caller;
  readonly progress: RunProgress;
}

/**
 * What a run's delegated calls need now: a run for each that has none, an answer for each whose run has ended, and an end for each
 * run whose call is over. Read from the tables alone, so a notice needs to say nothing, and a crash between two of these is made
 * good by the next look.
 */
export async function tendChildren(
  context: Advancing,
  agent: Caller,
  progress: RunProgress,
  delegates: Delegates,
): Promise<Tended> {
  const parent = { context, agent, progress };
  const { book } = progress;
  const children = await readChildren(context.db, context.job.workspace, book.run.id);
  const waiting = book.openTickets().filter((ticket) => ticket.reason === "delegation");
  let moved = false;
  for (const ticket of waiting) {
    const call = ticket.callRef === null ? undefined : book.callAt(ticket.callRef);
    if (!call) throw new Error(`ticket ${ticket.id} delegates no call`);
    const child = children.find(({ callRef }) => callRef === call.callRef);
    // What is over its deadline and held takes no result: whoever replaces it has the run looked at again.
    if ((child && child.cause === null) || ticket.expiredAt !== null) continue;
    const work = child ? takeResult(call, child) : await openChild(parent, call, delegates[call.action]);
    if (!(await inStep(parent, ticket, work))) return "held";
    moved = true;
  }
  for (const child of children) {
    if (child.cause !== null || isWaitedFor(waiting, child)) continue;
    const call = book.calls().find(({ callRef }) => callRef === child.callRef);
    if (call && !isTerminal(call)) continue;
    await cancel(context.db, context.system, child.runId, "the call that it works for is over", "not_wanted");
    moved = true;
  }
  return moved ? "moved" : "nothing";
}

function isWaitedFor(waiting: readonly TicketFacts[], child: ChildRecord): boolean {
  return waiting.some(({ callRef }) => callRef === child.callRef);
}

/** What came of one call's turn: it is done, it is taken back for this reason, or time must pass first. */
type Turn = "done" | "later" | { readonly takenBack: string };
type Work = (tx: Tx, parent: Parent) => Promise<Turn>;

/**
 * Under the claim, while the call still waits: a worker that slept must neither open a run nor take back what another has opened.
 * False when the claim is another's by now, or nothing can be done yet.
 */
async function inStep(parent: Parent, ticket: TicketFacts, work: Work): Promise<boolean> {
  const { context, agent, progress } = parent;
  const { run } = progress.book;
  const ground = { run: run.id, job: context.job, stateSha256: progress.state?.sha256 ?? null };
  const done = await inRuntimeStep(context.db, context.job.workspace, ground, async (tx) => {
    if (!(await isStillOpen(tx, ticket.id))) return true;
    const turn = await work(tx, parent);
    if (turn === "done" || turn === "later") return turn === "done";
    const withdrawn = await withdrawCall(tx, agent, run.runId, ticket.callRef ?? "", turn.takenBack);
    if (!withdrawn.ok) await withoutRight(tx, { system: context.system, run }, withdrawn.refusal.code);
    return true;
  });
  return done.ok && done.value;
}

/** Only what was completed is a result; every other end is told in words. */
function takeResult({ callRef }: CallFacts, child: ChildRecord): Work {
  return async (tx, { context, progress }) => {
    if (child.cause !== "completed") return { takenBack: childEnded(child) };
    const output = child.output === null ? null : stored(child.output);
    const answered = await answerDelegation(tx, context.system, progress.book.run.runId, callRef, output);
    // Its deadline is over and nobody has noticed: the sweeper will, and the deadline's own rule acts.
    return answered.ok ? "done" : "later";
  };
}

async function openChild(
  { context: { db, job }, progress: { book } }: Parent,
  { callRef, action, args }: CallFacts,
  name: string | undefined,
): Promise<Work> {
  const notDelegated = (why: string): Work => {
    return async () => ({ takenBack: `it was not delegated: ${why}` });
  };
  if (name === undefined) return notDelegated(`no agent stands behind ${action}`);
  const parent = book.run;
  const line = await readLineage(db, job.workspace, parent.id);
  if (line.includes(name)) return notDelegated(`${name} would work for itself (${line.join(" for ")})`);
  return async (tx, { agent }) => {
    const opened = await openRun(tx, agent, {
      // One call, one run.
      runId: `for-${sha256Hex(`${parent.id}:${callRef}`).slice(0, 32)}`,
      agent: name,
      snapshotId: null,
      mustRunHere: true,
      threadId: null,
      input: inputOf(args),
      executor: "worker",
      onBehalfOf: null,
      parent: { runId: parent.runId, call: callRef },
    });
    if (opened.ok) return "done";
    const { code, detail } = opened.refusal;
    return { takenBack: `it was not delegated: ${code}${detail ? `: ${detail}` : ""}` };
  };
}

/** `{message: "…"}` is those words; other arguments are told as they are. */
function inputOf(args: CallFacts["args"]): string {
  const read = stored(args);
  return isObject(read) && Object.keys(read).length === 1 && typeof read.message === "string" ? read.message : args;
}
