import type { JsonValue } from "./canonical-json";
import { OF_THE_BATCH } from "./refusals/batch";
import { WHEN_DECIDING } from "./refusals/deciding";
import { AT_THE_DOOR } from "./refusals/door";
import { WHEN_EXECUTING } from "./refusals/executing";
import { OF_THE_MAILBOX } from "./refusals/mailbox";
import { OF_THE_REQUEST } from "./refusals/request";
import type { RefusalRule } from "./refusals/rule";
import { OF_THE_RUN } from "./refusals/run";
import { OF_A_SIGNAL } from "./refusals/signal";

/**
 * Every refusal there is, in one table. A code that is not explained here does not compile, and nothing else maps a code to a status
 * or a sentence. Source: http-api "Refusals".
 */
export const REFUSALS = {
  ...AT_THE_DOOR,
  ...OF_THE_REQUEST,
  ...OF_THE_RUN,
  ...WHEN_DECIDING,
  ...WHEN_EXECUTING,
  ...OF_THE_BATCH,
  ...OF_THE_MAILBOX,
  ...OF_A_SIGNAL,
} as const satisfies Readonly<Record<string, RefusalRule>>;

export type RefusalCode = keyof typeof REFUSALS;

/** What a refusal tells beyond its code: the facts that the caller's next step needs. */
export type RefusalFacts = { readonly [name: string]: JsonValue };

export interface Refusal<Code extends RefusalCode = RefusalCode> {
  readonly code: Code;
  readonly detail?: string;
  /** Where in the request's JSON. */
  readonly path?: string;
  readonly facts?: RefusalFacts;
}

export function refusal<const Code extends RefusalCode>(
  code: Code,
  facts?: RefusalFacts,
  detail?: string,
): Refusal<Code> {
  return { code, ...(facts === undefined ? {} : { facts }), ...(detail === undefined ? {} : { detail }) };
}

/** A refusal of something in the request's JSON. */
export function refusalAt<const Code extends RefusalCode>(code: Code, path: string, detail?: string): Refusal<Code> {
  return { code, path, ...(detail === undefined ? {} : { detail }) };
}

export function isRefusalCode(text: string): text is RefusalCode {
  return Object.hasOwn(REFUSALS, text);
}

/** The table's row, in its general type: `retryAfter` may be asked of any code. */
export function refusalRule(code: RefusalCode): RefusalRule {
  return REFUSALS[code];
}
