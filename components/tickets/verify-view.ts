import { canonicalJson, isObject, type JsonObject, readJson } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import { readDrawn } from "@/lib/protocol/json-lines";
import { type ProposalField, proposalFields, readDrawnFields } from "@/lib/protocol/proposal-fields";

/** What this browser made of the view it was given. Nothing may be allowed unless `ok`. */
export interface VerifiedView {
  readonly ok: boolean;
  readonly view: JsonObject | null;
  readonly viewDigest: string;
  readonly proposalText: string;
  /** Of what is drawn here. */
  readonly hash: string;
  /** As the view names it. */
  readonly storedHash: string;
  readonly fields: readonly ProposalField[];
}

const VIEW_LIMITS = { maxDepth: 256, maxKeys: Number.MAX_SAFE_INTEGER };

/** Recompute the proposal's hash and the view's digest from the view's text alone. */
export function verifyView(viewText: string, ticketId: string, expectedHash: string): VerifiedView {
  const read = readJson(viewText, VIEW_LIMITS);
  const view = read.ok && isObject(read.value) ? read.value : null;
  const proposal = view?.proposal;
  const proposalText = proposal === undefined ? "" : canonicalJson(proposal);
  const fields = proposalFields(proposalText);
  const hash = sha256Hex(proposalText);
  const storedHash = typeof view?.proposal_hash === "string" ? view.proposal_hash : "";
  const ok =
    view !== null &&
    fields !== null &&
    view.kind === "ticket_view" &&
    view.ticket_id === ticketId &&
    canonicalJson(view) === viewText &&
    hash === storedHash &&
    hash === expectedHash;
  return { ok, view, viewDigest: sha256Hex(viewText), proposalText, hash, storedHash, fields: fields ?? [] };
}

/**
 * Hash what stands on the page: read the frame's own text back, fields or raw. Null while anything in it is folded,
 * or when the text is no proposal.
 */
export function hashOfDrawn(frame: HTMLElement): string | null {
  if (frame.querySelector("[data-folded]") !== null) return null;
  const raw = frame.querySelector("[data-raw]");
  if (raw !== null) return sha256Hex(readDrawn(raw.textContent ?? ""));
  const drawn = [...frame.querySelectorAll("[data-field]")].map((field) => ({
    path: field.querySelector("[data-path]")?.textContent ?? "",
    value: field.querySelector("[data-value]")?.textContent ?? "",
  }));
  const text = readDrawnFields(drawn);
  return text === null ? null : sha256Hex(text);
}
