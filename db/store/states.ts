import type { Scope, Tx } from "@/db/client";
import { sha256Hex } from "@/lib/protocol/hash";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal, refusalAt } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { type Outcome, visit } from "./visit";

/** The agent's saved state as a step names it: where it lies (`ref`), or an upload that came before the step. */
export interface StateClaim {
  readonly format: string;
  readonly version: string;
  readonly sha256: string;
  /** Null for an upload. */
  readonly ref: string | null;
}

/** A step may only name an upload that is there: asked before the step is judged. */
export async function findState(tx: Tx, run: string, state: StateClaim | null): Promise<Result<null, Refusal>> {
  if (state === null || state.ref !== null) return ok(null);
  const [upload] = await tx.sql`
    select from run_states where workspace_id = ${tx.workspace} and run = ${run} and sha256 = ${state.sha256} and bytes is not null`;
  if (upload) return ok(null);
  return refuse(refusalAt("invalid_body", "state_upload.sha256", "upload the state first: PUT …/states/{sha256}"));
}

/** Bind the state to the run in the ticket's transaction, so that the two are never of different steps. */
export async function bindState(tx: Tx, run: string, { sha256, format, version, ref }: StateClaim): Promise<void> {
  await tx.sql`
    insert into run_states (workspace_id, run, sha256, format, version, ref, bound_at)
    values (${tx.workspace}, ${run}, ${sha256}, ${format}, ${version}, ${ref ?? ""}, clock_timestamp())
    on conflict (workspace_id, run, sha256)
    do update set bound_at = excluded.bound_at, format = excluded.format, version = excluded.version`;
}

/** Keep uploaded bytes under their own hash; another hash is refused. At most 32 MiB, as the door checks. */
export async function putState(
  scope: Scope,
  caller: Caller,
  runId: string,
  sha256: string,
  bytes: Uint8Array,
): Promise<Outcome<null>> {
  return visit(scope, caller, { verb: "put_state", at: { run: runId } }, async ({ tx, book }) => {
    if (sha256Hex(bytes) !== sha256)
      return refuse(refusal("state_tampered", { supplied_hash: sha256, current_hash: sha256Hex(bytes) }));
    await tx.sql`
      insert into run_states (workspace_id, run, sha256, bytes) values (${tx.workspace}, ${book.run.id}, ${sha256}, ${Buffer.from(bytes)})
      on conflict (workspace_id, run, sha256) do update set bytes = excluded.bytes`;
    return ok(null);
  });
}

export interface BoundState {
  readonly sha256: string;
  readonly format: string | null;
  readonly version: string | null;
  readonly bytes: Uint8Array | null;
  readonly ref: string | null;
}

/** The state last bound, after its hash was checked: `state_tampered` when it is not what was bound. Null when there is none. */
export async function readState(scope: Scope, caller: Caller, runId: string): Promise<Outcome<BoundState | null>> {
  return visit(scope, caller, { verb: "read_state", at: { run: runId } }, async ({ tx, book }) => {
    const state = await boundState(tx, book.run.id);
    if (!state?.bytes) return ok(state);
    const current = sha256Hex(state.bytes);
    if (current !== state.sha256)
      return refuse(refusal("state_tampered", { stored_hash: state.sha256, current_hash: current }));
    return ok(state);
  });
}

export async function boundState(tx: Tx, run: string): Promise<BoundState | null> {
  const [state] = await tx.sql<BoundState[]>`
    select sha256, format, version, bytes, ref from run_states
    where workspace_id = ${tx.workspace} and run = ${run} and bound_at is not null
    order by bound_at desc limit 1`;
  return state ?? null;
}
