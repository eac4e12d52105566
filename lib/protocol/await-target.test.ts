import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AWAIT_PAIRS,
  AWAIT_RULES,
  type AwaitTarget,
  awaitTargetJson,
  isOfferedToPeople,
  PAUSE_REASONS,
  parseAwaitTarget,
  pauseTarget,
  REMOTE_INPUT_REASONS,
  remoteInputTarget,
  TOOL_CALL_REASONS,
  toolCallTarget,
} from "./await-target";
import { callRef } from "./call";

const call = callRef(1, 0);
const tool = { toolId: "write_draft", arguments: { content: "x" } };

const EVERY_TARGET: readonly AwaitTarget[] = [
  ...TOOL_CALL_REASONS.map((reason) => toolCallTarget(reason, call, tool)),
  ...REMOTE_INPUT_REASONS.map((reason) => remoteInputTarget(reason, call)),
  ...PAUSE_REASONS.map(pauseTarget),
];

describe("an await target", () => {
  test("exists in nine pairs of kind and reason, the ones the database allows", () => {
    expect(EVERY_TARGET.map(({ kind, reason }) => [kind, reason])).toEqual(AWAIT_PAIRS);
    expect(Object.keys(AWAIT_RULES).sort()).toEqual(AWAIT_PAIRS.map(([, reason]) => reason).sort());
  });

  test.each(EVERY_TARGET)("$kind/$reason comes back from its JSON as it was", (target) => {
    expect(parseAwaitTarget(awaitTargetJson(target))).toEqual({ ok: true, value: target });
    expect(parseAwaitTarget(JSON.parse(JSON.stringify(awaitTargetJson(target))))).toEqual({ ok: true, value: target });
  });

  test.each(EVERY_TARGET)("$kind/$reason is refused when any part is missing, odd or too many", (target) => {
    const json: Readonly<Record<string, unknown>> = awaitTargetJson(target);
    const refused = (value: unknown) =>
      expect(parseAwaitTarget(value), JSON.stringify(value)).toMatchObject({ ok: false });
    for (const name of Object.keys(json)) {
      refused(Object.fromEntries(Object.entries(json).filter(([key]) => key !== name)));
      for (const odd of [null, 1, "", "no such word", [], {}, "s0.0", "s1"]) refused({ ...json, [name]: odd });
    }
    refused({ ...json, extra: 1 });
    if (target.kind === "tool_call") {
      for (const odd of [{ toolId: "t" }, { arguments: 1 }, { toolId: "", arguments: 1 }, { ...tool, more: 1 }]) {
        refused({ ...json, tool: odd });
      }
    } else {
      refused({ ...json, tool });
      if (target.kind === "pause") refused({ ...json, callId: call });
    }
  });

  test("never takes a reason of another kind", () => {
    for (const kind of ["tool_call", "remote_input", "pause"]) {
      for (const reason of Object.keys(AWAIT_RULES)) {
        const exists = AWAIT_PAIRS.some((pair) => pair[0] === kind && pair[1] === reason);
        const parts = kind === "tool_call" ? { callId: call, tool } : kind === "pause" ? {} : { callId: call };
        expect(parseAwaitTarget({ kind, reason, ...parts }).ok).toBe(exists);
      }
    }
  });

  test("is nothing but an object", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(parseAwaitTarget(value).ok).toBe(false);
      }),
    );
  });

  test("is offered to people only where a person answers it; a scheduled action never is", () => {
    const offered = EVERY_TARGET.filter(isOfferedToPeople).map(({ reason }) => reason);
    expect(offered).toEqual(["permission", "user_input", "manual", "budget_reached"]);
  });
});
