import { describe, expect, test } from "vitest";
import { canonicalJson, hashJson, readJson } from "./canonical-json";
import golden from "./fixtures/golden-hashes.json";
import { checkOutput, isAbsolutePath, pauseProposal, proposalHash, proposalText, questionProposal } from "./proposal";

describe("a proposal", () => {
  test.each(golden)("$action to $output hashes to the published value", ({ action, args, output, proposal_hash }) => {
    expect(proposalHash(action, canonicalJson(args), canonicalJson(output))).toBe(proposal_hash);
    expect(hashJson({ action, args, output })).toBe(proposal_hash);
  });

  test("has a text that is canonical itself", () => {
    const text = proposalText('a "quoted" name', canonicalJson({ b: 1n, a: [null] }), canonicalJson(null));
    const read = readJson(text);
    expect(read.ok && canonicalJson(read.value)).toBe(text);
  });

  test("of a question asks, with an absent schema and options as null", () => {
    expect(questionProposal("Which one?")).toEqual({
      action: "ask",
      args: { question: "Which one?", schema: null, options: null },
      output: null,
    });
    expect(questionProposal("Which one?", { enum: ["a"] }, ["a"]).args).toEqual({
      question: "Which one?",
      schema: { enum: ["a"] },
      options: ["a"],
    });
  });

  test("of a pause says why", () => {
    expect(pauseProposal("budget")).toEqual({ action: "pause", args: { reason: "budget" }, output: null });
  });
});

describe("a file target", () => {
  const file = { effectClass: "create_new", fileTarget: true } as const;

  test.each(["/tmp/x", "/", "C:\\x", "c:/x"])("%s is absolute", (output) => {
    expect(checkOutput(output, file)).toEqual({ ok: true, value: output });
  });

  test.each(["x", "./x", "../x", "", "~/x", "C:x", "file:///x", "/tmp/\0x", null, 3, ["/x"]])(
    "%j is refused",
    (output) => {
      expect(checkOutput(output, file)).toEqual({
        ok: false,
        refusal: { code: "invalid_output", path: "output", detail: "a file target is an absolute path" },
      });
    },
  );

  test("is no matter of other actions: their target is kept as it is", () => {
    const other = { effectClass: "none", fileTarget: false } as const;
    for (const output of [null, "a record", { id: 1 }])
      expect(checkOutput(output, other)).toEqual({ ok: true, value: output });
    expect(isAbsolutePath("relative")).toBe(false);
  });
});
