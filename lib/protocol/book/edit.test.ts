import { describe, expect, test } from "vitest";
import {
  A,
  ALLOW,
  aCall,
  answer,
  attemptOn,
  B,
  beginning,
  codeOf,
  DENY,
  next,
  parked,
  SOMEBODY,
  ticketOf,
  types,
} from "@/lib/protocol/fixtures/book";
import { callRef } from "../call";
import { canonicalJson, type JsonValue } from "../canonical-json";
import { DEFAULT_POLICY, type Policy } from "../permission-rule";
import { proposalHash } from "../proposal";
import { begin } from "./begin";
import type { Book } from "./book";
import { decide } from "./decide";
import type { TicketFacts } from "./facts";
import { propose } from "./propose";

/** The same run with its ticket's row as another hand left it. */
function withTicket(book: Book, patch: Partial<TicketFacts>): Book {
  return next(book, 0, { tickets: book.tickets().map((ticket) => ({ ...ticket, ...patch })) });
}

const E1 = callRef(1, 0, 1);
const editable = (over: Parameters<typeof aCall>[0] = {}) => aCall({ resumeMode: "pass_decision_to_tool", ...over });
const withArgs = (payload: JsonValue) => ({ kind: "permission", decision: "allow", payload }) as const;
const LESS = { amount: 0.5 };
const DENIES: Policy = { ...DEFAULT_POLICY, default: "deny" };

describe("an allow with other arguments", () => {
  test("closes the old call and its ticket, and approves the new act under its own hash and ticket", () => {
    const book = parked([editable()], {}, { executor: "worker" });
    const old = ticketOf(book);
    expect(answer(book, A, { ...withArgs(LESS), note: "half of it" })).toMatchObject({
      value: { settles: true, verdict: "allow", call: E1 },
    });
    const hash = proposalHash("send_money", canonicalJson(LESS), book.call(A).target);
    const ticket = ticketOf(book, E1);
    expect(book.call(A)).toMatchObject({ outcome: "cancelled", outcomeCause: "replaced_by" });
    expect(book.ticketAt(old.id)).toMatchObject({
      status: "superseded",
      closedByKind: "replaced",
      successor: ticket.id,
    });
    expect(book.call(E1)).toMatchObject({
      status: "approved",
      editNo: 1,
      args: canonicalJson(LESS),
      proposalHash: hash,
      note: "half of it",
      result: null,
      authorisation: { by: "person", requestId: ticket.correlationId, hash },
    });
    expect(ticket).toMatchObject({ status: "answered", supersedes: old.id });
    expect(book.decisions).toMatchObject([
      { ticketId: ticket.id, approvalHash: hash, verdict: "allow", result: undefined },
    ]);
    expect(types(book)).toEqual([
      "state_transition",
      "proposal_recorded",
      "ticket_superseded",
      "proposal_verified",
      "approval_recorded",
    ]);
    expect(book.jobs).toEqual([{ dedupeKey: `resume:${ticket.id}`, ticketId: ticket.id }]);
    expect(book.state).toBe("running");
  });

  test("lets exactly the new act begin; the old one says what stands in its place", () => {
    const book = next(parked([editable()]));
    answer(book, A, withArgs(LESS));
    const after = next(book);
    expect(begin(after, A, beginning(after, A))).toMatchObject({
      refusal: { code: "call_cancelled", facts: { cause: "replaced_by", replaced_by: E1 } },
    });
    const asBefore = beginning(after, E1, { args: canonicalJson({ amount: 1 }) });
    expect(codeOf(begin(after, E1, asBefore))).toBe("proposal_hash_mismatch");
    expect(codeOf(begin(after, E1, beginning(after, E1)))).toBe("ok");
  });

  test("that are the proposed ones is an allow and no edit", () => {
    const book = parked([editable()]);
    expect(answer(book, A, withArgs({ amount: 1 }))).toMatchObject({ value: { call: A } });
    expect(book.call(A)).toMatchObject({ status: "approved", editNo: 0, result: null });
    expect(codeOf(begin(next(book), A, beginning(next(book))))).toBe("ok");
  });

  test("and none at all is refused, as is a payload that its schema does not take; a deny needs none", () => {
    const schema = { type: "object", required: ["amount"] };
    const book = parked([aCall({ resumeMode: "pass_decision_to_tool" }, { schema })]);
    for (const result of [ALLOW, withArgs({ sum: 1 })])
      expect(codeOf(answer(book, A, result))).toBe("result_kind_mismatch");
    expect(codeOf(answer(book, A, DENY))).toBe("ok");
  });

  test("that the policy denies by now are blocked, under no ticket", () => {
    const book = next(parked([editable()], {}, { executor: "worker" }), 0, { policy: DENIES });
    expect(codeOf(answer(book, A, withArgs(LESS)))).toBe("ok");
    expect(book.call(E1)).toMatchObject({ outcome: "blocked", outcomeCause: "rule" });
    expect(book.newestTicketOf(E1)).toBeUndefined();
    expect([book.openTickets(), book.decisions, book.jobs.length]).toEqual([[], [], 1]);
  });

  test("where two people are asked for is not yet an allow: the new act waits for both", () => {
    const asked = withTicket(parked([editable()]), { quorumNeeded: 2 });
    expect(answer(asked, A, withArgs(LESS))).toMatchObject({ value: { settles: false, needed: 2 } });
    expect(asked.call(E1)).toMatchObject({ status: "awaiting" });
    expect(ticketOf(asked, E1)).toMatchObject({ status: "open", quorumNeeded: 2 });
  });

  test("44: in a sequential batch the queued call stays queued until the edited one is over", () => {
    const book = parked([editable(), aCall()], { mode: "sequential" });
    answer(book, A, withArgs(LESS));
    expect(book.call(B).status).toBe("queued");
    const after = next(book);
    expect(codeOf(begin(after, E1, beginning(after, E1)))).toBe("ok");
    expect(after.call(B).status).toBe("queued");
  });

  test("does not take its siblings along where all stand or fall together", () => {
    const book = parked([editable(), aCall()], { coupling: "all_or_nothing" });
    answer(book, A, withArgs(LESS));
    expect(book.call(B).status).toBe("awaiting");
  });

  test("is what the recorded step answers with when its agent sends it again", () => {
    const calls = [editable()];
    const book = parked(calls);
    answer(book, A, withArgs(LESS));
    const after = next(book);
    const step = { step: 1, mode: "parallel", coupling: "independent", state: null, messages: 0, calls } as const;
    const recorded = after.batch(1);
    const again = propose(
      after,
      { ...step, contentHash: recorded.contentHash },
      { recorded, highest: 1, deniedBefore: new Map(), deniedLimit: 3 },
    );
    expect(again).toMatchObject({ value: { fromRecord: true, calls: [{ call: E1, verdict: "allowed" }] } });
  });
});

