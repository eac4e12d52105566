import "server-only";
import { findByText } from "@/db/queries/find";
import type { PaletteAnswer } from "@/lib/protocol/console-view";
import { msOf } from "@/lib/protocol/instant";
import type { Caller } from "@/lib/protocol/principal";
import { database } from "../database";

export async function loadFound(caller: Caller, query: URLSearchParams): Promise<PaletteAnswer> {
  const found = await findByText(await database(), caller.workspace, (query.get("q") ?? "").slice(0, 128));
  return {
    tickets: found.tickets.map((it) => ({ ticket_id: it.ticketId, action: it.action, agent: it.agent })),
    runs: found.runs.map((it) => ({ run_id: it.runId, agent: it.agent })),
    now_ms: msOf(found.now),
  };
}
