import { describe, expect, test } from "vitest";
import { canonicalJson, hashJson, type JsonObject, readJson } from "./canonical-json";
import { type Sha256, sha256Hex } from "./hash";
import {
  type ChainRow,
  genesisHash,
  REFUSAL_TRACE_TYPES,
  TRACE_TYPES,
  traceEventText,
  verifyChain,
} from "./trace-event";

const ids = { workspace_id: "workspace-1", run_id: "run-1" };

function chain(length: number): ChainRow[] {
  const rows: ChainRow[] = [];
  let prev = genesisHash(ids.workspace_id, ids.run_id);
  for (let seq = 1; seq <= length; seq += 1) {
    const text = traceEventText({
      v: 1,
      kind: "trace",
      ...ids,
      seq,
      type: "checkpoint_saved",
      at: `2026-01-02T03:04:05.${String(seq).padStart(6, "0")}Z`,
      actor: { kind: "agent", id: "principal-1", name: "writer" },
      payload: { seq, big: 2512292042121000001n },
      prev_hash: prev,
    });
    prev = sha256Hex(text);
    rows.push({ text, hash: prev });
  }
  return rows;
}

/** The event with a change, hashed anew but linked as it was. */
function rewritten(row: ChainRow, change: JsonObject): ChainRow {
  const read = readJson(row.text);
  if (!read.ok) throw new Error("the row is no JSON");
  const text = canonicalJson({ ...(read.value as JsonObject), ...change });
  return { text, hash: sha256Hex(text) };
}

function at(rows: readonly ChainRow[], index: number): ChainRow {
  const row = rows[index];
  if (!row) throw new Error("no such row");
  return row;
}

describe("a run's chain", () => {
  test("verifies when nothing was touched, also when nothing happened yet", () => {
    expect(verifyChain(chain(20), ids)).toEqual({ ok: true, count: 20 });
    expect(verifyChain([], ids)).toEqual({ ok: true, count: 0 });
  });

  test("starts from a hash of its own run", () => {
    expect(genesisHash("w", "r")).toBe(hashJson({ v: 1, kind: "trace_genesis", workspace_id: "w", run_id: "r" }));
    expect(genesisHash("w", "r")).not.toBe(genesisHash("w", "s"));
  });

  const rows = chain(6);
  const TAMPERINGS: readonly (readonly [string, ChainRow[], number, string])[] = [
    [
      "an event changed",
      rows.with(2, { ...at(rows, 2), text: at(rows, 2).text.replace("writer", "reader") }),
      3,
      "hash_mismatch",
    ],
    [
      "an event changed and hashed anew",
      rows.with(2, rewritten(at(rows, 2), { at: "2026-01-02T03:04:05.999999Z" })),
      4,
      "broken_link",
    ],
    [
      "the last event changed and hashed anew to another link",
      rows.with(5, rewritten(at(rows, 5), { prev_hash: "0".repeat(64) })),
      6,
      "broken_link",
    ],
    ["a hash changed", rows.with(1, { ...at(rows, 1), hash: "0".repeat(64) }), 2, "hash_mismatch"],
    ["the first event deleted", rows.slice(1), 1, "seq_gap"],
    ["an event in the middle deleted", rows.toSpliced(3, 1), 4, "seq_gap"],
    ["two events swapped", rows.with(1, at(rows, 2)).with(2, at(rows, 1)), 2, "seq_gap"],
    ["an event repeated", rows.toSpliced(2, 0, at(rows, 1)), 3, "seq_gap"],
    ["an event of another run", rows.with(0, rewritten(at(rows, 0), { run_id: "run-2" })), 1, "another_run"],
    ["an event of another workspace", rows.with(0, rewritten(at(rows, 0), { workspace_id: "w" })), 1, "another_run"],
    ["an unknown type", rows.with(0, rewritten(at(rows, 0), { type: "nothing_happened" })), 1, "not_an_event"],
    ["another version", rows.with(0, rewritten(at(rows, 0), { v: 2 })), 1, "not_an_event"],
    ["another kind of record", rows.with(0, rewritten(at(rows, 0), { kind: "receipt" })), 1, "not_an_event"],
    ["a field more", rows.with(0, rewritten(at(rows, 0), { note: "x" })), 1, "not_an_event"],
    [
      "a time without its six digits",
      rows.with(0, rewritten(at(rows, 0), { at: "2026-01-02T03:04:05Z" })),
      1,
      "not_an_event",
    ],
    ["no time", rows.with(0, rewritten(at(rows, 0), { at: 5 })), 1, "not_an_event"],
    ["no object", rows.with(0, { text: "[]", hash: sha256Hex("[]") }), 1, "not_an_event"],
    ["no JSON", rows.with(0, { text: "{", hash: sha256Hex("{") }), 1, "not_json"],
  ];

  test.each(TAMPERINGS)("shows %s, and where", (_what, tampered, seq, why) => {
    expect(verifyChain(tampered, ids)).toEqual({ ok: false, seq, why });
  });

  test("shows a second spelling of one event", () => {
    const spaced = ` ${at(rows, 0).text}`;
    expect(verifyChain([{ text: spaced, hash: sha256Hex(spaced) }], ids)).toEqual({
      ok: false,
      seq: 1,
      why: "not_canonical",
    });
  });

  test("cannot show that its end was cut off: that takes a checkpoint kept elsewhere", () => {
    expect(verifyChain(rows.slice(0, 4), ids)).toEqual({ ok: true, count: 4 });
  });

  test("shows any one changed character", () => {
    for (let index = 0; index < rows.length; index += 1) {
      const { text, hash } = at(rows, index);
      for (let place = 0; place < text.length; place += 7) {
        const changed = text.slice(0, place) + (text[place] === "x" ? "y" : "x") + text.slice(place + 1);
        expect(verifyChain(rows.with(index, { text: changed, hash }), ids)).toMatchObject({
          ok: false,
          seq: index + 1,
        });
      }
    }
  });
});

describe("the words of the trace", () => {
  test("are unique, and the refusals are among them", () => {
    expect(new Set(TRACE_TYPES).size).toBe(TRACE_TYPES.length);
    expect(TRACE_TYPES.filter((type) => type.endsWith("_rejected"))).toEqual(REFUSAL_TRACE_TYPES);
  });

  test("keep kinds of hashes apart: one content under two kinds is two hashes", () => {
    const content = { workspace_id: "w", run_id: "r" };
    const hashes: Sha256[] = ["ticket_view", "trace", "trace_genesis", "receipt", "checkpoint"].map((kind) =>
      hashJson({ v: 1, kind, ...content }),
    );
    expect(new Set([...hashes, hashJson(content)]).size).toBe(6);
  });
});
