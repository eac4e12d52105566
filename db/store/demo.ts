import { inWorkspace, type Scope } from "@/db/client";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { cancel } from "./operate";
import { type Refused, recordRefusal } from "./refuse";

/**
 * End the demo's runs and archive them, each in its own transaction: they leave lists and counts, and their chain stays.
 * Gives how many were archived. Source: console.md "Remove demo".
 */
export async function removeDemo(
  scope: Scope,
  caller: Caller,
): Promise<Result<{ readonly archived: number }, Refused>> {
  if (may(caller, "cancel_run") !== "yes") {
    return inWorkspace(scope, caller.workspace, async (tx) =>
      refuse(
        await recordRefusal(tx, caller, { verb: "cancel_run", input: { demo: true } }, refusal("not_permitted"), null),
      ),
    );
  }
  const runs = await inWorkspace(
    scope,
    caller.workspace,
    async (tx) =>
      await tx.sql<{ runId: string; ended: boolean }[]>`
      select run_id, cause is not null as ended from runs
      where workspace_id = ${tx.workspace} and is_demo and archived_at is null`,
  );
  for (const { runId, ended } of runs) {
    await inWorkspace(scope, caller.workspace, async (tx) => {
      if (!ended) await cancel(tx, caller, runId, "the demo was removed");
      await tx.sql`
        update runs set archived_at = clock_timestamp()
        where workspace_id = ${tx.workspace} and run_id = ${runId} and archived_at is null`;
    });
  }
  return ok({ archived: runs.length });
}
