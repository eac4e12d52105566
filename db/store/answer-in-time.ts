import { types } from "node:util";
import { createContext, Script } from "node:vm";
import { type SatisfiesSchema, satisfiesSchema } from "@/lib/protocol/answer-schema";

/** How long one answer may be judged, in milliseconds. A schema that is meant takes far less than one of them. */
const LIMIT_MS = 250;

const ground: { judge: () => boolean } = { judge: () => false };
const context = createContext(ground);
const script = new Script("judge()");

/**
 * `satisfiesSchema`, ended when it takes too long; such a schema admits nothing, like any that cannot be used. Agents write schemas, and
 * one of a few characters can keep a process busy for years (an expression that goes back) while it holds the run's lock. A time limit
 * of a script's ends whatever it calls, also within a regular expression.
 */
export const satisfiesInTime: SatisfiesSchema = (schema, answer) => {
  ground.judge = () => satisfiesSchema(schema, answer);
  try {
    return script.runInContext(context, { timeout: LIMIT_MS }) === true;
  } catch (cause) {
    // The context's own error: no instance of ours.
    if (types.isNativeError(cause) && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw cause;
  } finally {
    ground.judge = () => false;
  }
};
