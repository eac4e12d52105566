import { describe, expect, test } from "vitest";
import { ok } from "@/lib/result";
import { endsTheRun, readSignal, type Signal, signalOfJson, signalOfToolCall, validateSignal } from "./signal";

const finish = (output: string): Signal => ({ type: "FINISH", output });

describe("what a model's text means", () => {
  test("natural language is no signal, whatever it asks for", () => {
    for (const text of ["Please confirm.", "请确认", "", "REQUEST_USER_INPUT: go on?", '["FINISH"]', '"FINISH"'])
      expect(readSignal(text), text).toEqual({ kind: "words" });
  });

  test("an answer that is JSON without a type is an answer", () => {
    expect(readSignal('{"total": 5, "by": {"name": "x"}}')).toEqual({ kind: "words" });
  });

  test("the type's word counts in any case", () => {
    for (const word of ["FINISH", "finish", "Finish"])
      expect(readSignal(` {"type":"${word}","output":"done"} `)).toEqual({ kind: "signal", signal: finish("done") });
  });

  test("an envelope is not unwrapped, a broken text and an unknown type are not guessed at", () => {
    const unreadable = [
      '{"type":"json_object","content":{"type":"FINISH"}}',
      '{"decision":{"type":"FINISH"}}',
      '{"type":"FINISH"',
      '{"type":"FINISH","type":"FAIL"}',
      '{"type":7}',
      '{"type":"PAUSE"}',
    ];
    for (const text of unreadable)
      expect(readSignal(text), text).toMatchObject({ kind: "unreadable", refusal: { code: "parse_failed" } });
  });

  test("a field that is left out is no fault of the text", () => {
    expect(signalOfJson({ type: "EXECUTE_TOOL" })).toEqual(
      ok({ type: "EXECUTE_TOOL", action: "", args: {}, output: null, callId: null, why: null }),
    );
    expect(signalOfJson({ type: "REQUEST_USER_INPUT" })).toEqual(
      ok({ type: "REQUEST_USER_INPUT", question: "", schema: null, options: null }),
    );
    expect(signalOfJson({ type: "fail" })).toEqual(ok({ type: "FAIL", reason: "" }));
    expect(signalOfJson({ type: "finish" })).toEqual(ok({ type: "FINISH", output: null }));
    expect(signalOfJson(["FINISH"])).toMatchObject({ ok: false, refusal: { code: "parse_failed" } });
  });
});

describe("a model's tool call", () => {
  const call = (name: string, argumentsText: string) => signalOfToolCall({ callId: "c1", name, argumentsText });

  test("keeps the digits of its arguments", () => {
    const read = call("pay", '{"id": 2512292042121000001}');
    expect(read).toMatchObject({
      ok: true,
      value: { action: "pay", args: { id: 2512292042121000001n }, callId: "c1" },
    });
  });

  test("is refused by the name of what is wrong with its arguments", () => {
    expect(call("pay", '{"a":1,"a":2}')).toMatchObject({ refusal: { code: "duplicate_key", path: "arguments.a" } });
    expect(call("pay", '{"a":1e400}')).toMatchObject({ refusal: { code: "number_not_representable" } });
    expect(call("pay", "{")).toMatchObject({ refusal: { code: "invalid_body", path: "arguments" } });
  });

  test("without arguments has empty ones", () => {
    expect(call("look", " ")).toMatchObject({ ok: true, value: { args: {} } });
  });

  test("has words that a column of text can hold", () => {
    expect(signalOfToolCall({ callId: `\0\ud800${"x".repeat(300)}`, name: "look", argumentsText: "" })).toMatchObject({
      value: { callId: `\uFFFD\uFFFD${"x".repeat(254)}` },
    });
    expect(signalOfToolCall({ callId: "", name: "look", argumentsText: "" })).toMatchObject({
      value: { callId: null },
    });
    expect(call("request_user_input", '{"question":"a\\u0000b"}')).toMatchObject({ value: { question: "a\uFFFDb" } });
  });

  test("of the reserved tool is a question", () => {
    expect(call("request_user_input", '{"question":"Go on?","options":["yes","no"]}')).toEqual(
      ok({ type: "REQUEST_USER_INPUT", question: "Go on?", schema: null, options: ["yes", "no"] }),
    );
    expect(call("request_user_input", "7")).toMatchObject({ value: { question: "" } });
  });

  test("of a file action has its path as its target", () => {
    expect(call("write_file", '{"path":"/tmp/a","content":"x"}')).toMatchObject({ value: { output: "/tmp/a" } });
    expect(call("send", '{"path":"/tmp/a"}')).toMatchObject({ value: { output: null } });
  });

  test("of a request or a program has the address or the folder as its target", () => {
    expect(call("http_request", '{"url":"https://a.example/"}')).toMatchObject({
      value: { output: "https://a.example/" },
    });
    expect(call("run_command", '{"argv":["/bin/ls"],"folder":"/tmp"}')).toMatchObject({ value: { output: "/tmp" } });
    expect(call("run_command", '{"argv":["/bin/ls"]}')).toMatchObject({ value: { output: null } });
  });
});

describe("whether a signal may be acted on", () => {
  const state = { catalog: new Set(["look", "write_file"]), hasObject: true, remaining: 0 };
  const tool = (action: string, output: string | null = null): Signal => ({
    type: "EXECUTE_TOOL",
    action,
    args: {},
    output,
    callId: null,
    why: null,
  });
  const ask = (question: string): Signal => ({ type: "REQUEST_USER_INPUT", question, schema: null, options: null });
  const code = (signal: Signal, over: Partial<typeof state> = {}) => {
    const judged = validateSignal(signal, { ...state, ...over });
    return judged.ok ? "ok" : judged.refusal.code;
  };

  test("a tool must be in the frozen catalogue, and a file's target a file's", () => {
    expect(code(tool("look"))).toBe("ok");
    expect(code(tool("drop"))).toBe("unknown_action");
    expect(code(tool(""))).toBe("unknown_action");
    expect(code(tool("write_file", "relative"))).toBe("invalid_output");
    expect(code(tool("write_file", "/tmp/a"))).toBe("ok");
  });

  test("a wait has an object, and then a question", () => {
    expect(code(ask("Go on?"))).toBe("ok");
    expect(code(ask(" "))).toBe("wait_signal_without_question");
    expect(code(ask(" "), { hasObject: false })).toBe("wait_signal_without_pending_object");
  });

  test("a finish comes last", () => {
    expect(code(finish("x"))).toBe("ok");
    expect(code(finish("x"), { remaining: 1 })).toBe("premature_finish");
    expect(code({ type: "FAIL", reason: "no" }, { remaining: 1 })).toBe("ok");
  });

  test("only what leaves nothing to go on with ends the run", () => {
    expect(
      (["parse_failed", "wait_signal_without_pending_object", "wait_signal_without_question"] as const).every(
        endsTheRun,
      ),
    ).toBe(true);
    expect((["unknown_action", "premature_finish", "duplicate_key", "invalid_output"] as const).some(endsTheRun)).toBe(
      false,
    );
  });
});
