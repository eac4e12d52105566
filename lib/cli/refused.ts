import type { Refused } from "@/db/store/refuse";
import { refusalRule } from "@/lib/protocol/refusals";

/** The command was understood and turned down: printed as `{"error": …}`, exit code 2. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused";

  constructor(
    readonly error: string,
    readonly advice: string | null = null,
    readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super(error);
  }
}

export function refusedBy(refused: Refused, error: string = refused.code): CommandRefused {
  return new CommandRefused(error, refused.detail ?? refusalRule(refused.code).advice);
}
