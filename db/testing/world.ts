import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Db } from "@/db/client";
import { readRunBook, readTicketView } from "@/db/queries/ticket-view";
import { readTrace } from "@/db/queries/trace";
import { decideTicket } from "@/db/store/decide";
import { beginCall, completeCall } from "@/db/store/execute";
import { addPerson, ensureWorkspace, localCaller, makeKeyFor } from "@/db/store/identity";
import { openRun, type RunRequest } from "@/db/store/open-run";
import { sweepRun } from "@/db/store/operate";
import { type CallRequest, PLAIN_CALL, proposeStep, type StepAnswer } from "@/db/store/propose";
import { dueRuns } from "@/db/store/workers";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller, Role } from "@/lib/protocol/principal";
import type { Executor } from "@/lib/protocol/run";
import { viewDigest } from "@/lib/protocol/ticket";
import { verifyChain } from "@/lib/protocol/trace-event";
import { freshDatabase } from "./fresh-database";

/** A suite's database with a workspace, an agent, and people in every role. */
export interface World {
  readonly db: Db;
  readonly adminUrl: string;
  readonly appUrl: string;
  readonly workspace: string;
  readonly agent: Caller;
  readonly otherAgent: Caller;
  readonly operatorKey: Caller;
  readonly approver: Caller;
  readonly approver2: Caller;
  readonly operator: Caller;
  readonly owner: Caller;
  readonly system: Caller;
  readonly cli: Caller;
  close(): Promise<void>;
}

