import { describe, expect, test } from "vitest";
import { callRef } from "./call";
import { sha256Hex } from "./hash";
import { closedByJson, mayTicketMove, TICKET_STATUSES, TICKET_TRANSITIONS, ticketView, viewDigest } from "./ticket";

const facts = {
  workspace_id: "workspace-1",
  ticket_id: "ticket-1",
  revision: 1,
  correlation_id: "correlation-1",
  agent: "writer",
  run_id: "run-1",
  call_ref: callRef(1, 0),
  proposal: { action: "write_draft", args: { content: "x" }, output: "/tmp/x" },
  proposal_hash: sha256Hex("x"),
  sealed: [],
  rule: { id: "r1", version: 3 },
  deadline_ms: null,
  risk: "low",
  catalog_fingerprint: "f",
} as const;

describe("a ticket", () => {
  test("moves once, from open, and never again", () => {
    for (const from of TICKET_STATUSES) {
      for (const to of TICKET_STATUSES) expect(mayTicketMove(from, to)).toBe(from === "open" && to !== "open");
    }
    expect(Object.keys(TICKET_TRANSITIONS)).toEqual(TICKET_STATUSES);
  });

  test("tells how it was closed, with nothing that is not known", () => {
    expect(closedByJson({ kind: "expiry", at: "t" })).toEqual({ kind: "expiry", at: "t" });
    const replaced = { kind: "replaced", actor: "Ada", verdict: "allow", at: "t", successor_ticket_id: "t2" } as const;
    expect(closedByJson(replaced)).toEqual(replaced);
  });
});

describe("the view of a ticket", () => {
  test("has exactly the contract's fields, whatever the row behind it holds", () => {
    const row = {
      ...facts,
      votes: 3,
      assignee: "Ada",
      proposal: { ...facts.proposal, secret: 1 },
      rule: { ...facts.rule, text: "t" },
    };
    expect(ticketView(row)).toEqual({ v: 1, kind: "ticket_view", ...facts });
    expect(viewDigest(ticketView(row))).toBe(viewDigest(ticketView(facts)));
  });

  test("has another digest as soon as any field differs", () => {
    const changed: Readonly<Record<keyof typeof facts, unknown>> = {
      workspace_id: "workspace-2",
      ticket_id: "ticket-2",
      revision: 2,
      correlation_id: "correlation-2",
      agent: "reader",
      run_id: "run-2",
      call_ref: null,
      proposal: { ...facts.proposal, output: null },
      proposal_hash: sha256Hex("y"),
      sealed: ["args.content"],
      rule: null,
      deadline_ms: 1,
      risk: "high",
      catalog_fingerprint: "g",
    };
    const digests = Object.entries(changed).map(([name, value]) => viewDigest(ticketView({ ...facts, [name]: value })));
    expect(new Set([viewDigest(ticketView(facts)), ...digests]).size).toBe(digests.length + 1);
  });
});
