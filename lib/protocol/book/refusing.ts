import type { JsonObject } from "../canonical-json";
import { type Refusal, refusal } from "../refusals";
import { closedByJson } from "../ticket";
import type { Book } from "./book";
import type { CallFacts, TicketFacts } from "./facts";
import { standingOf } from "./waits";

interface Ending {
  readonly cause: string | null;
  readonly causeCode: string | null;
  readonly endedBy: string | null;
  readonly endedAt: string | null;
}

/** Every late caller is told how the run ended, by whom and when. */
export function runEnded(book: Book): Refusal<"run_ended"> {
  return endedAs(book.run);
}

/** The same of a run that is read without its book. */
export function endedAs({ cause, causeCode, endedBy, endedAt }: Ending): Refusal<"run_ended"> {
  return refusal("run_ended", { ended: { cause, code: causeCode, by: endedBy, at: endedAt } });
}

export function notAwaiting(book: Book, ticket: TicketFacts | undefined): Refusal<"not_awaiting"> {
  const closedBy = ticket ? standingOf(book, ticket).closed_by : null;
  return refusal("not_awaiting", { closed_by: closedBy && closedByJson(closedBy) });
}

/** The four hashes that an operator compares. Only those that apply are given. */
export function hashesOf(call: CallFacts, supplied: string | null, current: string | null): JsonObject {
  return {
    ...(supplied === null ? {} : { supplied_hash: supplied }),
    ...(current === null ? {} : { current_hash: current }),
    stored_hash: call.proposalHash,
    ...(call.authorisation === null ? {} : { approval_hash: call.authorisation.hash }),
  };
}
