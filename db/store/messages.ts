import type { Tx } from "@/db/client";

export interface Message {
  /** Unique in its thread: a message that is sent again is the same one. */
  readonly id: string;
  readonly role: string;
  readonly text: string;
}

/** Join messages to a thread's one history. Gives how many were new. */
export async function addMessages(
  tx: Tx,
  threadId: string,
  messages: readonly Message[],
  wire = "holdpoint",
): Promise<number> {
  let added = 0;
  for (const message of messages) {
    // One statement each: the next number is read by the statement that takes it, and a taken number is an error, not a loss.
    const inserted = await tx.sql`
      insert into messages (workspace_id, thread_id, seq, source_id, role, content, wire)
      select ${tx.workspace}, ${threadId}, coalesce(max(seq), 0) + 1, ${message.id}, ${message.role}, ${message.text}, ${wire}
      from messages where workspace_id = ${tx.workspace} and thread_id = ${threadId}
      on conflict (workspace_id, thread_id, source_id) do nothing`;
    added += inserted.count;
  }
  return added;
}
