import "server-only";
import { readTicketView } from "@/db/queries/ticket-view";
import { type Decided, decideTicket } from "@/db/store/decide";
import type { Done } from "@/db/store/visit";
import { canonicalJson, readJson } from "@/lib/protocol/canonical-json";
import type {
  BulkDecisionRequest,
  BulkDecisions,
  DecisionAnswer,
  DecisionRequest,
  Facts,
  ShownRefusal,
} from "@/lib/protocol/console-view";
import { sha256Hex } from "@/lib/protocol/hash";
import { msOf } from "@/lib/protocol/instant";
import type { Caller } from "@/lib/protocol/principal";
import { type Refusal, refusal, refusalRule } from "@/lib/protocol/refusals";
import type { ResumeResult } from "@/lib/protocol/resume-command";
import { ok, type Result, refuse } from "@/lib/result";
import { database } from "./database";
import { log } from "./log";
import { shownForMs } from "./view-token";

type Settled = Extract<DecisionAnswer, { ok: true }>;

/**
 * A person's verdict from the console. The browser names the ticket, the view it drew and the verdict; everything else is read from
 * the committed ticket. A view that was not shown to this person, in this session, in its present revision, is a stale one.
 */
export async function decideFromConsole(caller: Caller, request: DecisionRequest): Promise<Result<Settled, Refusal>> {
  const db = await database();
  const result = resultOf(request);
  if (!result.ok) return result;
  const view = await readTicketView(db, caller.workspace, request.ticket_id);
  const shown =
    view &&
    shownForMs(
      request.view_token,
      {
        ticketId: view.ticket_id,
        revision: view.revision,
        person: caller.person ?? "",
        session: caller.credential ?? "",
      },
      Date.now(),
    );
  const outcome = await decideTicket(db, caller, request.ticket_id, {
    decisionId: request.click_id,
    bodySha256: sha256Hex(
      canonicalJson({
        answer: request.answer,
        reason: request.reason,
        ticket_id: request.ticket_id,
        verdict: request.verdict,
      }),
    ),
    result: result.value,
    proposalHash: view?.proposal_hash ?? "",
    // Unproved reading counts as a view of nothing: the store refuses it as stale, and keeps the refusal.
    viewDigest: shown === null ? "" : request.view_digest,
    seenForMs: shown ?? null,
  });
  return outcome.ok ? ok(settledAnswer(outcome.value)) : outcome;
}

/** One list, each item its own transaction and its own answer: one that fails does not take the others along. */
export async function decideManyFromConsole(caller: Caller, request: BulkDecisionRequest): Promise<BulkDecisions> {
  const items: BulkDecisions["items"][number][] = [];
  for (const item of request.items) {
    const answer = await oneOfMany(caller, { ...item, verdict: request.verdict, reason: request.reason, answer: null });
    items.push({ ticket_id: item.ticket_id, answer });
  }
  return { items };
}

async function oneOfMany(caller: Caller, request: DecisionRequest): Promise<DecisionAnswer> {
  try {
    const outcome = await decideFromConsole(caller, request);
    return outcome.ok ? outcome.value : { ok: false, refusal: shownRefusal(outcome.refusal) };
  } catch (cause) {
    log.error({ err: cause, ticket: request.ticket_id }, "one of several decisions failed");
    return { ok: false, refusal: shownRefusal(refusal("busy")) };
  }
}

export function shownRefusal({ code, facts }: Refusal): ShownRefusal {
  const { title, advice } = refusalRule(code);
  return { code, title, advice, facts: (facts ?? {}) as Facts };
}

/** Closed by its switch: a verdict that is not known never becomes one that is. */
function resultOf({ verdict, reason, answer }: DecisionRequest): Result<ResumeResult, Refusal> {
  switch (verdict) {
    case "allow": {
      const payload = answer === null ? null : readJson(answer);
      if (payload && !payload.ok) return refuse(refusal("invalid_body"));
      return ok({
        kind: "permission",
        decision: "allow",
        ...(reason === null ? {} : { note: reason }),
        ...(payload === null ? {} : { payload: payload.value }),
      });
    }
    case "deny":
      return ok({ kind: "permission", decision: "deny", ...(reason === null ? {} : { reason }) });
    case "continue":
      return ok({ kind: "continue" });
    case "answer": {
      const read = readJson(answer ?? "");
      return read.ok ? ok({ kind: "input", input: read.value }) : refuse(refusal("invalid_body"));
    }
  }
}

function settledAnswer({ value, traceSeq, runId }: Done<Decided>): Settled {
  if (value.open !== null) return { ok: true, settled: false, votes: value.open.votes, needed: value.open.needed };
  return {
    ok: true,
    settled: true,
    verdict: value.verdict as DecisionRequest["verdict"],
    actor: value.by,
    at_ms: msOf(value.at),
    trace_seq: traceSeq,
    run_id: runId,
  };
}
