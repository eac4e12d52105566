import { type CallOutcome, type CallRef, mayCallMove, type OutcomeCause, callRef as placeOf } from "../call";
import type { JsonObject, JsonValue } from "../canonical-json";
import type { Now } from "../instant";
import type { Policy } from "../permission-rule";
import type { RunCause, RunState } from "../run";
import { type ClosedByKind, mayTicketMove, type TicketStatus } from "../ticket";
import type { TraceType } from "../trace-event";
import {
  type BatchFacts,
  type CallFacts,
  isNeverBegun,
  isTerminal,
  mayHaveHappened,
  type RunFacts,
  type TicketFacts,
} from "./facts";

export interface BookFacts {
  readonly run: RunFacts;
  readonly now: Now;
  /** A fresh uuid v7 at each call. */
  readonly newId: () => string;
  /** What others may see of who acts. */
  readonly actor: string;
  readonly batches: readonly BatchFacts[];
  /** Every unfinished call with its whole batch, and the call that the verb names. */
  readonly calls: readonly CallFacts[];
  /** Every open ticket, and those of the named call. */
  readonly tickets: readonly TicketFacts[];
  readonly policy: Policy;
}

export interface EventDraft {
  readonly type: TraceType;
  readonly payload: JsonObject;
}

export interface JobDraft {
  readonly dedupeKey: string;
  readonly ticketId: string | null;
}

export interface DecisionDraft {
  readonly ticketId: string;
  readonly via: "person" | "agent" | "system" | "cli" | "expiry";
  readonly verdict: string;
  readonly requestId: string;
  readonly approvalHash: string | null;
  readonly result: JsonValue | undefined;
  readonly reason: string | null;
  readonly note: string | null;
  readonly effectiveAt: string;
}

/** A text that events name by its hash; the store keeps it where it can be erased. */
export interface ContentDraft {
  readonly kind: string;
  readonly text: string;
}

/**
 * One run as a verb finds it, and what the verb changes.
 *
 * Verbs are pure: they read facts, move calls and tickets along the edges of protocol §5 and note events. The store loads a
 * book under the run's lock and writes its changes in one transaction. An illegal move throws: it is our fault, never a caller's.
 */
export class Book {
  readonly events: EventDraft[] = [];
  readonly jobs: JobDraft[] = [];
  readonly decisions: DecisionDraft[] = [];
  readonly contents: ContentDraft[] = [];
  readonly voidedDecisions: string[] = [];
  readonly newBatches: BatchFacts[] = [];
  readonly newCalls = new Set<CallRef>();
  readonly changedCalls = new Set<CallRef>();
  readonly newTickets = new Set<string>();
  readonly changedTickets = new Set<string>();
  cancelsQueuedJobs = false;
  output: JsonValue | undefined;
  resumeFailed: string | null | undefined;

  readonly now: Now;
  readonly policy: Policy;
  run: RunFacts;
  private readonly callsByRef: Map<CallRef, CallFacts>;
  private readonly ticketsById: Map<string, TicketFacts>;
  private readonly batchesByStep: Map<number, BatchFacts>;

  constructor(readonly facts: BookFacts) {
    this.now = facts.now;
    this.policy = facts.policy;
    this.run = facts.run;
    this.callsByRef = new Map(facts.calls.map((call) => [call.callRef, call]));
    this.ticketsById = new Map(facts.tickets.map((ticket) => [ticket.id, ticket]));
    this.batchesByStep = new Map(facts.batches.map((batch) => [batch.step, batch]));
  }

  get state(): RunState {
    if (this.run.cause !== null) return "ended";
    return this.openTickets().length > 0 ? "awaiting" : "running";
  }

  get changed(): boolean {
    return this.events.length > 0 || this.changedCalls.size > 0 || this.changedTickets.size > 0;
  }

  note(type: TraceType, payload: JsonObject): void {
    this.events.push({ type, payload });
  }

  // Calls

  calls(): CallFacts[] {
    return [...this.callsByRef.values()].sort(inPlaceOrder);
  }

  callAt(ref: CallRef): CallFacts | undefined {
    return this.callsByRef.get(ref);
  }

  call(ref: CallRef): CallFacts {
    const call = this.callsByRef.get(ref);
    if (!call) throw new Error(`call ${ref} is not in the book of run ${this.run.runId}`);
    return call;
  }

  callsOf(step: number): CallFacts[] {
    return this.calls().filter((call) => call.step === step);
  }

  batch(step: number): BatchFacts {
    const batch = this.batchesByStep.get(step);
    if (!batch) throw new Error(`step ${step} is not in the book of run ${this.run.runId}`);
    return batch;
  }

  addBatch(batch: BatchFacts): void {
    this.batchesByStep.set(batch.step, batch);
    this.newBatches.push(batch);
  }

  addCall(call: CallFacts): CallFacts {
    if (call.callRef !== placeOf(call.step, call.batchIndex, call.editNo))
      throw new Error(`${call.callRef} is not its place`);
    this.callsByRef.set(call.callRef, call);
    this.newCalls.add(call.callRef);
    return call;
  }

