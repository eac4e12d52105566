import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decideTicket } from "@/db/store/decide";
import { setPolicy } from "@/db/store/set-policy";
import { codeOf, verdict } from "@/db/testing/world";
import type { ResumeMode } from "@/lib/protocol/call";
import type { JsonValue } from "@/lib/protocol/canonical-json";
import { AgentWorld, type Line, Script } from "./testing/agent-world";

let at: AgentWorld;
beforeAll(async () => {
  at = await AgentWorld.open();
});
afterAll(() => at.close());

const file = (name: string, content = "As proposed.") => ({ path: path.join(at.folder, name), content });

/** An agent that writes two files in one step; the first call has the mode, and a person is asked about both. */
async function asked(resumeMode: ResumeMode, over: { readonly batch_mode?: "parallel" } = {}) {
  const name = `${resumeMode.replaceAll("_", "-")}-${over.batch_mode ?? "sequential"}`;
  const definition = {
    controller: "react",
    instructions: "Write.",
    resume_modes: { write_file: resumeMode },
    ...over,
  };
  const runId = await at.start(definition, name);
  expect(codeOf(await setPolicy(at.world.db, at.world.cli, name, { default: "ask", rules: [] }))).toBe("ok");
  const both: Line = [
    ["write_file", file(`${name}-1.txt`)],
    ["write_file", file(`${name}-2.txt`)],
  ];
  const script = new Script([both, "Done."]);
  await at.drive(script);
  return { runId, name, script };
}

async function allowWith(runId: string, place: number, payload: JsonValue | undefined) {
  const ticket = (await at.openTickets(runId)).find(({ callRef }) => callRef?.startsWith(`s1.${place}`));
  if (!ticket) throw new Error(`nothing waits at ${place}`);
  const attempt = await verdict(at.world, ticket, "allow");
  const result = { kind: "permission", decision: "allow", ...(payload === undefined ? {} : { payload }) } as const;
  const outcome = await decideTicket(at.world.db, at.world.approver, ticket.id, { ...attempt, result });
  expect(codeOf(outcome)).toBe("ok");
}

const told = (script: Script) =>
  script.requests.at(-1)?.messages.flatMap((it) => (it.role === "tool" ? [it.text] : []));
const written = (name: string) => readFileSync(path.join(at.folder, name), "utf8");

test("an edited call of an agent that runs here does what was edited, and its model is told that it did", async () => {
  const { runId, name, script } = await asked("pass_decision_to_tool");
  await allowWith(runId, 0, file(`${name}-other.txt`, "As edited."));
  await at.drive(script);
  await allowWith(runId, 1, file(`${name}-2.txt`));
  await at.drive(script);
  expect(written(`${name}-other.txt`)).toBe("As edited.");
  expect(() => written(`${name}-1.txt`)).toThrow();
  expect(written(`${name}-2.txt`), "the proposed arguments are no edit").toBe("As proposed.");
  const [first, second] = told(script) ?? [];
  expect(JSON.parse(first ?? "")).toMatchObject({ changed_by_a_person: { arguments: { content: "As edited." } } });
  expect(second).not.toContain("changed_by_a_person");
  expect(await at.row(runId)).toMatchObject({ cause: "completed" });
});

test("a decision that is the result runs no tool, and its model has it as the result", async () => {
  const { runId, name, script } = await asked("use_decision_as_tool_result");
  await allowWith(runId, 0, "It is there already.");
  await allowWith(runId, 1, { written: false });
  await at.drive(script);
  expect(() => written(`${name}-1.txt`)).toThrow();
  expect(told(script)).toEqual(['"It is there already."', '{"written":false}']);
  expect(await at.row(runId)).toMatchObject({ cause: "completed" });
});

test.each([
  ["in order", [0, 1]],
  ["the other way round", [1, 0]],
] as const)(
  "two waits of one step are answered %s, each by its mode, and the model hears both in its own order",
  async (_name, order) => {
    const { runId, name, script } = await asked("pass_decision_to_tool", { batch_mode: "parallel" });
    for (const place of order) {
      await allowWith(runId, place, file(`${name}-${order.join("")}-${place}.txt`, `Edited ${place}.`));
      await at.drive(script);
    }
    for (const place of order) expect(written(`${name}-${order.join("")}-${place}.txt`)).toBe(`Edited ${place}.`);
    expect(told(script)?.map((text) => /Edited \d/.exec(text)?.[0])).toEqual(["Edited 0", "Edited 1"]);
    expect(await at.row(runId)).toMatchObject({ cause: "completed" });
  },
);
