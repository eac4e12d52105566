import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { serverSettings } from "./env";

/** What a view token stands for: this revision of this ticket was shown to this person, in this session. */
export interface ShownView {
  readonly ticketId: string;
  readonly revision: number;
  readonly person: string;
  readonly session: string;
}

/** A view older than this is no longer taken as one that was just read. */
const VALID_MS = 12 * 3_600_000;

export function issueViewToken(view: ShownView, nowMs: number): string {
  return `${nowMs}.${seal(view, nowMs)}`;
}

/** For how long the view had been shown when it was decided; null for a token that is foreign, forged or stale. */
export function shownForMs(token: string, view: ShownView, nowMs: number): number | null {
  const parts = /^(\d{13})\.([A-Za-z0-9_-]{43})$/.exec(token);
  if (!parts) return null;
  const issuedMs = Number(parts[1]);
  const given = Buffer.from(parts[2] ?? "");
  const expected = Buffer.from(seal(view, issuedMs));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const shown = nowMs - issuedMs;
  return shown > VALID_MS ? null : shown;
}

function seal(view: ShownView, issuedMs: number): string {
  const facts = JSON.stringify([
    "ticket_view_token",
    view.ticketId,
    view.revision,
    view.person,
    view.session,
    issuedMs,
  ]);
  return createHmac("sha256", serverSettings().authSecret).update(facts).digest("base64url");
}
