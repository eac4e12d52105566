import { expect, test } from "vitest";
import type { JsonObject } from "@/lib/protocol/canonical-json";
import { catalogOf } from "./snapshots";

const SEND = {
  name: "send_mail",
  description: "Send one mail.",
  input_schema: { type: "object", properties: { to: { type: "string", maxLength: 100 } }, required: ["to"] },
  annotations: { destructiveHint: true, title: "Mail" },
};
const LOOK = { name: "look", description: "Look." };

const fingerprint = (...tools: readonly JsonObject[]) =>
  catalogOf(tools as Parameters<typeof catalogOf>[0]).fingerprint;
const approved = fingerprint(SEND, LOOK);

test.each<[string, readonly JsonObject[]]>([
  ["its name", [{ ...SEND, name: "send_mai1" }, LOOK]],
  ["a blank at the end of its description", [{ ...SEND, description: `${SEND.description} ` }, LOOK]],
  ["two blanks for one", [{ ...SEND, description: "Send  one mail." }, LOOK]],
  ["a character that is not seen", [{ ...SEND, description: `${SEND.description}\u200b` }, LOOK]],
  ["instructions in tag characters", [{ ...SEND, description: `${SEND.description}\u{e0061}` }, LOOK]],
  ["a letter of another script", [{ ...SEND, description: "Send one mаil." }, LOOK]],
  ["a limit of its schema", [{ ...SEND, input_schema: { ...SEND.input_schema, required: [] } }, LOOK]],
  ["one more argument", [{ ...SEND, input_schema: { ...SEND.input_schema, properties: { to: {}, bcc: {} } } }, LOOK]],
  ["an annotation", [{ ...SEND, annotations: { ...SEND.annotations, destructiveHint: false } }, LOOK]],
  ["a field more", [{ ...SEND, title: "x" }, LOOK]],
  ["a field less", [{ name: SEND.name, description: SEND.description }, LOOK]],
  ["a tool more", [SEND, LOOK, { name: "other" }]],
  ["a tool less", [SEND]],
])("T33: a catalogue that differs in %s is another", (_what, tools) => {
  expect(fingerprint(...tools)).not.toBe(approved);
});

test("T33: the order of keys and of tools alone makes no other catalogue", () => {
  const { annotations, description, input_schema, name } = SEND;
  const { properties, required, type } = input_schema;
  expect(fingerprint(LOOK, { annotations, input_schema: { required, properties, type }, name, description })).toBe(
    approved,
  );
});
