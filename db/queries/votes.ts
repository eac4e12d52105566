import { inWorkspace, type Scope } from "@/db/client";

/**
 * Where a run's trace holds a principal's verdict on a ticket: one verdict a person, so one event. It is the same whenever it is asked,
 * which the trace's end is not. Null when there is none.
 */
export async function readVerdictSeq(
  scope: Scope,
  workspace: string,
  runId: string,
  ticketId: string,
  principal: string,
): Promise<number | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const [event] = await tx.sql<{ seq: number }[]>`
      select seq from trace_events
      where workspace_id = ${workspace}
        and run = (select id from runs where workspace_id = ${workspace} and run_id = ${runId})
        and type in ('approval_recorded', 'input_received')
        and event_text::json #>> '{payload,ticket_id}' = ${ticketId}
        and event_text::json #>> '{actor,id}' = ${principal}
      order by seq limit 1`;
    return event?.seq ?? null;
  });
}
