import "server-only";
import { openRun } from "@/db/store/open-run";
import type { StartRequest } from "@/lib/protocol/console-thread-view";
import type { Caller } from "@/lib/protocol/principal";
import type { Refusal } from "@/lib/protocol/refusals";
import { ok, type Result } from "@/lib/result";
import { database } from "./database";

/** Start a run of the agent's newest content that runs here. Its thread has the run's own id. */
export async function startFromConsole(
  caller: Caller,
  { run_id, agent, message }: StartRequest,
): Promise<Result<{ readonly thread_id: string }, Refusal>> {
  const started = await openRun(await database(), caller, {
    runId: run_id,
    agent,
    snapshotId: null,
    mustRunHere: true,
    threadId: null,
    input: message,
    executor: "worker",
    onBehalfOf: null,
    parent: null,
  });
  if (started.ok) return ok({ thread_id: started.value.threadId });
  // The same press again, whose first answer was lost: the run that it started is told to its own principal alone.
  const { code, facts } = started.refusal;
  return code === "run_exists" && facts?.run_id === run_id ? ok({ thread_id: run_id }) : started;
}