describe("an act of our own that is edited", () => {
  const file = (path: string, content = "x") => ({ path, content });
  const ours = editable({
    action: "write_file",
    args: canonicalJson(file("/out/a.txt")),
    target: canonicalJson("/out/a.txt"),
    effectiveClass: "create_new",
  });

  test("has the target that its new arguments name", () => {
    const book = parked([ours], {}, { executor: "worker" });
    answer(book, A, withArgs(file("/out/b.txt")));
    expect(book.call(E1)).toMatchObject({ target: '"/out/b.txt"', effectiveClass: "create_new" });
  });

  test("keeps its target where they name none, and is refused where they name none that it can have", () => {
    const book = parked([ours], {}, { executor: "worker" });
    expect(answer(book, A, withArgs(file("b.txt")))).toMatchObject({
      refusal: { code: "invalid_output", path: "payload.path" },
    });
    expect(book.call(A).status).toBe("awaiting");
    answer(book, A, withArgs({ content: "y" }));
    expect(book.call(E1).target).toBe('"/out/a.txt"');
  });

  test("may be repeated only as its new arguments allow", () => {
    const url = "https://api.example.test/orders";
    const call = editable({
      action: "http_request",
      args: canonicalJson({ url, method: "GET" }),
      target: canonicalJson(url),
      effectiveClass: "read_only",
    });
    const book = parked([call], {}, { executor: "worker" });
    answer(book, A, withArgs({ url, method: "POST" }));
    expect(book.call(E1).effectiveClass).toBe("idempotency_key");
  });
});

test("23: whoever edits an act answers for it, and nobody edits their own", () => {
  const book = parked([editable()], {}, { openedByPerson: "person-1" });
  expect(codeOf(answer(book, A, withArgs(LESS)))).toBe("self_approval");
  const ticket = ticketOf(book);
  const other = decide(book, ticket.id, attemptOn(book, ticket, withArgs(LESS)), { ...SOMEBODY, person: "person-2" });
  expect(codeOf(other)).toBe("ok");
});
