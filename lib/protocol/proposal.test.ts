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
  const file = { effectClass: "create_new", target: "file" } as const;

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
});

describe("a request's target", () => {
  const url = { effectClass: "read_only", target: "url" } as const;

  test.each(["https://example.com/a?b=c#d", "http://localhost:1/", "HTTPS://EXAMPLE.com", "https://[::1]/"])(
    "%s is whole",
    (output) => {
      expect(checkOutput(output, url)).toEqual({ ok: true, value: output });
    },
  );

  test.each([
    "example.com",
    "//example.com",
    "https:example.com",
    "https://",
    "https://[::1",
    "https://example.com:99999/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    " https://example.com",
    "https://exa\tmple.com/",
    "https://example.com/\n",
    "https:\\\\example.com/",
    "https://example.com\\@evil.example/",
    "https://ex\u00e4mple.com/",
    null,
    3,
    ["https://example.com"],
  ])("%j is refused", (output) => {
    expect(checkOutput(output, url)).toEqual({
      ok: false,
      refusal: { code: "invalid_output", path: "output", detail: "a request's target is a whole http or https URL" },
    });
  });
});

describe("a program's folder", () => {
  const folder = { effectClass: "none", target: "folder" } as const;

  test.each(["/tmp", null])("%j may be its target", (output) => {
    expect(checkOutput(output, folder)).toEqual({ ok: true, value: output });
  });

  test.each(["tmp", "", "/tmp\0", 3, {}])("%j is refused", (output) => {
    expect(checkOutput(output, folder)).toMatchObject({ ok: false, refusal: { code: "invalid_output" } });
  });
});

test("a path is absolute or it is not", () => {
  expect(isAbsolutePath("relative")).toBe(false);
});
