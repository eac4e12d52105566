import "server-only";
import { type DecidedRecord, readTicketPage, type TicketPageReading } from "@/db/queries/ticket-page";
import { isOfferedToPeople } from "@/lib/protocol/await-target";
import { viewOf } from "@/lib/protocol/book/waits";
import { type CanonicalJson, canonicalJson } from "@/lib/protocol/canonical-json";
import type { ClosedBy, Comparison, EarlierDecision, TicketPage, Verdict } from "@/lib/protocol/console-view";
import { canExecute } from "@/lib/protocol/gateway-actions";
import { type Instant, msOf } from "@/lib/protocol/instant";
import { may } from "@/lib/protocol/may";
import { noveltiesOf } from "@/lib/protocol/novelty";
import type { Caller } from "@/lib/protocol/principal";
import { proposalText } from "@/lib/protocol/proposal";
import { database } from "../database";
import { issueViewToken } from "../view-token";
import { effectOf } from "./effects";
import { answerKind } from "./inbox";

const TICKET_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export async function loadTicket(caller: Caller, ticketId: string): Promise<TicketPage | null> {
  if (!TICKET_ID.test(ticketId)) return null;
  const reading = await readTicketPage(await database(), caller.workspace, ticketId);
  return reading && ticketPage(caller, reading);
}

function ticketPage(caller: Caller, reading: TicketPageReading): TicketPage {
  const { book, ticket, call, facts } = reading;
  const view = viewOf(book, ticket);
  return {
    now_ms: msOf(reading.now),
    ticket_id: ticket.id,
    request_id: ticket.correlationId,
    revision: ticket.revision,
    kind: answerKind(ticket.reason),
    reason: ticket.reason,
    status: ticket.status,
    run_id: book.run.runId,
    run_state: book.run.cause !== null ? "ended" : book.openTickets().length > 0 ? "awaiting" : "running",
    is_demo: facts.isDemo,
    call: callOf(reading),
    works_for: worksFor(reading),
    view_text: canonicalJson(view),
    view_token: issueViewToken(
      { ticketId: ticket.id, revision: ticket.revision, person: caller.person ?? "", session: caller.credential ?? "" },
      Date.now(),
    ),
    proposal_hash: view.proposal_hash,
    risk: ticket.risk,
    asked_ms: msOf(ticket.openedAt),
    deadline_ms: ticket.deadlineMs,
    expired_ms: at(ticket.expiredAt),
    on_expiry: ticket.onExpiry,
    schema_text: ticket.schema === null ? null : canonicalJson(ticket.schema),
    options_text: ticket.options === null ? null : canonicalJson(ticket.options),
    claim: facts.why,
    rule:
      ticket.ruleId === null
        ? null
        : { id: ticket.ruleId, version: ticket.ruleVersion, words: `Rule ${ticket.ruleId}` },
    agent: agentOf(reading),
    compared: call ? comparison(reading) : null,
    denied_before: facts.deniedBefore,
    quorum_needed: ticket.quorumNeeded,
    votes: votesOf(caller, reading),
    earlier_decisions: reading.decided.slice(0, 4).map((it) => earlierDecision(caller, it)),
    earlier_calls: reading.earlierCalls.map((it) => ({
      call_ref: it.callRef,
      action: it.action,
      effect: effectOf(it.args, it.target),
      status: it.status,
      outcome: it.outcome,
      at_ms: msOf(it.at),
      result_preview: it.result,
    })),
    earlier_calls_count: reading.earlierCount,
    last_messages: reading.messages.map((it) => ({
      seq: it.seq,
      role: it.role,
      text: it.text,
      bytes: it.bytes,
      at_ms: msOf(it.at),
    })),
    who_may_decide: reading.deciders
      .filter((it) => it.person !== caller.person)
      .map(({ person, name, role }) => ({ person, name, role })),
    more_may_decide: Math.max(0, (reading.deciders[0]?.inAll ?? 0) - reading.deciders.length),
    late_verdicts: reading.late.map((it) => ({ verdict: it.verdict, actor: it.actor, at_ms: msOf(it.at) })),
    closed_by: closedBy(caller, reading),
    may: rightsOf(caller, reading),
  };
}

function at(moment: Instant | null): number | null {
  return moment === null ? null : msOf(moment);
}

function worksFor({ book }: TicketPageReading): TicketPage["works_for"] {
  const origin = book.run.delegation;
  return origin && { run_id: origin.parent_run_id, call_ref: origin.parent_call_ref };
}

