import { type Db, inWorkspace } from "@/db/client";

export interface ThreadLine {
  readonly seq: number;
  readonly sourceId: string;
  readonly role: string;
  readonly content: string;
}

/** What an agent of the worker decides its next step on, besides the run's book: committed facts alone. */
export interface AgentFacts {
  readonly thread: readonly ThreadLine[];
  /** Why a call of the last step was denied, cancelled or taken back, by `call_ref`. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Actions of which one call has succeeded in this run. */
  readonly succeeded: ReadonlySet<string>;
  /** How often somebody has let the run go on past its budget. */
  readonly budgetGrants: number;
  /** Attempts granted in this run. */
  readonly toolAttempts: number;
}

export async function readAgentFacts(
  db: Db,
  workspace: string,
  run: string,
  threadId: string,
  step: number,
): Promise<AgentFacts> {
  return inWorkspace(db, workspace, async (tx) => {
    const [thread, denied, closed, actions, [grants]] = await Promise.all([
      tx.sql<ThreadLine[]>`
        select seq, source_id, role, content from messages
        where workspace_id = ${workspace} and thread_id = ${threadId} order by seq`.execute(),
      tx.sql<{ callRef: string; reason: string }[]>`
        select t.call_ref, d.reason from decisions d
        join tickets t on t.workspace_id = d.workspace_id and t.id = d.ticket_id
        join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
        where c.workspace_id = ${workspace} and c.run = ${run} and c.step = ${step} and d.reason is not null
        order by d.decided_at`.execute(),
      tx.sql<{ callRef: string; reason: string }[]>`
        select e.event_text::json #>> '{payload,call_ref}' as call_ref, convert_from(k.bytes, 'UTF8') as reason
        from trace_events e
        join contents k on k.workspace_id = e.workspace_id and k.kind = 'reason'
          and k.sha256 = e.event_text::json #>> '{payload,reason,hash}'
        where e.workspace_id = ${workspace} and e.run = ${run} and e.type in ('ticket_cancelled', 'state_transition')
          and exists (select from calls c where c.workspace_id = ${workspace} and c.run = ${run} and c.step = ${step}
            and c.outcome_cause in ('ticket_cancelled', 'withdrawn'))
        order by e.seq`.execute(),
      tx.sql<{ action: string; succeeded: boolean; attempts: number }[]>`
        select action, coalesce(bool_or(outcome = 'succeeded'), false) as succeeded, sum(attempt) as attempts from calls
        where workspace_id = ${workspace} and run = ${run} group by action`.execute(),
      tx.sql<{ times: number }[]>`
        select count(*)::int as times from tickets
        where workspace_id = ${workspace} and run = ${run} and target_reason = 'budget_reached' and status = 'answered'`.execute(),
    ]);
    return {
      thread,
      reasons: new Map([...closed, ...denied].map((row) => [row.callRef, row.reason])),
      succeeded: new Set(actions.filter((row) => row.succeeded).map((row) => row.action)),
      budgetGrants: grants?.times ?? 0,
      toolAttempts: actions.reduce((sum, row) => sum + row.attempts, 0),
    };
  });
}