export async function newWorld(max = 20): Promise<World> {
  const database = await freshDatabase();
  const db = await connect(database.appUrl, { role: "holdpoint_worker", max });
  const workspace = await ensureWorkspace(db);
  const [agent, otherAgent, operatorKey] = await Promise.all([
    keyCaller(db, workspace, "agent", "desk"),
    keyCaller(db, workspace, "agent", "other-desk"),
    keyCaller(db, workspace, "operator", "ops"),
  ]);
  const people = await Promise.all([
    personCaller(db, workspace, "ada@example.test", "approver"),
    personCaller(db, workspace, "bela@example.test", "approver"),
    personCaller(db, workspace, "otto@example.test", "operator"),
    personCaller(db, workspace, "olga@example.test", "owner"),
  ]);
  const [approver, approver2, operator, owner] = people as [Caller, Caller, Caller, Caller];
  return {
    db,
    adminUrl: database.adminUrl,
    appUrl: database.appUrl,
    workspace,
    agent,
    otherAgent,
    operatorKey,
    approver,
    approver2,
    operator,
    owner,
    system: await localCaller(db, workspace, "system", "holdpoint", "system"),
    cli: await localCaller(db, workspace, "cli", "tester", "cli"),
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

async function keyCaller(db: Db, workspace: string, kind: "agent" | "operator", name: string): Promise<Caller> {
  const { principal, keyId } = await makeKeyFor(db, workspace, kind, name);
  return { workspace, principal, kind, role: null, person: null, display: name, surface: "api", credential: keyId };
}

export async function personCaller(db: Db, workspace: string, email: string, role: Role): Promise<Caller> {
  const { person, principal } = await addPerson(db, workspace, email, role);
  return {
    workspace,
    principal,
    kind: "person",
    role,
    person,
    display: email.split("@")[0] ?? email,
    surface: "console",
    credential: null,
  };
}

export async function openTestRun(
  world: World,
  caller: Caller = world.agent,
  executor: Executor = "client",
  parent: RunRequest["parent"] = null,
): Promise<string> {
  const opened = await openRun(world.db, caller, {
    runId: null,
    agent: `agent-of-${caller.display}`,
    snapshotId: null,
    threadId: null,
    input: null,
    executor,
    onBehalfOf: null,
    parent,
  });
  if (!opened.ok) throw new Error(opened.refusal.code);
  return opened.value.runId;
}

export function aCall(over: Partial<CallRequest> = {}): CallRequest {
  return {
    ...PLAIN_CALL,
    action: "send_money",
    args: { amount: 156.9, recipient: "DH5939281092" },
    output: "account:DH5939281092",
    ...over,
  };
}

export interface StepOptions {
  readonly step?: number;
  readonly mode?: "parallel" | "sequential";
  readonly coupling?: "independent" | "all_or_nothing";
}

export async function park(
  world: World,
  runId: string,
  calls: readonly CallRequest[],
  { step = 1, mode = "parallel", coupling = "independent" }: StepOptions = {},
  caller: Caller = world.agent,
): Promise<StepAnswer> {
  const answer = await proposeStep(world.db, caller, runId, { step, mode, coupling, state: null, messages: [], calls });
  if (!answer.ok) throw new Error(`${answer.refusal.code} ${JSON.stringify(answer.refusal.facts)}`);
  return answer.value.value;
}

/** A run with one parked call, and its ticket. */
export async function parked(world: World, over: Partial<CallRequest> = {}) {
  const runId = await openTestRun(world);
  const [answer] = (await park(world, runId, [aCall(over)])).calls;
  if (!answer?.ticket) throw new Error("the call did not park");
  return { runId, ticket: answer.ticket, call: answer.call };
}

/** A run with several parked calls in one batch. */
export async function several(world: World, actions: readonly string[], options: StepOptions = {}): Promise<Parked[]> {
  const runId = await openTestRun(world);
  const calls = actions.map((action) => aCall({ action }));
  const answer = await park(world, runId, calls, options);
  return answer.calls.flatMap(({ call, ticket }) => (ticket ? [{ runId, call, ticket }] : []));
}

export function pair<Item>(items: readonly Item[]): [Item, Item] {
  const [first, second] = items;
  if (!first || !second) throw new Error("two were expected");
  return [first, second];
}

/** A verdict as the console sends it: on the view as it stands. */
export async function verdict(
  world: World,
  ticket: Pick<TicketFacts, "id">,
  decision: "allow" | "deny",
  reason?: string,
) {
  const view = await readTicketView(world.db, world.workspace, ticket.id);
  if (!view) throw new Error("no such ticket");
  return {
    decisionId: randomUUID(),
    bodySha256: "0".repeat(64),
    result:
      decision === "allow"
        ? ({ kind: "permission", decision } as const)
        : ({ kind: "permission", decision, ...(reason === undefined ? {} : { reason }) } as const),
    proposalHash: view.proposal_hash,
    viewDigest: viewDigest(view),
    seenForMs: null,
  };
}

export async function allow(world: World, ticket: Pick<TicketFacts, "id">, caller: Caller = world.approver) {
  return decideTicket(world.db, caller, ticket.id, await verdict(world, ticket, "allow"));
}

export async function deny(
  world: World,
  ticket: Pick<TicketFacts, "id">,
  caller: Caller = world.approver,
  reason?: string,
) {
  return decideTicket(world.db, caller, ticket.id, await verdict(world, ticket, "deny", reason));
}

/** What an agent says when it begins a call exactly as it was approved. */
export function about(call: CallFacts, requestId: string, over: Partial<Sent> = {}): Sent {
  return {
    requestId,
    action: call.action,
    args: call.args,
    output: call.target,
    worker: null,
    key: null,
    leaseMs: 60_000,
    snapshotId: null,
    catalogFingerprint: null,
    ...over,
  };
}

export type Sent = Parameters<typeof beginCall>[4];

export interface Parked {
  readonly runId: string;
  readonly ticket: TicketFacts;
  readonly call: CallFacts;
}

export async function begin(world: World, { runId, ticket, call }: Parked, over: Partial<Sent> = {}) {
  return beginCall(world.db, world.agent, runId, call.callRef, about(call, ticket.correlationId, over));
}

/** An attempt whose lease is over when this returns. */
export async function beginAndLapse(world: World, what: Parked, over: Partial<Sent> = {}) {
  const begun = await begin(world, what, { leaseMs: 1, ...over });
  await sleep(5);
  return begun;
}

export async function report(world: World, { runId, call }: Parked, attempt: number, output: JsonValue = "done") {
  const said = { attempt, output: canonicalJson(output), error: null, recovered: false };
  return completeCall(world.db, world.agent, runId, call.callRef, said);
}

export async function allowed(world: World, over: Partial<CallRequest> = {}): Promise<Parked> {
  const what = await parked(world, over);
  const outcome = await allow(world, what.ticket);
  if (!outcome.ok) throw new Error(outcome.refusal.code);
  return what;
}

/** The call, its newest ticket and its run as they stand. */
export async function standing(world: World, runId: string, ref = "s1.0") {
  const book = await readRunBook(world.db, world.workspace, runId, { call: ref });
  const call = book?.calls().find((known) => known.callRef === ref);
  if (!book || !call) throw new Error(`no call ${ref}`);
  return { run: book.run, state: book.state, call, ticket: book.newestTicketOf(call.callRef) };
}

export function codeOf(outcome: { readonly ok: boolean; readonly refusal?: { readonly code: string } }): string {
  return outcome.ok ? "ok" : (outcome.refusal?.code ?? "?");
}

/** Do what the clock has brought about, as a worker's sweeper does. */
export async function sweep(world: World): Promise<void> {
  for (const { run } of await dueRuns(world.db)) await sweepRun(world.db, world.system, run);
}

/** The whole chain of a run, verified; throws where it is broken. */
export async function traceTypes(world: World, runId: string): Promise<readonly string[]> {
  const events = await readTrace(world.db, world.workspace, runId);
  const verdict = verifyChain(events, { workspace_id: world.workspace, run_id: runId });
  if (!verdict.ok) throw new Error(`the chain of ${runId} breaks at ${verdict.seq}: ${verdict.why}`);
  return events.map((event) => event.type);
}
