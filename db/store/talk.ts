import type { Scope } from "@/db/client";
import { runEnded } from "@/lib/protocol/book/refusing";
import { reference } from "@/lib/protocol/book/words";
import type { Caller } from "@/lib/protocol/principal";
import { ok, refuse } from "@/lib/result";
import { addMessages } from "./messages";
import { type Outcome, visit } from "./visit";

export interface Said {
  readonly threadId: string;
  /** False: it was there already. */
  readonly added: boolean;
}

/**
 * A later message on a living run's thread. The same id again is the same message. A run that waits is not woken: it goes on with
 * the message once it is answered.
 */
export async function talk(
  scope: Scope,
  caller: Caller,
  runId: string,
  message: { readonly id: string; readonly text: string },
): Promise<Outcome<Said>> {
  return visit<Said>(scope, caller, { verb: "talk", at: { run: runId } }, async ({ tx, book }) => {
    if (book.run.cause !== null) return refuse(runEnded(book));
    const { threadId } = book.run;
    const said = { id: `said:${message.id}`, role: "user", text: message.text };
    const added = (await addMessages(tx, threadId, [said])) > 0;
    if (!added) return ok({ threadId, added });
    book.note("message_appended", { message: said.id, text: reference(said.text, `message:${said.id}`) });
    if (book.state === "running") book.enqueue({ dedupeKey: `talk:${message.id}`, ticketId: null });
    return ok({ threadId, added });
  });
}
