import { type Db, inWorkspace } from "@/db/client";
import { openRun } from "@/db/store/open-run";
import type { Refused } from "@/db/store/refuse";
import { publishSnapshot, type SnapshotContent } from "@/db/store/snapshots";
import type { Caller } from "@/lib/protocol/principal";
import { ok, type Result } from "@/lib/result";

export interface AgentContent extends SnapshotContent {
  readonly name: string;
}

export interface AgentStart {
  readonly agent: AgentContent;
  readonly input: string;
  readonly runId?: string | null;
}

/** What a client does in two calls: freeze an agent that runs here, and open a run of it. Gives the run's id. */
export async function startAgentRun(db: Db, caller: Caller, start: AgentStart): Promise<Result<string, Refused>> {
  const { name, ...content } = start.agent;
  return inWorkspace(db, caller.workspace, async (tx) => {
    const snapshot = await publishSnapshot(tx, caller, name, content);
    if (!snapshot.ok) return snapshot;
    const opened = await openRun(tx, caller, {
      runId: start.runId ?? null,
      agent: name,
      snapshotId: snapshot.value.snapshotId,
      threadId: null,
      input: start.input,
      executor: "worker",
      onBehalfOf: null,
      parent: null,
    });
    return opened.ok ? ok(opened.value.runId) : opened;
  });
}
