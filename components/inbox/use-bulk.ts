"use client";

import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useActions } from "@/components/console/actions";
import { useAnnounce } from "@/components/console/live-region";
import { readConsole } from "@/components/console/read";
import { isLong } from "@/components/tickets/field-value";
import { READING_MS } from "@/components/tickets/use-view-settled";
import { type VerifiedView, verifyView } from "@/components/tickets/verify-view";
import type { BulkDecisions, DecisionAnswer, TicketPage } from "@/lib/protocol/console-view";
import { findings, hiddenCount } from "@/lib/protocol/proposal-fields";

/** One chosen ticket: read whole and hashed here, or kept out with the reason. */
export interface BulkItem {
  readonly ticketId: string;
  readonly page: TicketPage | null;
  readonly verified: VerifiedView | null;
  /** Why it cannot be decided from a list; it has a page of its own for that. */
  readonly keptOut: string | null;
}

/** Each chosen ticket is read whole: what is decided together is verified one by one. */
export function useBulkItems(ticketIds: readonly string[]): readonly BulkItem[] {
  const results = useQueries({
    queries: ticketIds.map((ticketId) => ({
      queryKey: ["ticket", ticketId],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readConsole<TicketPage>(`/console/tickets/${encodeURIComponent(ticketId)}`, signal),
    })),
  });
  return ticketIds.map((ticketId, index) => {
    const page = results[index]?.data ?? null;
    if (page === null)
      return { ticketId, page, verified: null, keptOut: results[index]?.isError ? "could not be read" : null };
    const verified = verifyView(page.view_text, page.ticket_id, page.proposal_hash);
    return { ticketId, page, verified, keptOut: keptOut(page, verified) };
  });
}

function keptOut(page: TicketPage, verified: VerifiedView): string | null {
  if (page.status !== "open") return "no longer open";
  if (page.expired_ms !== null) return "expired";
  if (!page.may.decide) return "not yours to decide";
  if (!verified.ok) return "not verified";
  if (page.risk === "high") return "high risk: one by one";
  if (hiddenCount(findings(verified.fields)) > 0) return "hidden text: read it";
  return verified.fields.some(isLong) ? "long: read it" : null;
}

export type BulkState =
  | { readonly kind: "calm" }
  | { readonly kind: "sending" }
  | { readonly kind: "failed" }
  | { readonly kind: "answered"; readonly verdict: "allow" | "deny"; readonly answer: BulkDecisions };

export interface Bulk {
  readonly state: BulkState;
  readonly settled: boolean;
  readonly send: (verdict: "allow" | "deny", reason: string) => void;
  readonly answerOf: (ticketId: string) => DecisionAnswer | null;
}

/** One server action with the exact list; each item keeps its click id until it was answered, so that a resend counts once. */
export function useBulk(items: readonly BulkItem[]): Bulk {
  const [state, setState] = useState<BulkState>({ kind: "calm" });
  const { decideMany } = useActions();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const clicks = useRef(new Map<string, string>());
  const busy = useRef(false);
  const key = items.map((item) => `${item.ticketId}:${item.verified?.viewDigest ?? ""}`).join(" ");
  const settled = useSettled(key);

  const transmit = async (verdict: "allow" | "deny", reason: string) => {
    setState({ kind: "sending" });
    try {
      const answer = await decideMany({
        verdict,
        reason: reason.trim() || null,
        items: requestItems(items, verdict, clicks.current),
      });
      if (!answer.ok) {
        setState({ kind: "failed" });
        return;
      }
      clicks.current.clear();
      setState({ kind: "answered", verdict, answer });
      const done = answer.items.filter((item) => item.answer.ok).length;
      announce(`${done} of ${answer.items.length} ${verdict === "allow" ? "allowed" : "denied"}.`);
    } catch {
      setState({ kind: "failed" });
    } finally {
      busy.current = false;
      for (const item of items) void queries.invalidateQueries({ queryKey: ["ticket", item.ticketId] });
      void queries.invalidateQueries({ queryKey: ["inbox"] });
    }
  };
  const send = (verdict: "allow" | "deny", reason: string) => {
    if (busy.current || !settled) return;
    busy.current = true;
    void transmit(verdict, reason);
  };
  const answerOf = (ticketId: string) =>
    state.kind === "answered" ? (state.answer.items.find((item) => item.ticket_id === ticketId)?.answer ?? null) : null;
  return { state, settled, send, answerOf };
}

function requestItems(items: readonly BulkItem[], verdict: string, clicks: Map<string, string>) {
  return items.flatMap(({ ticketId, page, verified, keptOut: reason }) => {
    if (page === null || verified === null || reason !== null) return [];
    // Another verdict on the same ticket is another intention.
    const name = `${ticketId}:${verdict}`;
    const click = clicks.get(name) ?? crypto.randomUUID();
    clicks.set(name, click);
    return [{ ticket_id: ticketId, view_digest: verified.viewDigest, view_token: page.view_token, click_id: click }];
  });
}

/** The list must have stood still before it may be decided, as a ticket must have. */
function useSettled(key: string): boolean {
  const [settledKey, setSettledKey] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettledKey(key), READING_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settledKey === key;
}
