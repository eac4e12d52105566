import type { z } from "zod";
import type { Db, Scope } from "@/db/client";
import type { Refused } from "@/db/store/refuse";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import type { Verb } from "@/lib/protocol/may";
import type { Caller } from "@/lib/protocol/principal";
import type { Refusal } from "@/lib/protocol/refusals";
import type { Result } from "@/lib/result";
import type { Services } from "./services";

/**
 * How a repeated POST is known: by its Idempotency-Key, whose answer is kept and sent again (`stored`) or made anew from the record
 * (`present`), or by an id of its own in the body (`own`). `none` for what changes nothing. Source: http-api "Idempotency-Key".
 */
export type Repeats = "stored" | "present" | "own" | "none";

/** One call of the API: everything that the wrapper, the OpenAPI document and the test of every door need to know. */
export interface Door<Body = unknown> {
  readonly method: "GET" | "POST" | "PUT";
  /** Such as `/api/v1/runs/{run_id}/calls`. */
  readonly path: string;
  readonly summary: string;
  /** The right it takes. Where the ticket's target says which, the one that most callers need. */
  readonly verb: Verb;
  readonly repeats: Repeats;
  /** Absent where the call has no JSON body. */
  readonly body?: z.ZodType<Body>;
  /** Bytes, kept as they come; at most so many. */
  readonly rawBody?: number;
  /** The query's parameters that exist, with their meaning. */
  readonly query?: Readonly<Record<string, string>>;
  readonly answer?: z.ZodType;
  /** Of success. The first is the usual one. */
  readonly statuses: readonly (200 | 201 | 204)[];
  readonly open: (visit: DoorVisit<Body>) => Promise<Opened>;
}

/** What a door is given once the wrapper has judged the envelope. */
export interface DoorVisit<Body> {
  /** The transaction that the idempotency key is held in, or the database. */
  readonly scope: Scope;
  readonly db: Db;
  readonly services: Services;
  readonly caller: Caller;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** The body as it was sent. */
  readonly raw: Uint8Array;
  readonly bodySha256: string;
  /** True while the key that came with the request is good. For what outlives one answer. */
  readonly stillCalls: () => Promise<boolean>;
}

export interface Answered {
  readonly status: 200 | 201 | 204;
  readonly json: JsonValue;
}

/** A value, a refusal, or an answer that is no JSON. */
export type Opened = Result<Answered, Refused | Refusal> | Response;

/** Types the body by its schema; every door is made by this. */
export function defineDoor<Body>(door: Door<Body>): Door {
  return door as unknown as Door;
}

/** The same for a door without a JSON body. */
export type BodylessVisit = DoorVisit<unknown>;