  /** Move or amend a call. A new status must be an edge of §5. */
  amend(ref: CallRef, patch: Partial<CallFacts>): CallFacts {
    const before = this.call(ref);
    if (patch.status !== undefined && patch.status !== before.status && !mayCallMove(before.status, patch.status)) {
      throw new Error(`call ${ref} may not move from ${before.status} to ${patch.status}`);
    }
    const after = { ...before, ...patch };
    this.callsByRef.set(ref, after);
    if (!this.newCalls.has(ref)) this.changedCalls.add(ref);
    return after;
  }

  complete(ref: CallRef, outcome: CallOutcome, cause: OutcomeCause, more: Partial<CallFacts> = {}): CallFacts {
    return this.amend(ref, {
      ...NO_CLAIM,
      ...more,
      status: "completed",
      outcome,
      outcomeCause: cause,
      unreported: false,
      endedAt: this.now.at,
    });
  }

  // Tickets

  tickets(): TicketFacts[] {
    return [...this.ticketsById.values()];
  }

  openTickets(): TicketFacts[] {
    return this.tickets().filter((ticket) => ticket.status === "open");
  }

  ticketAt(id: string): TicketFacts | undefined {
    return this.ticketsById.get(id);
  }

  openTicketOf(ref: CallRef): TicketFacts | undefined {
    return this.openTickets().find((ticket) => ticket.callRef === ref);
  }

  openPause(): TicketFacts | undefined {
    return this.openTickets().find((ticket) => ticket.kind === "pause");
  }

  /** The newest ticket of a call, open or not: the end of its chain of successors, which is what every answer shows. */
  newestTicketOf(ref: CallRef): TicketFacts | undefined {
    return this.tickets().find((ticket) => ticket.callRef === ref && ticket.successor === null);
  }

  addTicket(ticket: TicketFacts): TicketFacts {
    this.ticketsById.set(ticket.id, ticket);
    this.newTickets.add(ticket.id);
    return ticket;
  }

  amendTicket(id: string, patch: Partial<TicketFacts>): TicketFacts {
    const before = this.ticketsById.get(id);
    if (!before) throw new Error(`ticket ${id} is not in the book of run ${this.run.runId}`);
    const after = { ...before, ...patch };
    this.ticketsById.set(id, after);
    if (!this.newTickets.has(id)) this.changedTickets.add(id);
    return after;
  }

  closeTicket(ticket: TicketFacts, status: TicketStatus, by: ClosedByKind, verdict: string | null = null): TicketFacts {
    if (!mayTicketMove(ticket.status, status)) throw new Error(`ticket ${ticket.id} may not move to ${status}`);
    return this.amendTicket(ticket.id, {
      status,
      closedByKind: by,
      closedByActor: this.facts.actor,
      closedByVerdict: verdict,
      closedAt: this.now.at,
    });
  }

  // The run

  enqueue(job: JobDraft): void {
    if (this.run.executor === "worker" && this.run.cause === null) this.jobs.push(job);
  }

  /**
   * The finish boundary: the one place that sets a cause. Open tickets and never begun calls are closed, what may have
   * happened stays as it is or becomes indeterminate, queued jobs are cancelled. Source: protocol §8.
   */
  end(cause: RunCause, code: string | null = null): void {
    if (this.run.cause !== null) throw new Error(`run ${this.run.runId} has ended`);
    for (const ticket of this.openTickets()) {
      this.closeTicket(ticket, "cancelled", "run_ended");
      this.note("ticket_cancelled", { ticket_id: ticket.id, call_ref: ticket.callRef, cause: "run_ended" });
    }
    for (const call of this.calls()) this.closeByEnd(call);
    this.run = { ...this.run, cause, causeCode: code, endedBy: this.facts.actor, endedAt: this.now.at };
    this.cancelsQueuedJobs = true;
    this.note("run_ended", { cause, code });
  }

  private closeByEnd(call: CallFacts): void {
    if (isTerminal(call) || call.status === "executing" || call.status === "indeterminate") return;
    if (mayHaveHappened(call)) {
      this.amend(call.callRef, { status: "indeterminate" });
      this.note("action_indeterminate", { call_ref: call.callRef, attempt: call.attempt, cause: "run_ended" });
      return;
    }
    if (!isNeverBegun(call)) throw new Error(`call ${call.callRef} was begun and is ${call.status}`);
    this.complete(call.callRef, "cancelled", "run_ended");
  }
}

/** A call that is not executing holds no claim. */
export const NO_CLAIM = {
  claimKey: null,
  claimToken: null,
  claimedBy: null,
  claimJob: null,
  leaseUntil: null,
} as const satisfies Partial<CallFacts>;

function inPlaceOrder(a: CallFacts, b: CallFacts): number {
  return a.step - b.step || a.batchIndex - b.batchIndex || a.editNo - b.editNo;
}
