import type { Tx } from "@/db/client";
import { keepAnswer, recallAnswer, takeKey } from "@/db/store/idempotency";
import type { Refused } from "@/db/store/refuse";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { type Refusal, refusal } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import type { Answered, DoorVisit, Repeats } from "./door";

/** Visible ASCII: what a header can carry without being changed on its way. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

export interface KeyedRequest {
  readonly method: string;
  readonly path: string;
  readonly repeats: Repeats;
  /** The caller still has the right: asked before a stored answer is sent again. */
  readonly mayReplay: boolean;
}

export type KeyedAnswer = Answered & { readonly replayed: boolean };

/**
 * Do the work once per Idempotency-Key. The answer is kept in the work's own transaction: a crash keeps both or loses both. Refusals are
 * not kept, so a request that was refused can succeed later under its key. Source: http-api "Idempotency-Key".
 */
export async function withKey(
  tx: Tx,
  visit: Pick<DoorVisit<unknown>, "request" | "caller" | "bodySha256">,
  { method, path, repeats, mayReplay }: KeyedRequest,
  work: () => Promise<Result<Answered, Refused | Refusal>>,
): Promise<Result<KeyedAnswer, Refused | Refusal>> {
  const key = visit.request.headers.get("idempotency-key");
  if (key === null || !KEY_PATTERN.test(key)) return refuse(refusal("idempotency_key_missing"));
  const scope = { principal: visit.caller.principal, method, path, key };
  if (!(await takeKey(tx, scope))) return refuse(refusal("idempotency_in_progress"));
  const first = await recallAnswer(tx, scope);
  if (first && first.bodySha256 !== visit.bodySha256) return refuse(refusal("idempotency_key_reused"));
  if (first && mayReplay && repeats === "stored") {
    return ok({ status: first.status as Answered["status"], json: stored(first.response), replayed: true });
  }
  const done = await work();
  if (!done.ok) return done;
  const { status, json } = done.value;
  await keepAnswer(tx, scope, { bodySha256: visit.bodySha256, status, response: canonicalJson(json) });
  return ok({ ...done.value, replayed: first !== null && mayReplay });
}
