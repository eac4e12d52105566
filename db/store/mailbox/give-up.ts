import type { Tx } from "@/db/client";
import { readBook } from "@/db/store/read-book";
import { appendTrace, traceActor } from "@/db/store/trace";
import type { Caller } from "@/lib/protocol/principal";
import { type Where, withoutClaim } from "./rows";

/**
 * End a job without its having been delivered. When it was the last that moved its run, the run says why it is not moving, and
 * its trace says when that began. The run is locked before the job, as everywhere. False: the job was no longer as `where` has it.
 */
export async function giveUp(
  tx: Tx,
  caller: Caller,
  job: { readonly jobId: string; readonly run: string | null },
  status: "DeadLetter" | "Superseded",
  error: string | null,
  where: Where,
): Promise<boolean> {
  const open = job.run === null ? null : await readBook(tx, caller, { internal: job.run }, {});
  const left = await tx.sql`
    update jobs set status = ${status}, last_error = coalesce(${error}, last_error), ${withoutClaim(tx)} where ${where}`;
  if (left.count === 0) return false;
  if (!open || open.book.run.cause !== null) return true;
  const { run, now } = open.book;
  const reason = status === "DeadLetter" ? "dead_letter" : "superseded";
  const stalled = await tx.sql`
    update runs set stalled_reason = ${reason}
    where workspace_id = ${tx.workspace} and id = ${run.id} and not exists (
      select from jobs where workspace_id = ${tx.workspace} and run = ${run.id} and status in ('Queued', 'Claimed'))`;
  if (stalled.count === 0) return true;
  const payload = { cause: "stalled", reason, job_id: job.jobId };
  await appendTrace(tx, run, open.head, traceActor(caller), now.at, [{ type: "state_transition", payload }]);
  tx.touched.add(run.id);
  return true;
}
