import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AWAIT_RULES, pauseTarget, remoteInputTarget, toolCallTarget } from "./await-target";
import { callRef, type ResumeMode } from "./call";
import type { JsonValue } from "./canonical-json";
import { clientTicket, openStanding, permissionTicket, questionTicket } from "./fixtures/standing";
import { ResumeCommand, type ResumeResult } from "./resume-command";
import type { ResumeTicket } from "./ticket";
import { asC12Code, type TicketStanding, validateResume } from "./validate-resume";

const allow: ResumeResult = { kind: "permission", decision: "allow" };
const closed = { kind: "decision", actor: "Ada", verdict: "allow", at: "2026-01-02T03:04:05.000000Z" } as const;
const ended = { cause: "cancelled", code: null, by: "Grace", at: "2026-01-02T03:04:05.000000Z" } as const;

function outcome(standing: TicketStanding | null, command: ResumeCommand): string {
  const judged = validateResume(standing, command);
  return judged.ok ? "ok" : judged.refusal.code;
}

function answer(ticket: ResumeTicket, result: ResumeResult, standing: Partial<TicketStanding> = {}): string {
  return outcome({ ...openStanding(ticket), ...standing }, ResumeCommand.fromTicket(ticket, result, 500));
}

/** Each way to be wrong, in the order of the contract; each is a change of a case that would be accepted. */
interface Fault {
  readonly code: string;
  readonly standing?: Partial<TicketStanding>;
  readonly command?: Partial<ResumeCommand>;
}

const FAULTS: readonly Fault[] = [
  { code: "run_ended", standing: { run_ended: ended, status: "cancelled", closed_by: closed } },
  { code: "expired", standing: { status: "expired", closed_by: { ...closed, kind: "expiry" } } },
  { code: "not_awaiting", standing: { status: "answered", closed_by: closed } },
  { code: "correlation_mismatch", command: { correlation_id: "other" } },
  { code: "run_mismatch", command: { run_id: "other" } },
  { code: "thread_mismatch", command: { thread_id: "other" } },
  { code: "snapshot_mismatch", command: { snapshot_id: "other" } },
  { code: "fingerprint_mismatch", command: { catalog_fingerprint: "other" } },
  { code: "expired", command: { now_ms: 1_001 } },
  { code: "result_kind_mismatch", command: { result: { kind: "continue" } } },
  { code: "tool_call_mismatch", command: { result: { kind: "tool_result", call_id: "other", output: null } } },
];

describe("validateResume", () => {
  test("accepts the command that was built from the ticket, and gives it back unchanged", () => {
    const command = ResumeCommand.fromTicket(permissionTicket, allow, 500);
    expect(validateResume(openStanding(permissionTicket), command)).toEqual({ ok: true, value: command });
  });

  test("names the first failure of the contract's order, for every combination of failures", () => {
    const good: ResumeResult = { kind: "tool_result", call_id: "s1.0", output: null };
    let refused = 0;
    for (let chosen = 0; chosen < 2 ** FAULTS.length; chosen += 1) {
      const faults = FAULTS.filter((_fault, index) => (chosen & (1 << index)) !== 0);
      // Laid on from the last to the first, so that where two faults touch one field the earlier one is what stands there.
      const reversed = faults.toReversed();
      const standing = Object.assign({ ...openStanding(clientTicket) }, ...reversed.map((fault) => fault.standing));
      const command = Object.assign(
        { ...ResumeCommand.fromTicket(clientTicket, good, 500) },
        ...reversed.map((fault) => fault.command),
      );
      expect(outcome(standing, command)).toBe(faults[0]?.code ?? "ok");
      if (faults.length > 0) refused += 1;
    }
    expect(refused).toBe(2 ** FAULTS.length - 1);
  });

  test("changes neither ticket nor command", () => {
    const standing = openStanding(permissionTicket);
    const command = ResumeCommand.fromTicket(permissionTicket, { kind: "continue" }, 5_000);
    const before = JSON.stringify([standing, command]);
    validateResume(standing, command);
    expect(JSON.stringify([standing, command])).toBe(before);
  });

  test("counts the deadline itself as in time, one millisecond later as expired, and none as for ever", () => {
    const at = (deadline_ms: number | null, now: number) => {
      const ticket = { ...permissionTicket, deadline_ms };
      return outcome(openStanding(ticket), ResumeCommand.fromTicket(ticket, allow, now));
    };
    expect(at(1_000, 1_000)).toBe("ok");
    expect(at(1_000, 1_000.9)).toBe("ok");
    expect(at(1_000, 1_001)).toBe("expired");
    expect(at(null, Number.MAX_SAFE_INTEGER)).toBe("ok");
  });

  test("refuses the same command after a success, and says who was first", () => {
    const standing: TicketStanding = { ...openStanding(permissionTicket), status: "answered", closed_by: closed };
    const judged = validateResume(standing, ResumeCommand.fromTicket(permissionTicket, allow, 500));
    expect(judged).toEqual({ ok: false, refusal: { code: "not_awaiting", facts: { closed_by: closed } } });
  });

  test("tells how the run ended before anything else", () => {
    const standing: TicketStanding = { ...openStanding(permissionTicket), run_ended: ended };
    const judged = validateResume(standing, ResumeCommand.fromTicket(permissionTicket, allow, 5_000));
    expect(judged).toEqual({ ok: false, refusal: { code: "run_ended", facts: { ended, closed_by: null } } });
  });

  test("refuses an answer to nothing", () => {
    expect(outcome(null, ResumeCommand.fromTicket(permissionTicket, allow, 500))).toBe("not_awaiting");
  });

  test("takes for each target exactly the kinds of its row", () => {
    const call = callRef(1, 0);
    const tool = { toolId: "t", arguments: {} };
    const targets = [
      ...(["permission", "client_execution", "scheduled_action", "delegation"] as const).map((reason) =>
        toolCallTarget(reason, call, tool),
      ),
      ...(["user_input", "external_event"] as const).map((reason) => remoteInputTarget(reason, call)),
      ...(["manual", "rate_limit", "budget_reached"] as const).map(pauseTarget),
    ];
    const results: readonly ResumeResult[] = [
      allow,
      { kind: "permission", decision: "deny", reason: "no" },
      { kind: "input", input: "free text" },
      { kind: "tool_result", call_id: "s1.0", output: 1 },
      { kind: "continue" },
    ];
    for (const target of targets) {
      for (const result of results) {
        const takes = AWAIT_RULES[target.reason].resultKinds.includes(result.kind);
        expect(answer({ ...permissionTicket, target }, result)).toBe(takes ? "ok" : "result_kind_mismatch");
      }
    }
  });

  test("takes a tool result by the call's place or by the agent's own word for it, and no other", () => {
    const result = (call_id: string): ResumeResult => ({ kind: "tool_result", call_id, output: "done" });
    expect(answer(clientTicket, result("s1.0"))).toBe("ok");
    expect(answer(clientTicket, result("toolu_1"))).toBe("ok");
    expect(answer(clientTicket, result("toolu_2"))).toBe("tool_call_mismatch");
    expect(answer(clientTicket, result("toolu_1"), { call_id: null })).toBe("tool_call_mismatch");
  });
});

