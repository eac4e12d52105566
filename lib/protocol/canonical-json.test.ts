import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ARGS_LIMITS,
  canonicalJson,
  checkLimits,
  hashJson,
  type JsonValue,
  readJson,
  readJsonBytes,
} from "./canonical-json";
import { anyJson } from "./fixtures/random-json";
import vectors from "./fixtures/rfc8785.json";

function canonicalOf(text: string): string {
  const read = readJson(text);
  if (!read.ok) throw new Error(`${read.refusal.code} at ${read.refusal.path}: ${read.refusal.detail}`);
  return canonicalJson(read.value);
}

function refusalOf(text: string): string {
  const read = readJson(text);
  return read.ok ? "accepted" : `${read.refusal.code} ${read.refusal.path}`.trim();
}

const nested = (depth: number, inside = "") => `${"[".repeat(depth)}${inside}${"]".repeat(depth)}`;
const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(",")}}`;

describe("canonical JSON", { timeout: 60_000 }, () => {
  test.each(vectors)("gives the published answer for RFC 8785's $name", ({ input, output }) => {
    expect(canonicalOf(input)).toBe(output);
  });

  // RFC 8785 appendix B: the double by its bits, and its only spelling.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the double %s as %s", (bits, text) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    expect(canonicalJson(view.getFloat64(0))).toBe(text);
  });

  test("keeps every digit of an integer, so that an id stays the id it was", () => {
    expect(canonicalOf("2512292042121000001")).toBe("2512292042121000001");
    expect(canonicalOf("-9007199254740993")).toBe("-9007199254740993");
    expect(canonicalOf("1000000000000000000000")).toBe("1000000000000000000000");
    expect(readJson("2512292042121000001")).toEqual({ ok: true, value: 2512292042121000001n });
    expect(readJson("9007199254740991")).toEqual({ ok: true, value: 9007199254740991 });
  });

  test("knows one zero", () => {
    for (const zero of ["0", "-0", "0.0", "-0.0", "0e5", "-0e-5"]) expect(canonicalOf(zero)).toBe("0");
    const read = readJson("-0");
    expect(read.ok && Object.is(read.value, 0)).toBe(true);
  });

  test("writes a double in its shortest form whatever its literal was", () => {
    expect(canonicalOf("[1E-7,1e21,1.0,1e2,0.10]")).toBe("[1e-7,1e+21,1,100,0.1]");
  });

  test("orders keys by UTF-16 code units, those that look like numbers too", () => {
    expect(canonicalOf('{"9":1,"10":2,"\\ud83d\\ude02":3,"\\ufb33":4,"B":5,"a":6}')).toBe(
      '{"10":2,"9":1,"B":5,"a":6,"😂":3,"\ufb33":4}',
    );
  });

  test("keeps __proto__ as a key like any other and pollutes nothing", () => {
    expect(canonicalOf('{"__proto__":{"polluted":true},"constructor":1}')).toBe(
      '{"__proto__":{"polluted":true},"constructor":1}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("accepts null characters, emoji, direction controls, empty keys and long texts unchanged", () => {
    const long = "x".repeat(100_000);
    const text = `{"":"\\u0000","bidi":"\u202e","emoji":"👩‍👩‍👧","long":"${long}"}`;
    expect(canonicalOf(text)).toBe(text);
  });

  test("does not normalise Unicode: two spellings are two texts", () => {
    expect(canonicalOf('"\u00e9"')).not.toBe(canonicalOf('"e\u0301"'));
  });

  test("refuses to write what no JSON text could have held", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "\ud800", { a: undefined }, [undefined]]) {
      expect(() => canonicalJson(value as JsonValue)).toThrow(TypeError);
    }
  });

  test("hashes to the plain SHA-256 of the text", () => {
    expect(hashJson({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });

  test("is a fixed point: read back and written again, any value gives the same text", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value);
        expect(canonicalOf(text)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test("does not depend on how a value was laid out", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const wide = JSON.stringify(value, null, 3);
        expect(canonicalOf(wide)).toBe(canonicalOf(JSON.stringify(value)));
        expect(JSON.parse(canonicalOf(wide))).toEqual(JSON.parse(wide, (_key, item) => (item === 0 ? 0 : item)));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("reading JSON", { timeout: 60_000 }, () => {
  test.each([
    ['{"a":1,"a":2}', "duplicate_key a"],
    ['{"a":1,"\\u0061":2}', "duplicate_key a"],
    ['{"x":[0,{"a b":1,"a b":1}]}', 'duplicate_key x[1]["a b"]'],
    ['{"__proto__":1,"__proto__":1}', "duplicate_key __proto__"],
    ["1e400", "number_not_representable"],
    ['{"n":[1,-1e400]}', "number_not_representable n[1]"],
    ["1e-400", "number_not_representable"],
    ["0.0000001e-400", "number_not_representable"],
    ['"\\ud800"', "invalid_unicode"],
    ['"\\udc00\\ud800"', "invalid_unicode"],
    ['{"\\ud800":1}', "invalid_unicode"],
    ['["\ud83d"]', "invalid_unicode [0]"],
    [nested(65), `too_deep ${"[0]".repeat(64)}`],
    [keys(10_001), "too_many_keys"],
  ])("refuses %.40s by name and path", (text, outcome) => {
    expect(refusalOf(text)).toBe(outcome);
  });

  test.each([
    nested(64),
    nested(64, "1"),
    keys(10_000),
    "0e400",
    "5e-324",
    '"\\ud83d\\ude02"',
    '"\ud83d\\ude02"',
    ' \t\r\n{"a" : [ ] , "b" : { } } \n',
  ])("accepts %.40s", (text) => {
    expect(refusalOf(text)).toBe("accepted");
  });

  test.each([
    "",
    " ",
    "{",
    "[1,]",
    '{"a":1,}',
    "{a:1}",
    "{'a':1}",
    '{"a" 1}',
    "[1 2]",
    "[1}",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1e",
    "0x10",
    "NaN",
    "Infinity",
    "-Infinity",
    "undefined",
    "tru",
    "True",
    '"a',
    '"\n"',
    '"\t"',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    "null null",
    "1,",
    "// comment\n1",
    "\ufeff1",
    "\u00a01",
    "[1]\u0000",
  ])("refuses %j as no JSON", (text) => {
    expect(refusalOf(text).split(" ")[0]).toBe("invalid_body");
  });

  test("says where the text stops being JSON", () => {
    expect(readJson('{"a":[1,x]}')).toEqual({
      ok: false,
      refusal: { code: "invalid_body", path: "a[1]", detail: "at character 8: expected a value, found U+0078" },
    });
    expect(readJson('{"a":')).toMatchObject({ refusal: { detail: "at character 5: expected a value, the text ends" } });
  });

  test("judges syntax as the platform's parser does, on any text made of JSON's own characters", () => {
    const soup = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0041eE+-.0123456789 \n\ttrufalsn') });
    fc.assert(
      fc.property(soup, (text) => {
        const ours = refusalOf(text).split(" ")[0];
        if (ours === "accepted" || ours === "invalid_body") expect(ours === "accepted").toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("gives two texts one hash only where they mean the same", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (left, right) => {
        const same = canonicalJson(left) === canonicalJson(right);
        expect(hashJson(left) === hashJson(right)).toBe(same);
      }),
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("reading bytes", () => {
  const bytes = (...values: number[]) => new Uint8Array(values);

  test("accepts UTF-8", () => {
    expect(readJsonBytes(new TextEncoder().encode('"批准"'))).toEqual({ ok: true, value: "批准" });
  });

  test("refuses a byte order mark, and bytes behind the value", () => {
    expect(readJsonBytes(bytes(0xef, 0xbb, 0xbf, 0x31))).toMatchObject({ refusal: { code: "invalid_body" } });
    expect(readJsonBytes(bytes(0x31, 0x00))).toMatchObject({ refusal: { code: "invalid_body" } });
  });

  test.each([
    ["a lone continuation byte", bytes(0x22, 0x80, 0x22)],
    ["an overlong slash", bytes(0x22, 0xc0, 0xaf, 0x22)],
    ["a surrogate in UTF-8", bytes(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["a cut character", bytes(0x22, 0xe6, 0x89, 0x22)],
    ["UTF-16", bytes(0xff, 0xfe, 0x31, 0x00)],
  ])("refuses %s", (_what, data) => {
    expect(readJsonBytes(data)).toEqual({
      ok: false,
      refusal: { code: "invalid_unicode", path: "", detail: "the bytes are not UTF-8" },
    });
  });
});

describe("limits of a part", () => {
  const read = (text: string) => {
    const result = readJson(text, { maxDepth: 1_000, maxKeys: 1_000_000 });
    if (!result.ok) throw new Error(result.refusal.detail);
    return result.value;
  };

  test("count from the part itself, and agree with the reader's", () => {
    for (const text of [nested(64, "1"), nested(65), keys(10_000), keys(10_001), "1", '{"a":{"b":[{}]}}']) {
      const judged = checkLimits(read(text), ARGS_LIMITS, "");
      expect(judged.ok ? "accepted" : `${judged.refusal.code} ${judged.refusal.path}`.trim()).toBe(refusalOf(text));
    }
  });

  test("name the place by the path that the part has in the body", () => {
    expect(checkLimits(read('{"a":[[1]]}'), { maxDepth: 2, maxKeys: 9 }, "calls[3].args")).toEqual({
      ok: false,
      refusal: { code: "too_deep", path: "calls[3].args.a[0]", detail: "deeper than 2" },
    });
    expect(checkLimits(read('{"a":{"b":1}}'), { maxDepth: 9, maxKeys: 1 }, "args")).toMatchObject({
      refusal: { code: "too_many_keys", path: "args.a" },
    });
  });
});
