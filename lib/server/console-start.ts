import "server-only";
import { readHostedAgent } from "@/db/queries/agents";
import { stored } from "@/lib/protocol/book/stored";
import { isArray, isObject } from "@/lib/protocol/canonical-json";
import type { StartRequest } from "@/lib/protocol/console-thread-view";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusalAt } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { type AgentContent, startAgentRun } from "@/lib/runtime/start-agent";
import { database } from "./database";

/** Start a run of the agent's newest content that runs here. Its thread has the run's own id. */
export async function startFromConsole(
  caller: Caller,
  { run_id, agent, message }: StartRequest,
): Promise<Result<{ readonly thread_id: string }, Refusal>> {
  const db = await database();
  const frozen = await readHostedAgent(db, caller.workspace, agent);
  if (frozen === null) return refuse(refusalAt("invalid_body", "agent", "no agent of this name runs here"));
  const content: AgentContent = {
    name: agent,
    provider: frozen.provider,
    model: frozen.model,
    mcpServers: frozen.mcpServers === null ? null : stored(frozen.mcpServers),
    tools: toolsOf(stored(frozen.catalog)),
    build: frozen.build,
    definition: stored(frozen.definition),
  };
  const started = await startAgentRun(db, caller, { agent: content, input: message, runId: run_id });
  if (started.ok) return ok({ thread_id: started.value });
  // The same press again, whose first answer was lost: the run that it started is told to its own principal alone.
  const { code, facts } = started.refusal;
  return code === "run_exists" && facts?.run_id === run_id ? ok({ thread_id: run_id }) : started;
}

/** Our own writing, read back. */
function toolsOf(catalog: ReturnType<typeof stored>): AgentContent["tools"] {
  if (!isArray(catalog)) throw new Error("an agent's catalogue is no list");
  return catalog.map((tool) => {
    if (!isObject(tool) || typeof tool.name !== "string") throw new Error("an agent's tool has no name");
    return { ...tool, name: tool.name };
  });
}
