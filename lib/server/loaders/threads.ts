import "server-only";
import { type AgentRecord, readAgents } from "@/db/queries/agents";
import { readThreadPage, type ThreadPageReading } from "@/db/queries/thread-page";
import { readDefinition } from "@/lib/protocol/agent-definition";
import type { AgentRow, AgentsPage, ThreadPage } from "@/lib/protocol/console-thread-view";
import { msOf } from "@/lib/protocol/instant";
import { may } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import { database } from "../database";
import { runFacts, threadMessage } from "./runs";

export async function loadThread(caller: Caller, threadId: string): Promise<ThreadPage | null> {
  const reading = await readThreadPage(await database(), caller.workspace, threadId, caller.principal);
  if (reading === null) return null;
  return {
    now_ms: msOf(reading.now),
    thread_id: threadId,
    messages: reading.messages.map(threadMessage),
    messages_in_all: reading.messagesInAll,
    runs: reading.runs.map(runFacts),
    live: reading.live.map(({ runId, text, at }) => ({ run_id: runId, text, at_ms: msOf(at) })),
    talk: talkOf(caller, reading),
  };
}

/** A member talks to runs that are their own: the store would answer `unknown_run` for any other. */
function talkOf(caller: Caller, { talkRun, hosted, living }: ThreadPageReading): ThreadPage["talk"] {
  if (may(caller, "talk") === "no") return { run_id: null, hindrance: "role" };
  if (talkRun !== null) return { run_id: talkRun, hindrance: null };
  if (!hosted) return { run_id: null, hindrance: "elsewhere" };
  return { run_id: null, hindrance: living ? "another_principal" : "ended" };
}

export async function loadAgents(caller: Caller): Promise<AgentsPage> {
  const reading = await readAgents(await database(), caller.workspace, caller.principal);
  const starts = may(caller, "open_run") !== "no";
  return {
    now_ms: msOf(reading.now),
    rows: reading.rows.map((record) => agentRow(record, starts)),
    agents_in_all: reading.agentsInAll,
    others_may_decide: reading.othersMayDecide,
  };
}

function agentRow(record: AgentRecord, starts: boolean): AgentRow {
  const { name, isDemo, definition, provider, model, tools, mine, lastRunAt } = record;
  const here =
    definition === null
      ? null
      : { controller: readDefinition(definition).controller, provider, model, tools: tools ?? 0 };
  return {
    name,
    is_demo: isDemo,
    here,
    startable: starts && mine && here !== null,
    last_run_ms: lastRunAt === null ? null : msOf(lastRunAt),
  };
}