function callOf({ book, call, facts, siblings }: TicketPageReading): TicketPage["call"] {
  if (call === null) return null;
  return {
    call_ref: call.callRef,
    step: call.step,
    index: call.batchIndex,
    of: facts.batchSize,
    mode: facts.mode ?? "parallel",
    coupling: facts.coupling ?? "independent",
    siblings: siblings.map((it) => ({
      call_ref: it.callRef,
      action: it.action,
      effect: effectOf(it.args, it.target),
      status: it.status,
      outcome: it.outcome,
      ticket_id: it.ticketId,
    })),
    status: call.status,
    outcome: call.outcome,
    effective_class: call.effectiveClass,
    on_deny: call.onDeny,
    resume_mode: call.resumeMode,
    executor: book.run.executor,
    executable: book.run.executor !== "worker" || canExecute(call.action, facts.provider),
  };
}

function agentOf({ book, ticket, call, facts }: TicketPageReading): TicketPage["agent"] {
  return {
    name: book.run.agent,
    last_seen_ms: at(facts.agentSeen),
    provider: facts.provider,
    model: facts.model,
    mcp_server: call?.mcpServer ?? null,
    snapshot_id: ticket.snapshotId,
    catalog_fingerprint: ticket.catalogFingerprint,
    catalog_changed: facts.catalogChanged,
  };
}

/** Against the last allowed one, else the last decided; new values against all that were decided in 90 days. */
function comparison({ call, decided, now }: TicketPageReading): Comparison | null {
  const last = decided.find((it) => it.verdict === "allow") ?? decided[0];
  if (call === null || last === undefined) return null;
  const text = (it: { action: string; args: string; target: string }) =>
    proposalText(it.action, it.args as CanonicalJson, it.target as CanonicalJson);
  return {
    ticket_id: last.ticketId,
    verdict: last.verdict,
    at_ms: msOf(last.at),
    proposal_text: text(last),
    calls_read: decided.length,
    since_ms: msOf(decided.at(-1)?.at ?? now),
    novel: noveltiesOf(text(call), decided.map(text)),
  };
}

function earlierDecision(caller: Caller, it: DecidedRecord): EarlierDecision {
  return {
    ticket_id: it.ticketId,
    verdict: it.verdict,
    actor: it.actor,
    at_ms: msOf(it.at),
    by_reader: it.person !== null && it.person === caller.person,
    reason: it.reason,
    effect: effectOf(it.args, it.target),
  };
}

function votesOf(caller: Caller, { ticket, votes }: TicketPageReading): TicketPage["votes"] {
  // A single vote that settled is the decision itself, told in its own place.
  if (ticket.quorumNeeded < 2) return [];
  return votes.map((it) => ({
    person: it.name ?? "the command line",
    verdict: it.verdict,
    at_ms: msOf(it.at),
    by_reader: it.person !== null && it.person === caller.person,
  }));
}

const VERDICTS: readonly Verdict[] = ["allow", "deny", "answer", "continue"];

function closedBy(caller: Caller, { ticket, votes, facts }: TicketPageReading): ClosedBy | null {
  if (ticket.closedByKind === null || ticket.closedAt === null) return null;
  const settling = votes.at(-1);
  return {
    kind: ticket.closedByKind,
    actor: ticket.closedByActor,
    verdict: VERDICTS.find((verdict) => verdict === ticket.closedByVerdict) ?? null,
    at_ms: msOf(ticket.closedAt),
    reason: facts.closedReason,
    by_reader: ticket.closedByKind === "decision" && settling?.person != null && settling.person === caller.person,
    successor_ticket_id: ticket.successor,
  };
}

/** What the page offers. The store judges again, whatever is offered here. */
function rightsOf(caller: Caller, { ticket, facts }: TicketPageReading): TicketPage["may"] {
  const verb = ticket.kind === "pause" ? "answer_pause" : "decide";
  const own =
    ticket.kind !== "pause" &&
    (facts.onBehalfOf === caller.person || facts.openedBy === caller.person) &&
    caller.person !== null;
  const elsewhere = !isOfferedToPeople(ticket);
  const refusal = elsewhere || may(caller, verb) === "no" ? "not_permitted" : own ? "self_approval" : null;
  return {
    decide: refusal === null && ticket.status === "open" && ticket.expiredAt === null,
    decide_refusal: refusal,
    operate: may(caller, "replace_ticket") === "yes",
  };
}