describe("what an answer holds", () => {
  const schema: JsonValue = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const modes: readonly ResumeMode[] = ["use_decision_as_tool_result", "pass_decision_to_tool"];

  test.each(modes)("under %s an allow needs a payload that satisfies the schema", (resume_mode) => {
    const ticket = { ...permissionTicket, schema };
    expect(answer(ticket, allow, { resume_mode })).toBe("result_kind_mismatch");
    expect(answer(ticket, { ...allow, payload: { n: 1 } }, { resume_mode })).toBe("ok");
    expect(answer(ticket, { ...allow, payload: { n: 2512292042121000001n } }, { resume_mode })).toBe("ok");
    expect(answer(ticket, { ...allow, payload: { n: "1" } }, { resume_mode })).toBe("result_kind_mismatch");
    expect(answer(ticket, { kind: "permission", decision: "deny" }, { resume_mode })).toBe("ok");
  });

  test("a payload where the call takes none is refused, so that nobody believes it was used", () => {
    expect(answer(permissionTicket, { ...allow, payload: {} })).toBe("result_kind_mismatch");
    expect(answer(permissionTicket, { ...allow, payload: {} }, { resume_mode: null })).toBe("result_kind_mismatch");
  });

  test("an input is any text without a schema, and satisfies the schema where there is one", () => {
    expect(answer(questionTicket, { kind: "input", input: "anything" })).toBe("ok");
    expect(answer({ ...questionTicket, schema }, { kind: "input", input: { n: 1 } })).toBe("ok");
    expect(answer({ ...questionTicket, schema }, { kind: "input", input: "anything" })).toBe("result_kind_mismatch");
    expect(answer({ ...questionTicket, schema: true }, { kind: "input", input: [1] })).toBe("ok");
    expect(answer({ ...questionTicket, schema: { items: { type: "string" } } }, { kind: "input", input: [1] })).toBe(
      "result_kind_mismatch",
    );
  });

  test("a schema that cannot be read admits nothing", () => {
    for (const broken of [false, "text", 3, [], { $ref: "#/nowhere" }]) {
      expect(answer({ ...questionTicket, schema: broken }, { kind: "input", input: {} })).toBe("result_kind_mismatch");
    }
  });
});

describe("the command line's words", () => {
  test("call everything that is closed `approval_not_pending`, and the rest by its name", () => {
    expect(["run_ended", "expired", "not_awaiting"].map((code) => asC12Code(code as "expired"))).toEqual(
      Array(3).fill("approval_not_pending"),
    );
    expect(asC12Code("run_mismatch")).toBe("run_mismatch");
  });
});

describe("a random answer", () => {
  test("is accepted only with every identity of the ticket", () => {
    const word = fc.constantFrom("correlation-1", "run-1", "thread-1", "snapshot-1", "fingerprint-1", "");
    fc.assert(
      fc.property(
        word,
        word,
        word,
        word,
        word,
        (correlation_id, run_id, thread_id, snapshot_id, catalog_fingerprint) => {
          const command: ResumeCommand = {
            ...ResumeCommand.fromTicket(permissionTicket, allow, 500),
            ...{ correlation_id, run_id, thread_id, snapshot_id, catalog_fingerprint },
          };
          const same =
            JSON.stringify(command) === JSON.stringify(ResumeCommand.fromTicket(permissionTicket, allow, 500));
          expect(validateResume(openStanding(permissionTicket), command).ok).toBe(same);
        },
      ),
    );
  });
});
