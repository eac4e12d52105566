import { randomUUID } from "node:crypto";
import type postgres from "postgres";

/**
 * PostgreSQL doing the same: the rows that our verbs write, by hand, in plain tables without triggers, foreign keys, hashes or
 * judgement. Two round trips a verb: lock the run and read the clock, then one statement that writes everything.
 */
export const LIMIT_SCHEMA = `
  create schema bench_limit;
  create table bench_limit.runs (id uuid primary key, state text not null, open_tickets int not null default 0);
  create table bench_limit.batches (run uuid, step int, mode text, content_hash text, primary key (run, step));
  create table bench_limit.calls (run uuid, call_ref text, action text, args text, target text, proposal_hash text, status text,
    attempt int default 0, lease_until timestamptz, approval_hash text, result text, primary key (run, call_ref));
  create table bench_limit.tickets (id uuid primary key, run uuid, call_ref text, status text, correlation_id text unique, closed_at timestamptz);
  create index on bench_limit.tickets (run) where status = 'open';
  create table bench_limit.votes (id uuid primary key, ticket uuid, person uuid, verdict text, unique (ticket, person));
  create table bench_limit.decisions (ticket uuid primary key, verdict text, approval_hash text, decided_at timestamptz);
  create table bench_limit.trace (run uuid, seq int, event text, hash text, primary key (run, seq));
`;

export interface LimitRun {
  readonly run: string;
  readonly ticket: string;
  readonly person: string;
}

export function newLimitRun(): LimitRun {
  return { run: randomUUID(), ticket: randomUUID(), person: randomUUID() };
}

/** About as long as one of our events. */
const EVENT = "x".repeat(620);
const HASH = "0".repeat(64);

export async function openLimitRun(sql: postgres.Sql, { run }: LimitRun): Promise<void> {
  await sql`insert into bench_limit.runs (id, state) values (${run}, 'running')`;
}

export async function parkByHand(sql: postgres.Sql, { run, ticket }: LimitRun, args: string): Promise<void> {
  await sql.begin(async (tx) => {
    await lock(tx, run);
    await tx`
      with batch as (insert into bench_limit.batches values (${run}, 1, 'parallel', ${HASH})),
        call as (insert into bench_limit.calls (run, call_ref, action, args, target, proposal_hash, status)
          values (${run}, 's1.0', 'send_money', ${args}, '"x"', ${HASH}, 'awaiting')),
        ticket as (insert into bench_limit.tickets values (${ticket}, ${run}, 's1.0', 'open', ${ticket}, null)),
        trace as (insert into bench_limit.trace values (${run}, 1, ${EVENT}, ${HASH}), (${run}, 2, ${EVENT}, ${HASH}))
      update bench_limit.runs set state = 'awaiting', open_tickets = open_tickets + 1 where id = ${run}`;
  });
}

export async function decideByHand(sql: postgres.Sql, { run, ticket, person }: LimitRun): Promise<void> {
  await sql.begin(async (tx) => {
    await lock(tx, run);
    await tx`
      with vote as (insert into bench_limit.votes values (${randomUUID()}, ${ticket}, ${person}, 'allow')),
        decision as (insert into bench_limit.decisions values (${ticket}, 'allow', ${HASH}, clock_timestamp())),
        ticket as (update bench_limit.tickets set status = 'answered', closed_at = clock_timestamp() where id = ${ticket}),
        call as (update bench_limit.calls set status = 'approved', approval_hash = ${HASH} where run = ${run} and call_ref = 's1.0'),
        trace as (insert into bench_limit.trace values (${run}, 3, ${EVENT}, ${HASH}), (${run}, 4, ${EVENT}, ${HASH}))
      update bench_limit.runs set state = 'running', open_tickets = open_tickets - 1 where id = ${run}`;
  });
}

export async function executeByHand(sql: postgres.Sql, { run }: LimitRun): Promise<void> {
  await sql.begin(async (tx) => {
    await lock(tx, run);
    await tx`
      with trace as (insert into bench_limit.trace values (${run}, 5, ${EVENT}, ${HASH}), (${run}, 6, ${EVENT}, ${HASH}))
      update bench_limit.calls set status = 'executing', attempt = 1, lease_until = clock_timestamp() + interval '60 s'
      where run = ${run} and call_ref = 's1.0'`;
  });
  await sql.begin(async (tx) => {
    await lock(tx, run);
    await tx`
      with trace as (insert into bench_limit.trace values (${run}, 7, ${EVENT}, ${HASH}))
      update bench_limit.calls set status = 'completed', lease_until = null, result = '"done"' where run = ${run} and call_ref = 's1.0'`;
  });
}

async function lock(tx: postgres.TransactionSql, run: string): Promise<void> {
  await tx`select state, clock_timestamp() from bench_limit.runs where id = ${run} for no key update`;
}
