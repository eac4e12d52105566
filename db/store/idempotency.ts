import type { Tx } from "@/db/client";
import { hashJson } from "@/lib/protocol/canonical-json";

/** What a key belongs to: nobody replays another's answer. Source: http-api "Idempotency-Key". */
export interface IdempotencyScope {
  readonly principal: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

export interface StoredAnswer {
  readonly bodySha256: string;
  readonly status: number;
  readonly response: string;
}

/**
 * Take the key for this transaction. False: another request holds it now; it is not waited for.
 * The lock is advisory and ends with the transaction, so a crash leaves neither lock nor record.
 */
export async function takeKey(tx: Tx, scope: IdempotencyScope): Promise<boolean> {
  const digest = hashJson({ v: 1, kind: "idempotency_key", workspace_id: tx.workspace, ...scope });
  const lock = BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
  const [row] = await tx.sql<{ taken: boolean }[]>`select pg_try_advisory_xact_lock(${lock}::bigint) as taken`;
  return row?.taken === true;
}

/** The answer that was stored under the key, unless its day is over. */
export async function recallAnswer(
  tx: Tx,
  { principal, method, path, key }: IdempotencyScope,
): Promise<StoredAnswer | null> {
  const [row] = await tx.sql<StoredAnswer[]>`
    select body_sha256, status, response from idempotency_keys
    where workspace_id = ${tx.workspace} and principal_id = ${principal} and method = ${method} and path = ${path}
      and key = ${key} and expires_at > clock_timestamp()`;
  return row ?? null;
}

/** Keep a 2xx answer for a day, in the verb's own transaction: both are there, or neither. */
export async function keepAnswer(tx: Tx, scope: IdempotencyScope, answer: StoredAnswer): Promise<void> {
  await tx.sql`
    insert into idempotency_keys (workspace_id, principal_id, method, path, key, body_sha256, status, response, expires_at)
    values (${tx.workspace}, ${scope.principal}, ${scope.method}, ${scope.path}, ${scope.key}, ${answer.bodySha256},
      ${answer.status}, ${answer.response}, clock_timestamp() + interval '24 hours')
    on conflict (workspace_id, principal_id, method, path, key) do update set body_sha256 = excluded.body_sha256,
      status = excluded.status, response = excluded.response, created_at = clock_timestamp(), expires_at = excluded.expires_at`;
}
