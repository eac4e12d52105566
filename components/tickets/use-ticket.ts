"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { readConsole } from "@/components/console/read";
import { serverNow } from "@/components/console/server-clock";
import type { TicketPage } from "@/lib/protocol/console-view";
import { type VerifiedView, verifyView } from "./verify-view";

/** A token names when its view was shown; one that nears its end is exchanged for the newer one of the same view. */
const TOKEN_KEPT_MS = 10 * 60_000;

export interface ShownTicket {
  readonly page: TicketPage;
  readonly verified: VerifiedView;
  readonly viewToken: string;
  /** The committed view is no longer the one that is drawn. */
  readonly newer: { readonly page: TicketPage; readonly verified: VerifiedView } | null;
  readonly showNewer: () => void;
}

export function useTicketQuery(ticketId: string) {
  return useQuery({
    queryKey: ["ticket", ticketId],
    queryFn: ({ signal }) => readConsole<TicketPage>(`/console/tickets/${encodeURIComponent(ticketId)}`, signal),
  });
}

/**
 * The ticket as it is drawn. An open ticket's view never changes under the reader: a new revision is offered, not swapped in.
 * What stands outside the view (votes, the call's state, how it was closed) follows the committed rows at once.
 */
export function useShownTicket(fresh: TicketPage): ShownTicket {
  const [drawn, setDrawn] = useState(fresh);
  const isSameView = drawn.view_text === fresh.view_text || drawn.ticket_id !== fresh.ticket_id;
  const base = isSameView || fresh.status !== "open" ? fresh : drawn;
  const verified = useMemo(
    () => verifyView(base.view_text, base.ticket_id, base.proposal_hash),
    [base.view_text, base.ticket_id, base.proposal_hash],
  );
  const newer = useMemo(
    () =>
      base === fresh
        ? null
        : { page: fresh, verified: verifyView(fresh.view_text, fresh.ticket_id, fresh.proposal_hash) },
    [base, fresh],
  );
  const viewToken = useFirstToken(base, verified.viewDigest);
  return { page: base, verified, viewToken, newer, showNewer: () => setDrawn(fresh) };
}

/** The token that came with the first sight of this view: a later one would make a patient reader look too fast. */
function useFirstToken(page: TicketPage, viewDigest: string): string {
  const kept = useRef({ digest: "", token: "", since: 0 });
  const isAnother = kept.current.digest !== viewDigest;
  if (isAnother || serverNow() - kept.current.since > TOKEN_KEPT_MS) {
    kept.current = { digest: viewDigest, token: page.view_token, since: serverNow() };
  }
  return kept.current.token;
}
