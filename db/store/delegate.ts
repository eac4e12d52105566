import type { Scope, Tx } from "@/db/client";
import { answerOwnWait } from "@/lib/protocol/book/decide";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import { notAwaiting } from "@/lib/protocol/book/refusing";
import { resumeTicket } from "@/lib/protocol/book/waits";
import type { CallRef } from "@/lib/protocol/call";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { ResumeCommand } from "@/lib/protocol/resume-command";
import { refuse } from "@/lib/result";
import { satisfiesInTime } from "./answer-in-time";
import { type Outcome, visit } from "./visit";

/** What a delegated run gave is the result of its parent's call. The runtime answers, for the parent's agent. Source: protocol §3. */
export async function answerDelegation(
  scope: Scope,
  system: Caller,
  parent: string,
  call: CallRef,
  output: JsonValue,
): Promise<Outcome<TicketFacts>> {
  const attempted = { run: parent, call, input: { result: "tool_result" } };
  const what = { verb: "answer_for_system", at: { run: parent }, call, onlyExecutor: "worker", attempted } as const;
  return visit(scope, system, what, ({ book }) => {
    const ticket = book.openTicketOf(call);
    if (ticket?.reason !== "delegation") return refuse(notAwaiting(book, book.newestTicketOf(call)));
    const result = { kind: "tool_result", call_id: call, output } as const;
    return answerOwnWait(
      book,
      ticket,
      ResumeCommand.fromTicket(resumeTicket(book, ticket), result, book.now.ms),
      satisfiesInTime,
    );
  });
}

/** Asked under the run's lock: between a look at a run and what is done about it, a person may have closed the wait. */
export async function isStillOpen(tx: Tx, ticketId: string): Promise<boolean> {
  const [open] = await tx.sql`
    select from tickets where workspace_id = ${tx.workspace} and id = ${ticketId} and status = 'open'`;
  return open !== undefined;
}
