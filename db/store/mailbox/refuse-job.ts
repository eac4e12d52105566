import type { Tx } from "@/db/client";
import { readBook } from "@/db/store/read-book";
import { type Refused, recordRefusal } from "@/db/store/refuse";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { type Act, may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, type RefusalCode, refusal } from "@/lib/protocol/refusals";

/** What was tried on which job, for the record of a refusal. */
export interface JobAttempt {
  readonly verb: Act;
  readonly jobId: string | null;
  /** The run that the job moves, by our own id; a refusal that names one is in its trace too. */
  readonly run: string | null;
  readonly input?: JsonObject;
}

/** Record a refusal of a mailbox verb: in the ledger, and in the trace of the run that the job moves. */
export async function refuseJob<Code extends RefusalCode>(
  tx: Tx,
  caller: Caller,
  attempt: JobAttempt,
  reason: Refusal<Code>,
): Promise<Refused<Code>> {
  const attempted = {
    verb: attempt.verb,
    input: { ...(attempt.jobId === null ? {} : { job_id: attempt.jobId }), ...attempt.input },
  };
  const open = attempt.run === null ? null : await readBook(tx, caller, { internal: attempt.run }, {});
  if (!open) return recordRefusal(tx, caller, attempted, reason, null);
  const { book, head } = open;
  return recordRefusal(tx, caller, attempted, reason, { run: book.run, head, at: book.now.at });
}

/** The refusal of whoever may not use the mailbox so, or null. */
export async function withoutRight(tx: Tx, caller: Caller, attempt: JobAttempt): Promise<Refused | null> {
  if (may(caller, attempt.verb) !== "no") return null;
  return refuseJob(tx, caller, { ...attempt, run: null }, refusal("not_permitted"));
}
