import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { Db } from "@/db/client";
import { readTicketBook } from "@/db/queries/ticket-view";
import { decideTicket } from "@/db/store/decide";
import { beginCall, completeCall } from "@/db/store/execute";
import { openRun } from "@/db/store/open-run";
import { PLAIN_CALL, proposeStep } from "@/db/store/propose";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { viewOf } from "@/lib/protocol/book/waits";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { viewDigest } from "@/lib/protocol/ticket";
import { decideByHand, executeByHand, type LimitRun, newLimitRun, openLimitRun, parkByHand } from "./limit";
import { type Rate, rateOf } from "./load";

export interface Bench {
  readonly db: Db;
  readonly admin: postgres.Sql;
  readonly agent: Caller;
  readonly approver: Caller;
}

export interface Compared {
  readonly verb: string;
  readonly ours: Rate;
  readonly limit: Rate;
}

const ARGS = { amount: 156.9, recipient: "DH5939281092", subject: "Electricity bill, November" };

interface Parked {
  readonly runId: string;
  readonly call: CallFacts;
  readonly ticket: TicketFacts;
}

/** Park, decide, and begin + complete, each beside the same rows written by hand, in one run on one server. */
export async function compareVerbs(bench: Bench, clients: number, times: number): Promise<readonly Compared[]> {
  const runs = await Promise.all(Array.from({ length: times }, () => openBenchRun(bench, "client")));
  const parked: Parked[] = [];
  const park = await rateOf(clients, runs, async (runId) => {
    parked.push(await parkOne(bench, runId));
  });
  const clicks = await Promise.all(parked.map(async (what) => ({ what, click: await clickOn(bench, what.ticket.id) })));
  const decide = await rateOf(clients, clicks, async ({ what, click }) => {
    must(await decideTicket(bench.db, bench.approver, what.ticket.id, click));
  });
  const execute = await rateOf(clients, parked, (what) => executeOne(bench, what));

  const limit = await limitRates(bench.admin, clients, times);
  return [
    { verb: "park", ours: park, limit: limit.park },
    { verb: "decide", ours: decide, limit: limit.decide },
    { verb: "begin + complete", ours: execute, limit: limit.execute },
  ];
}

async function limitRates(sql: postgres.Sql, clients: number, times: number) {
  const runs: LimitRun[] = Array.from({ length: times }, newLimitRun);
  await Promise.all(runs.map((run) => openLimitRun(sql, run)));
  const args = canonicalJson(ARGS);
  return {
    park: await rateOf(clients, runs, (run) => parkByHand(sql, run, args)),
    decide: await rateOf(clients, runs, (run) => decideByHand(sql, run)),
    execute: await rateOf(clients, runs, (run) => executeByHand(sql, run)),
  };
}

export async function openBenchRun({ db, agent }: Bench, executor: "client" | "worker"): Promise<string> {
  const opened = await openRun(db, agent, {
    runId: null,
    agent: "bench",
    snapshotId: null,
    threadId: null,
    input: null,
    executor,
    onBehalfOf: null,
    parent: null,
  });
  return must(opened).runId;
}

export async function parkOne(
  { db, agent }: Bench,
  runId: string,
  over: { action?: string; args?: object; output?: string } = {},
): Promise<Parked> {
  const call = { ...A_CALL, ...over, args: (over.args as typeof ARGS | undefined) ?? ARGS };
  const step = {
    step: 1,
    mode: "parallel",
    coupling: "independent",
    state: null,
    messages: [],
    calls: [call],
  } as const;
  const answer = must(await proposeStep(db, agent, runId, step)).value.calls[0];
  if (!answer?.ticket) throw new Error("the call did not park");
  return { runId, call: answer.call, ticket: answer.ticket };
}

const A_CALL = {
  ...PLAIN_CALL,
  action: "send_money",
  args: ARGS,
  output: "account:DH5939281092",
} as const;

/** A verdict on the ticket as it stands, made before the clock starts: reading is not what is timed. */
export async function clickOn({ db, agent }: Bench, ticketId: string) {
  const read = await readTicketBook(db, agent.workspace, ticketId);
  if (!read) throw new Error("no such ticket");
  const view = viewOf(read.book, read.ticket);
  return {
    decisionId: randomUUID(),
    bodySha256: "0".repeat(64),
    result: { kind: "permission", decision: "allow" } as const,
    proposalHash: view.proposal_hash,
    viewDigest: viewDigest(view),
    seenForMs: null,
  };
}

async function executeOne({ db, agent }: Bench, { runId, call, ticket }: Parked): Promise<void> {
  must(
    await beginCall(db, agent, runId, call.callRef, {
      requestId: ticket.correlationId,
      action: call.action,
      args: call.args,
      output: call.target,
      worker: null,
      key: null,
      leaseMs: 60_000,
      snapshotId: null,
      catalogFingerprint: null,
    }),
  );
  const report = { attempt: 1, output: canonicalJson("done"), error: null, recovered: false };
  must(await completeCall(db, agent, runId, call.callRef, report));
}

export function must<Value>(
  outcome:
    | { readonly ok: true; readonly value: Value }
    | { readonly ok: false; readonly refusal: { readonly code: string } },
): Value {
  if (!outcome.ok) throw new Error(`refused: ${outcome.refusal.code}`);
  return outcome.value;
}

/** What one approval costs a client run, from park to complete: rows written, write-ahead log, commits. */
export async function costOfApproval(
  bench: Bench,
  times: number,
): Promise<{ rows: number; walBytes: number; commits: number }> {
  const runs = await Promise.all(Array.from({ length: times }, () => openBenchRun(bench, "client")));
  const before = await counters(bench.admin);
  for (const runId of runs) {
    const what = await parkOne(bench, runId);
    must(await decideTicket(bench.db, bench.approver, what.ticket.id, await clickOn(bench, what.ticket.id)));
    await executeOne(bench, what);
  }
  const after = await counters(bench.admin);
  return {
    rows: (after.rows - before.rows) / times,
    walBytes: (after.wal - before.wal) / times,
    commits: (after.xid - before.xid) / times,
  };
}

async function counters(sql: postgres.Sql): Promise<{ rows: number; wal: number; xid: number }> {
  // Statistics are sent at most once a second by each backend.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const [row] = await sql<{ rows: string; wal: string; xid: string }[]>`
    select (select sum(n_tup_ins) from pg_stat_user_tables where schemaname = 'public')::text as rows,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal, pg_current_xact_id()::text as xid`;
  return { rows: Number(row?.rows), wal: Number(row?.wal), xid: Number(row?.xid) };
}
