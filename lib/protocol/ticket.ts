import type { AwaitTarget } from "./await-target";
import type { CallRef, Risk } from "./call";
import { hashJson, type JsonValue } from "./canonical-json";
import type { Sha256 } from "./hash";
import type { DelegationOrigin } from "./run";

/** Once closed a ticket is never written again. *Open* includes one past its deadline under `hold`. Source: protocol §5 "Ticket". */
export const TICKET_STATUSES = ["open", "answered", "expired", "superseded", "cancelled"] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];

/** The edges of §5. One that is not here does not exist. */
export const TICKET_TRANSITIONS: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  open: ["answered", "expired", "superseded", "cancelled"],
  answered: [],
  expired: [],
  superseded: [],
  cancelled: [],
};

export function mayTicketMove(from: TicketStatus, to: TicketStatus): boolean {
  return TICKET_TRANSITIONS[from].includes(to);
}

/**
 * What identifies one wait, once committed: answers are built from this and from nothing else. It never holds a secret or a live handle.
 * `null` stands for what the wait does not have. Source: protocol §4, [S0].
 */
export interface ResumeTicket {
  readonly ticket_id: string;
  /** Unique per wait. `request_id`, the command line's word, is equal. */
  readonly correlation_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly snapshot_id: string;
  readonly catalog_fingerprint: string;
  /** Stable for a delegated run, however often it waits and restarts. */
  readonly delegation_origin: DelegationOrigin | null;
  readonly target: AwaitTarget;
  /** Epoch ms by the server's clock; a ticket without one never expires. */
  readonly deadline_ms: number | null;
  readonly prompt: string | null;
  /** JSON Schema of the answer or the payload. */
  readonly schema: JsonValue;
  readonly options: JsonValue;
}

export const CLOSED_BY_KINDS = ["decision", "replaced", "cancelled", "expiry", "run_ended", "withdrawn"] as const;
export type ClosedByKind = (typeof CLOSED_BY_KINDS)[number];

/** How a ticket was closed: what a caller who comes too late is told. Source: http-api `not_awaiting`. */
export interface ClosedBy {
  readonly kind: ClosedByKind;
  /** A display name, never an e-mail. */
  readonly actor?: string;
  readonly verdict?: string;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly successor_ticket_id?: string;
}

export function closedByJson(closed: ClosedBy): { readonly [name: string]: JsonValue } {
  return {
    kind: closed.kind,
    at: closed.at,
    ...(closed.actor === undefined ? {} : { actor: closed.actor }),
    ...(closed.verdict === undefined ? {} : { verdict: closed.verdict }),
    ...(closed.successor_ticket_id === undefined ? {} : { successor_ticket_id: closed.successor_ticket_id }),
  };
}

/**
 * Exactly what an approver is shown, and nothing that moves without a new revision: who voted, wrote, was assigned or holds a claim is
 * no part of it, nor is the time that is left. It is the same for every person. Source: protocol §2 "View digest", http-api "Tickets".
 */
export type TicketView = {
  readonly v: 1;
  readonly kind: "ticket_view";
  readonly workspace_id: string;
  readonly ticket_id: string;
  /** One higher whenever another of these fields changes, in the same transaction. */
  readonly revision: number;
  readonly correlation_id: string;
  readonly agent: string;
  readonly run_id: string;
  /** `null` for a pause, which has no call. */
  readonly call_ref: CallRef | null;
  readonly proposal: { readonly action: string; readonly args: JsonValue; readonly output: JsonValue };
  readonly proposal_hash: Sha256;
  /** JSON paths of values that are shown as sealed. */
  readonly sealed: readonly string[];
  readonly rule: { readonly id: string; readonly version: number } | null;
  readonly deadline_ms: number | null;
  readonly risk: Risk;
  readonly catalog_fingerprint: string;
};

/** Builds the view field by field, so that a wider object from a query cannot smuggle a field into what is hashed. */
export function ticketView(facts: Omit<TicketView, "v" | "kind">): TicketView {
  const { proposal, rule } = facts;
  return {
    v: 1,
    kind: "ticket_view",
    workspace_id: facts.workspace_id,
    ticket_id: facts.ticket_id,
    revision: facts.revision,
    correlation_id: facts.correlation_id,
    agent: facts.agent,
    run_id: facts.run_id,
    call_ref: facts.call_ref,
    proposal: { action: proposal.action, args: proposal.args, output: proposal.output },
    proposal_hash: facts.proposal_hash,
    sealed: facts.sealed,
    rule: rule && { id: rule.id, version: rule.version },
    deadline_ms: facts.deadline_ms,
    risk: facts.risk,
    catalog_fingerprint: facts.catalog_fingerprint,
  };
}

/** What a decision names as the view it was made on; another is `stale_view`. */
export function viewDigest(view: TicketView): Sha256 {
  return hashJson(view);
}
