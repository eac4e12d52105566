import type { TicketFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, type JsonValue } from "@/lib/protocol/canonical-json";
import type { DelegationOrigin } from "@/lib/protocol/run";

type Plain = Omit<TicketFacts, "schema" | "options" | "delegation" | "kind" | "reason">;

export interface TicketRow extends Plain {
  readonly targetKind: TicketFacts["kind"];
  readonly targetReason: TicketFacts["reason"];
  readonly schema: string | null;
  readonly options: string | null;
  readonly delegationOrigin: string | null;
}

export function ticketFacts(row: TicketRow): TicketFacts {
  const { targetKind, targetReason, schema, options, delegationOrigin, ...plain } = row;
  return {
    ...plain,
    kind: targetKind,
    reason: targetReason,
    schema: schema === null ? null : stored(schema),
    options: options === null ? null : stored(options),
    delegation: readOrigin(delegationOrigin),
  };
}

export function readOrigin(text: string | null): DelegationOrigin | null {
  return text === null ? null : (stored(text) as unknown as DelegationOrigin);
}

export function newTicketRow(workspaceId: string, run: string, ticket: TicketFacts) {
  return {
    workspaceId,
    id: ticket.id,
    run,
    correlationId: ticket.correlationId,
    callRef: ticket.callRef,
    targetKind: ticket.kind,
    targetReason: ticket.reason,
    toolId: ticket.toolId,
    snapshotId: ticket.snapshotId,
    catalogFingerprint: ticket.catalogFingerprint,
    delegationOrigin: ticket.delegation === null ? null : canonicalJson({ ...ticket.delegation }),
    revision: ticket.revision,
    supersedes: ticket.supersedes,
    openedAt: ticket.openedAt,
    deadlineMs: ticket.deadlineMs,
    onExpiry: ticket.onExpiry,
    allowValidMs: ticket.allowValidMs,
    undoMs: ticket.undoMs,
    quorumNeeded: ticket.quorumNeeded,
    prompt: ticket.prompt,
    schema: textOrNull(ticket.schema),
    options: textOrNull(ticket.options),
    risk: ticket.risk,
    onDeny: ticket.onDeny,
    ruleId: ticket.ruleId,
    ruleVersion: ticket.ruleVersion,
  };
}

export function ticketChanges(ticket: TicketFacts) {
  return {
    status: ticket.status,
    revision: ticket.revision,
    expiredAt: ticket.expiredAt,
    closedByKind: ticket.closedByKind,
    closedByActor: ticket.closedByActor,
    closedByVerdict: ticket.closedByVerdict,
    closedAt: ticket.closedAt,
  };
}

function textOrNull(value: JsonValue): string | null {
  return value === null ? null : canonicalJson(value);
}
