import { inWorkspace, type Scope } from "@/db/client";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { Instant } from "@/lib/protocol/instant";
import { type RunStateRecord, readRunState } from "./run-state";
import { readTickets, type TicketRecord } from "./tickets";
import { readTrace, type StoredEvent } from "./trace";

/** A proposal as it was hashed: the texts themselves. */
export interface ProposalRecord {
  readonly callRef: string;
  readonly action: string;
  readonly args: CanonicalJson;
  readonly target: CanonicalJson;
  readonly proposalHash: string;
  readonly approvalHash: string | null;
  readonly approvalRequestId: string | null;
}

export interface RefusalRecord {
  readonly code: string;
  readonly verb: string;
  readonly actor: string;
  readonly surface: string;
  readonly at: Instant;
  readonly seq: number | null;
}

export interface BundleRecord extends RunStateRecord {
  readonly allTickets: readonly TicketRecord[];
  readonly proposals: readonly ProposalRecord[];
  readonly refusals: readonly RefusalRecord[];
  readonly trace: readonly StoredEvent[];
}

const MOST_EVENTS = 1_000_000;

/** Everything on record about one run. Null when there is no such run. */
export async function readBundle(scope: Scope, workspace: string, runId: string): Promise<BundleRecord | null> {
  return inWorkspace(scope, workspace, async (tx) => {
    const state = await readRunState(tx, workspace, runId);
    if (!state) return null;
    const run = state.run.id;
    const [allTickets, proposals, refusals, trace] = await Promise.all([
      readTickets(tx, { run }),
      tx.sql<ProposalRecord[]>`
        select call_ref, action, args, target, proposal_hash, approval_hash, approval_request_id from calls
        where workspace_id = ${workspace} and run = ${run} order by step, batch_index, edit_no`,
      tx.sql<RefusalRecord[]>`
        select code, verb, actor, surface, at, seq from refusals
        where workspace_id = ${workspace} and run = ${run} order by at, id`,
      readTrace(tx, workspace, runId, { most: MOST_EVENTS }),
    ]);
    return { ...state, allTickets, proposals, refusals, trace };
  });
}
