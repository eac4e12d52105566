import type { Tx } from "@/db/client";
import type { VoteFacts } from "@/lib/protocol/book/facts";

/** A right lost since a vote was cast does not count. Source: protocol §6 "Votes". */
export async function readVotes(tx: Tx, ticketId: string): Promise<readonly VoteFacts[]> {
  return await tx.sql<VoteFacts[]>`
    select v.person_id as person, v.verdict, m.person_id is not null as still_may
    from votes v
    left join members m on m.workspace_id = v.workspace_id and m.person_id = v.person_id and m.disabled_at is null
      and m.role in ('approver', 'owner')
    where v.workspace_id = ${tx.workspace} and v.ticket_id = ${ticketId}`;
}

/** Their allow had other arguments than the call that this ticket's was edited from; asked only where more than one must look. */
export async function readEditors(tx: Tx, ticketId: string): Promise<readonly string[]> {
  const rows = await tx.sql<{ person: string }[]>`
    select distinct v.person_id as person
    from tickets t
    join calls c on c.workspace_id = t.workspace_id and c.run = t.run and c.call_ref = t.call_ref
    join calls before on before.workspace_id = c.workspace_id and before.run = c.run and before.call_ref = c.edited_from
    join tickets asked on asked.workspace_id = before.workspace_id and asked.run = before.run and asked.call_ref = before.call_ref
    join votes v on v.workspace_id = asked.workspace_id and v.ticket_id = asked.id
    where t.workspace_id = ${tx.workspace} and t.id = ${ticketId} and t.quorum_needed > 1
      and v.verdict = 'allow' and v.person_id is not null and v.payload <> before.args`;
  return rows.map(({ person }) => person);
}
