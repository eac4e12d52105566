import {
  type AwaitTarget,
  PAUSE_REASONS,
  pauseTarget,
  REMOTE_INPUT_REASONS,
  remoteInputTarget,
  TOOL_CALL_REASONS,
  toolCallTarget,
} from "../await-target";
import type { CallFacts, TicketFacts } from "./facts";
import { stored } from "./stored";

/** A ticket's row as the closed union. A row of any other shape throws: the database's checks let none in. */
export function awaitTarget(ticket: TicketFacts, call: CallFacts | null): AwaitTarget {
  const toolCall = TOOL_CALL_REASONS.find((reason) => reason === ticket.reason);
  if (ticket.kind === "tool_call" && toolCall && call && ticket.toolId !== null) {
    return toolCallTarget(toolCall, call.callRef, { toolId: ticket.toolId, arguments: stored(call.args) });
  }
  const remoteInput = REMOTE_INPUT_REASONS.find((reason) => reason === ticket.reason);
  if (ticket.kind === "remote_input" && remoteInput && call) return remoteInputTarget(remoteInput, call.callRef);
  const pause = PAUSE_REASONS.find((reason) => reason === ticket.reason);
  if (ticket.kind === "pause" && pause && !call) return pauseTarget(pause);
  throw new Error(`ticket ${ticket.id} has no legal target`);
}
