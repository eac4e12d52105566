import { describe, expect, test } from "vitest";
import { checkDefinition, readDefinition } from "./agent-definition";
import type { JsonValue } from "./canonical-json";

const REACT = { controller: "react", instructions: "Work." };

describe("an agent's definition", () => {
  test.each<[string, JsonValue]>([
    ["react", REACT],
    ["plan_and_execute", { ...REACT, controller: "plan_and_execute", budget: 3, on_budget: "pause" }],
    ["workflow", { ...REACT, controller: "workflow", nodes: [{ ask: "Go on?" }, { finish: "{{reply}}" }] }],
  ])("of %s is frozen as its canonical text and read back as it was", (_name, definition) => {
    const checked = checkDefinition(definition, []);
    if (!checked.ok) throw new Error(checked.refusal.path);
    expect(readDefinition(checked.value)).toEqual(definition);
  });

  test.each<[string, JsonValue, string]>([
    ["a field that does not exist", { ...REACT, budgte: 3 }, "definition"],
    ["a budget of nothing", { ...REACT, budget: 0 }, "definition.budget"],
    ["another controller", { ...REACT, controller: "swarm" }, "definition.controller"],
    ["a mode that is none", { ...REACT, resume_modes: { look: "maybe" } }, "definition.resume_modes.look"],
    ["a workflow without stations", { ...REACT, controller: "workflow", nodes: [] }, "definition.nodes"],
    ["a text", "react", "definition"],
  ])("with %s is refused at its place", (_what, definition, path) => {
    expect(checkDefinition(definition, [])).toMatchObject({ ok: false, refusal: { code: "invalid_body", path } });
  });

  test.each<[string, string, string]>([
    ["a tool that it does not have", "call_home", "call_home is no tool of the agent"],
    ["an action of the gateway", "write_file", "write_file is done by the action gateway"],
  ])("that delegates %s is refused", (_what, action, detail) => {
    const checked = checkDefinition({ ...REACT, delegates: { [action]: "clerk" } }, [{ name: "write_file" }]);
    expect(checked).toMatchObject({ ok: false, refusal: { path: "definition.delegates", detail } });
  });

  test("that delegates a tool of its own is frozen", () => {
    const checked = checkDefinition({ ...REACT, delegates: { ask_clerk: "clerk" } }, [{ name: "ask_clerk" }]);
    expect(checked.ok).toBe(true);
  });

  test("beside a tool of the reserved name is refused", () => {
    const checked = checkDefinition(REACT, [{ name: "look" }, { name: "request_user_input" }]);
    expect(checked).toMatchObject({ ok: false, refusal: { code: "invalid_body", path: "tools" } });
  });

  test("that was tampered with is not read", () => {
    expect(() => readDefinition('{"controller":"react"}')).toThrow();
  });
});
