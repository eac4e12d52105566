import { type GatewayAction, isGatewayAction } from "@/lib/protocol/gateway-actions";
import { unreachable } from "@/lib/result";
import { createFile } from "./create-file";
import type { Act, Effect, Reach } from "./effect";
import { httpRequest } from "./http-request";
import { runCommand } from "./run-command";

/**
 * The only place where the worker touches the world, each action with its idempotency class. Null: no action of ours.
 *
 * `stop` ends what is under way; what it had done until then is then unknown, unless it only reads.
 * Source: protocol §6 "Effects".
 */
export async function perform(act: Act, reach: Reach, stop: AbortSignal): Promise<Effect | null> {
  if (!isGatewayAction(act.action)) return null;
  return performKnown(act.action, act, reach, stop);
}

function performKnown(action: GatewayAction, act: Act, reach: Reach, stop: AbortSignal): Promise<Effect> {
  switch (action) {
    case "write_draft":
    case "write_file":
      return createFile(act, reach.writeRoots);
    case "http_request":
      return httpRequest(act, reach, stop);
    case "run_command":
      return runCommand(act, reach, stop);
    default:
      return unreachable(action);
  }
}
