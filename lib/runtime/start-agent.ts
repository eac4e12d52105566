import { type Db, inWorkspace } from "@/db/client";
import { enqueueStart } from "@/db/store/mailbox/enqueue";
import { addMessages } from "@/db/store/messages";
import { openRun } from "@/db/store/open-run";
import { type Refused, recordRefusal } from "@/db/store/refuse";
import { publishSnapshot, type SnapshotContent } from "@/db/store/snapshots";
import { type Outcome, visit } from "@/db/store/visit";
import { checkDefinition } from "@/lib/protocol/agent-definition";
import { reference } from "@/lib/protocol/book/words";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { refusal, refusalAt } from "@/lib/protocol/refusals";
import { ASK_TOOL } from "@/lib/protocol/signal";
import { ok, type Result, refuse } from "@/lib/result";

/** An agent that the worker runs: its content, and how it goes on. */
export interface AgentContent extends Omit<SnapshotContent, "definition"> {
  readonly name: string;
  /** As `lib/protocol/agent-definition` has it. */
  readonly definition: JsonValue;
}

export interface AgentStart {
  readonly agent: AgentContent;
  /** The thread's first message. */
  readonly input: string;
  readonly threadId?: string | null;
  readonly onBehalfOf?: string | null;
  readonly runId?: string | null;
  readonly isDemo?: boolean;
}

/**
 * Freeze the agent, open a run that the worker executes, and ask a worker to look at it: all of it commits, or none.
 * Refuses with `invalid_body` a definition of another shape and a catalogue that has the reserved tool's name.
 */
export async function startAgentRun(db: Db, caller: Caller, start: AgentStart): Promise<Result<string, Refused>> {
  const { name, definition, ...content } = start.agent;
  return inWorkspace(db, caller.workspace, async (tx) => {
    const checked = checkAgent(start.agent);
    if (!checked.ok) {
      const attempted = { verb: "publish_snapshot", input: { agent: name } } as const;
      return refuse(await recordRefusal(tx, caller, attempted, checked.refusal, null));
    }
    const snapshot = await publishSnapshot(tx, caller, name, { ...content, definition: checked.value });
    if (!snapshot.ok) return snapshot;
    const opened = await openRun(tx, caller, {
      runId: start.runId ?? null,
      agent: name,
      snapshotId: snapshot.value.snapshotId,
      threadId: start.threadId ?? null,
      input: start.input,
      executor: "worker",
      onBehalfOf: start.onBehalfOf ?? null,
      parent: null,
      isDemo: start.isDemo ?? false,
    });
    if (!opened.ok) return opened;
    const { id, runId, threadId } = opened.value;
    const [owner] = await tx.sql<{ agentId: string }[]>`
      select agent_id from runs where workspace_id = ${tx.workspace} and id = ${id}`;
    if (!owner) throw new Error(`run ${runId} is not there after it was opened`);
    await enqueueStart(tx, { id, runId, agentId: owner.agentId, threadId });
    return ok(runId);
  });
}

function checkAgent({ definition, tools }: AgentContent) {
  if (tools.some((tool) => tool.name === ASK_TOOL)) {
    return refuse(refusalAt("invalid_body", "tools", `the name ${ASK_TOOL} is reserved`));
  }
  return checkDefinition(definition);
}

/**
 * A later message on a living run's thread. The same id again is the same message. A run that waits is not woken: it goes on with
 * the message once it is answered.
 */
export async function talk(
  db: Db,
  caller: Caller,
  runId: string,
  message: { readonly id: string; readonly text: string },
): Promise<Outcome<{ readonly added: boolean }>> {
  return visit<{ readonly added: boolean }>(db, caller, { verb: "talk", at: { run: runId } }, async ({ tx, book }) => {
    if (book.run.cause !== null) return refuse(refusal("run_ended", { ended: { cause: book.run.cause } }));
    const said = { id: `said:${message.id}`, role: "user", text: message.text };
    const added = (await addMessages(tx, book.run.threadId, [said])) > 0;
    if (!added) return ok({ added });
    book.note("message_appended", { message: said.id, text: reference(said.text, `message:${said.id}`) });
    if (book.state === "running") book.enqueue({ dedupeKey: `talk:${message.id}`, ticketId: null });
    return ok({ added });
  });
}
