import { inWorkspace, type Scope, type Tx } from "@/db/client";
import type { Instant } from "@/lib/protocol/instant";
import { type RunFactsRecord, runFactColumns } from "./run-facts";
import { readMessages } from "./run-page";
import type { MessageRecord } from "./ticket-page";

export interface LiveTextRecord {
  readonly runId: string;
  readonly text: string;
  readonly at: Instant;
}

export interface ThreadPageReading {
  readonly messages: readonly MessageRecord[];
  readonly messagesInAll: number;
  /** Newest first. */
  readonly runs: readonly RunFactsRecord[];
  readonly live: readonly LiveTextRecord[];
  /** The newest living run here that this principal opened: whom a message is for. */
  readonly talkRun: string | null;
  /** Some run of the thread is of an agent that runs here; one of those still lives. */
  readonly hosted: boolean;
  readonly living: boolean;
  readonly now: Instant;
}

const MESSAGES_SHOWN = 200;
const RUNS_SHOWN = 20;
const LIVE_SHOWN = 20_000;

export async function readThreadPage(
  scope: Scope,
  workspace: string,
  threadId: string,
  principal: string,
): Promise<ThreadPageReading | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [thread] = await tx.sql`
      select from threads where workspace_id = ${tx.workspace} and thread_id = ${threadId}`;
    if (!thread) return null;
    const around = await readAround(tx, threadId, principal);
    const runs = await tx.sql<RunFactsRecord[]>`
      ${runFactColumns(tx)} where r.workspace_id = ${tx.workspace} and r.thread_id = ${threadId}
      order by r.created_at desc, r.id desc limit ${RUNS_SHOWN}`;
    // In this order: a step that commits in between takes its live words away, so they never stand beside the message they became.
    const messages = await readMessages(tx, threadId, MESSAGES_SHOWN);
    const live = await readLive(tx, threadId);
    return { ...around, runs, messages, live };
  });
}

type Around = Pick<ThreadPageReading, "messagesInAll" | "talkRun" | "hosted" | "living" | "now">;

async function readAround(tx: Tx, threadId: string, principal: string): Promise<Around> {
  const [row] = await tx.sql<Around[]>`
    select clock_timestamp() as now,
      (select count(*)::int from messages m where m.workspace_id = ${tx.workspace} and m.thread_id = ${threadId}) as messages_in_all,
      (array_agg(r.run_id order by r.created_at desc, r.id desc)
        filter (where r.cause is null and r.principal_id = ${principal}))[1] as talk_run,
      count(*) > 0 as hosted, coalesce(bool_or(r.cause is null), false) as living
    from runs r
    join agent_snapshots s on s.workspace_id = r.workspace_id and s.snapshot_id = r.snapshot_id and s.definition is not null
    where r.workspace_id = ${tx.workspace} and r.thread_id = ${threadId} and r.executor = 'worker'`;
  if (!row) throw new Error("an aggregate gave no row");
  return row;
}

/** Of runs that move: what a run that waits or has ended once said is in its messages, or counts for nothing. */
async function readLive(tx: Tx, threadId: string): Promise<readonly LiveTextRecord[]> {
  return await tx.sql<LiveTextRecord[]>`
    select r.run_id, left(l.text, ${LIVE_SHOWN}) as text, l.updated_at as at
    from runs r join live_texts l on l.workspace_id = r.workspace_id and l.run = r.id
    where r.workspace_id = ${tx.workspace} and r.thread_id = ${threadId} and r.state = 'running'
    order by l.updated_at limit ${RUNS_SHOWN}`;
}
