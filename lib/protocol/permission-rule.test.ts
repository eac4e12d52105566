import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Behaviour,
  checkRule,
  DEFAULT_POLICY,
  evaluatePolicy,
  matchesTool,
  type PermissionRule,
  type Policy,
} from "./permission-rule";

function policy(...rules: readonly (readonly [Behaviour, string])[]): Policy {
  return {
    version: 1,
    rules: rules.map(([behaviour, tool], at) => ({ id: `r${at}`, behaviour, tool })),
    default: "ask",
  };
}

function verdict(judged: Policy, action: string): string {
  const { behaviour, rule } = evaluatePolicy(judged, action);
  return `${behaviour} ${rule?.id ?? "default"}`;
}

describe("a policy", () => {
  test("denies whenever any deny matches, however broad, wherever it stands", () => {
    expect(verdict(policy(["allow", "bash"], ["deny", "*"]), "bash")).toBe("deny r1");
    expect(verdict(policy(["deny", "ba*"], ["allow", "bash"], ["ask", "bash"]), "bash")).toBe("deny r0");
    expect(verdict(policy(["deny", "*"], ["deny", "bash"]), "bash")).toBe("deny r1");
  });

  test("lets the more specific of allow and ask win: exact, then the longer glob, then the star", () => {
    expect(verdict(policy(["allow", "*"], ["ask", "bash"]), "bash")).toBe("ask r1");
    expect(verdict(policy(["ask", "*"], ["allow", "bash"]), "bash")).toBe("allow r1");
    expect(verdict(policy(["allow", "write_*"], ["ask", "write_draft*"]), "write_drafts")).toBe("ask r1");
    expect(verdict(policy(["allow", "write_draft_*"], ["ask", "write_draft_1"]), "write_draft_1")).toBe("ask r1");
    expect(verdict(policy(["ask", "*"], ["allow", "a*"]), "bash")).toBe("ask r0");
  });

  test("lets the first in the list win among equals", () => {
    expect(verdict(policy(["ask", "bash"], ["allow", "bash"]), "bash")).toBe("ask r0");
    expect(verdict(policy(["allow", "a*"], ["ask", "*a"]), "a")).toBe("allow r0");
  });

  test("asks where no rule matches, unless its default says otherwise", () => {
    expect(verdict(DEFAULT_POLICY, "bash")).toBe("ask default");
    expect(verdict({ ...policy(["allow", "read"]), default: "deny" }, "bash")).toBe("deny default");
    expect(verdict({ ...policy(), default: "allow" }, "bash")).toBe("allow default");
  });

  test("matches names exactly: no other case, no look-alike, no white space", () => {
    const judged = policy(["allow", "bash"]);
    for (const action of ["Bash", "bаsh", "bash ", " bash", "ba\u200bsh", ""])
      expect(verdict(judged, action)).toBe("ask default");
  });

  test("is never made laxer by adding a deny, and never asked for more by adding an allow of equal width", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 4 });
    const rule = fc.tuple(fc.constantFrom<Behaviour>("allow", "deny", "ask"), name);
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), name, (rules, action) => {
        const before = evaluatePolicy(policy(...rules), action);
        expect(evaluatePolicy(policy(...rules, ["deny", "*"]), action).behaviour).toBe("deny");
        if (before.rule) expect(matchesTool(before.rule.tool, action)).toBe(true);
        const denied = rules.some(([behaviour, tool]) => behaviour === "deny" && matchesTool(tool, action));
        expect(before.behaviour === "deny").toBe(denied);
      }),
    );
  });
});

describe("a tool pattern", { timeout: 60_000 }, () => {
  test.each([
    ["*", "", true],
    ["*", "anything at all", true],
    ["a*", "a", true],
    ["a*c", "ac", true],
    ["a*c", "abbc", true],
    ["a*c", "abcd", false],
    ["*a*a*", "a", false],
    ["*a*a*", "xaya", true],
    ["aa*aa", "aaa", false],
    ["a**b", "ab", true],
    ["mcp__*__delete_*", "mcp__db__delete_table", true],
    ["a.c", "abc", false],
    ["[ab]", "a", false],
  ])("%s against %j: %s", (pattern, action, matches) => {
    expect(matchesTool(pattern, action)).toBe(matches);
  });

  test("matches what the same pattern as an expression would", () => {
    const soup = fc.string({ unit: fc.constantFrom("a", "b", "*", "."), maxLength: 8 });
    fc.assert(
      fc.property(soup, fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 }), (pattern, action) => {
        const expression = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^]*")}$`);
        expect(matchesTool(pattern, action)).toBe(expression.test(action));
      }),
      { numRuns: 5_000 },
    );
  });

  test("takes no longer for a pattern made to be slow", () => {
    const started = performance.now();
    matchesTool(`${"*a".repeat(2_000)}b`, "a".repeat(20_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("a rule that is saved", () => {
  const rule = (tool: string): PermissionRule => ({ id: "r1", behaviour: "deny", tool });

  test.each(["bash", "*", "mcp__*", "browser.*", "github/create_issue", "a:b-c.d", "工具"])("may name %s", (tool) => {
    expect(checkRule(rule(tool))).toEqual({ ok: true, value: rule(tool) });
  });

  test.each(["", ".*", "^bash$", "bash|sh", "/bash/", "ba(sh)?", "[a-z]+", "bash\\b", "a b", "a{2}"])(
    "may not be %j",
    (tool) => {
      expect(checkRule(rule(tool))).toMatchObject({ ok: false, refusal: { code: "invalid_rule" } });
    },
  );

  test("has an id", () => {
    expect(checkRule({ ...rule("bash"), id: "" })).toMatchObject({ ok: false });
  });
});
