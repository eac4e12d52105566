import { readProgress } from "@/db/queries/run-progress";
import type { ClaimedJob } from "@/db/store/mailbox/claim";
import { openRequested } from "@/db/store/mailbox/open-request";
import { cancel } from "@/db/store/operate";
import { stored } from "@/lib/protocol/book/stored";
import { isObject, type JsonObject } from "@/lib/protocol/canonical-json";
import { unreachable } from "@/lib/result";
import { type Advanced, type Advancing, advanceRun } from "./advance";

/** What became of a job: delivered, not now, or never, so that no attempt can help. */
export type Delivered = Advanced | { readonly kind: "never"; readonly why: string };

/** Do what one claimed job asks for. What fails here by itself is the worker's failure; what an agent does wrong is not. */
export async function deliver(context: Advancing, job: ClaimedJob): Promise<Delivered> {
  switch (job.kind) {
    case "resume":
      return job.run === null ? never("a resume job names its run") : advanceRun(context, job.run);
    case "cancel":
      return cancelFor(context, job);
    case "notice":
      return heed(context, job);
    case "request":
      return openFor(context, job);
    default:
      return unreachable(job.kind);
  }
}

function never(why: string): Delivered {
  return { kind: "never", why };
}

/** The run that a request opens is moved by a job of its own, so this one is delivered once the run is there. */
async function openFor({ db }: Advancing, job: ClaimedJob): Promise<Delivered> {
  const opened = await openRequested(db, job.workspace, job);
  if (opened === null || opened.ok) return { kind: "done" };
  const { code, detail } = opened.refusal;
  return never(`no run was opened: ${code}${detail ? `, ${detail}` : ""}`);
}

/**
 * A relative of the run has ended. What works for a run that is over is not wanted any more; everything else is in the tables, for
 * the run's next look. Source: interleavings 30 and 31.
 */
async function heed(context: Advancing, job: ClaimedJob): Promise<Delivered> {
  const { run, runId } = job;
  if (run === null || runId === null) return never("a notice names its run");
  const progress = await readProgress(context.db, job.workspace, run);
  if (!progress?.book.run.parentEnded) return advanceRun(context, run);
  await cancel(context.db, context.system, runId, "the run that it works for has ended", "not_wanted");
  return { kind: "done" };
}

/** End the run. One that has ended meanwhile stays as it ended: the refusal is in its trace. */
async function cancelFor({ db, system }: Advancing, job: ClaimedJob): Promise<Delivered> {
  if (job.runId === null) return never("a cancel job names its run");
  const said = extrasOf(job);
  const reason = typeof said.reason === "string" ? said.reason : "cancelled";
  await cancel(db, system, job.runId, reason, typeof said.cause === "string" ? said.cause : null);
  return { kind: "done" };
}

function extrasOf({ requestExtras }: ClaimedJob): JsonObject {
  const said = requestExtras === null ? {} : stored(requestExtras);
  return isObject(said) ? said : {};
}
