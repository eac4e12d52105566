import { type ChildRecord, readChildren, readLineage } from "@/db/queries/family";
import type { RunProgress } from "@/db/queries/run-progress";
import { answerDelegation } from "@/db/store/delegate";
import { openRun } from "@/db/store/open-run";
import { cancel, withdrawCall } from "@/db/store/operate";
import type { AgentDefinition } from "@/lib/protocol/agent-definition";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { isTerminal } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { isObject } from "@/lib/protocol/canonical-json";
import { childEnded } from "@/lib/protocol/delegation";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import type { Advancing } from "./advance";

type Delegates = NonNullable<AgentDefinition["delegates"]>;

/**
 * What a run's delegated calls need now: a run for each that has none, an answer for each whose run has ended, and an end for each
 * run whose call is over. True when something was done. Read from the tables alone, so a notice needs to say nothing, and a crash
 * between two of these is made good by the next look.
 */
export async function tendChildren(
  context: Advancing,
  agent: Caller,
  { book }: RunProgress,
  delegates: Delegates,
): Promise<boolean> {
  const children = await readChildren(context.db, context.job.workspace, book.run.id);
  const waiting = book.openTickets().filter((ticket) => ticket.reason === "delegation");
  let moved = false;
  for (const ticket of waiting) {
    const call = ticket.callRef === null ? undefined : book.callAt(ticket.callRef);
    if (!call) throw new Error(`ticket ${ticket.id} delegates no call`);
    const child = children.find(({ callRef }) => callRef === call.callRef);
    if (child && child.cause === null) continue;
    moved = true;
    if (child) await takeResult(context, agent, book.run.runId, call, child);
    else await openChild(context, agent, book.run, call, delegates[call.action]);
  }
  for (const child of children) {
    if (child.cause !== null || isWaitedFor(waiting, child)) continue;
    const call = book.calls().find(({ callRef }) => callRef === child.callRef);
    if (call && !isTerminal(call)) continue;
    await cancel(context.db, context.system, child.runId, "the call that it works for is over", "not_wanted");
    moved = true;
  }
  return moved;
}

function isWaitedFor(waiting: readonly TicketFacts[], child: ChildRecord): boolean {
  return waiting.some(({ callRef }) => callRef === child.callRef);
}

/** Only what was completed is a result; every other end is told in words. */
async function takeResult(
  { db, system }: Advancing,
  agent: Caller,
  parent: string,
  { callRef }: CallFacts,
  child: ChildRecord,
): Promise<void> {
  if (child.cause === "completed") {
    await answerDelegation(db, system, parent, callRef, child.output === null ? null : stored(child.output));
  } else await withdrawCall(db, agent, parent, callRef, childEnded(child));
}

async function openChild(
  { db, job }: Advancing,
  agent: Caller,
  parent: RunProgress["book"]["run"],
  { callRef, action, args }: CallFacts,
  name: string | undefined,
): Promise<void> {
  const giveUp = (why: string) => withdrawCall(db, agent, parent.runId, callRef, `it was not delegated: ${why}`);
  if (name === undefined) return void (await giveUp(`no agent stands behind ${action}`));
  const line = await readLineage(db, job.workspace, parent.id);
  if (line.includes(name)) return void (await giveUp(`${name} would work for itself (${line.join(" for ")})`));
  const opened = await openRun(db, agent, {
    // One call, one run: whoever opens it again after a crash finds it.
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
  if (opened.ok) return;
  const { code, detail } = opened.refusal;
  await giveUp(`${code}${detail ? `: ${detail}` : ""}`);
}

/** `{message: "…"}` is those words; other arguments are told as they are. */
function inputOf(args: CallFacts["args"]): string {
  const read = stored(args);
  return isObject(read) && Object.keys(read).length === 1 && typeof read.message === "string" ? read.message : args;
}
