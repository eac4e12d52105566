"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { useActions } from "@/components/console/actions";
import { useAnnounce } from "@/components/console/live-region";
import { serverNow } from "@/components/console/server-clock";
import type { DecisionAnswer, DecisionRequest, Verdict } from "@/lib/protocol/console-view";

export type DecisionState =
  | { readonly kind: "calm" }
  | { readonly kind: "armed"; readonly sinceMs: number }
  | { readonly kind: "sending"; readonly verdict: Verdict }
  | { readonly kind: "unsent"; readonly request: DecisionRequest }
  | { readonly kind: "answered"; readonly verdict: Verdict; readonly sentMs: number; readonly answer: DecisionAnswer };

export interface Decision {
  readonly state: DecisionState;
  readonly arm: () => void;
  readonly disarm: () => void;
  readonly send: (verdict: Verdict, reason: string | null, answer: string | null) => void;
  /** The same click again, with its own id: the server answers as it did the first time. */
  readonly resend: () => void;
  readonly forget: () => void;
}

interface Target {
  readonly ticketId: string;
  readonly viewDigest: string;
  readonly viewToken: string;
}

/** One gesture, one decision: while one is on its way, and after it was answered, no other leaves this page. */
export function useDecision(target: Target): Decision {
  const [state, setState] = useState<DecisionState>({ kind: "calm" });
  const busy = useRef(false);
  const { decide } = useActions();
  const queries = useQueryClient();
  const announce = useAnnounce();

  const transmit = useCallback(
    async (request: DecisionRequest) => {
      const sentMs = serverNow();
      setState({ kind: "sending", verdict: request.verdict });
      try {
        const answer = await decide(request);
        setState({ kind: "answered", verdict: request.verdict, sentMs, answer });
        announce(spoken(answer));
      } catch {
        // The answer was lost, not the decision: nobody knows yet, and the page says so.
        setState({ kind: "unsent", request });
      } finally {
        busy.current = false;
        await queries.invalidateQueries({ queryKey: ["ticket", request.ticket_id] });
      }
    },
    [decide, queries, announce],
  );

  const { ticketId, viewDigest, viewToken } = target;
  const send = useCallback(
    (verdict: Verdict, reason: string | null, answer: string | null) => {
      if (busy.current) return;
      busy.current = true;
      void transmit({
        ticket_id: ticketId,
        view_digest: viewDigest,
        view_token: viewToken,
        verdict,
        reason: reason?.trim() ? reason.trim() : null,
        answer,
        click_id: crypto.randomUUID(),
      });
    },
    [transmit, ticketId, viewDigest, viewToken],
  );

  const resend = useCallback(() => {
    if (busy.current || state.kind !== "unsent") return;
    busy.current = true;
    void transmit(state.request);
  }, [transmit, state]);

  const arm = useCallback(
    () => setState((now) => (now.kind === "calm" ? { kind: "armed", sinceMs: performance.now() } : now)),
    [],
  );
  const disarm = useCallback(() => setState((now) => (now.kind === "armed" ? { kind: "calm" } : now)), []);
  const forget = useCallback(() => setState({ kind: "calm" }), []);
  return { state, arm, disarm, send, resend, forget };
}

function spoken(answer: DecisionAnswer): string {
  if (!answer.ok) return `${answer.refusal.title}. Nothing was decided.`;
  if (!answer.settled) return `Recorded, ${answer.votes} of ${answer.needed}.`;
  return { allow: "Allowed", deny: "Denied", answer: "Answered", continue: "Continued" }[answer.verdict];
}
