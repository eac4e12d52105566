import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json";
import golden from "./fixtures/golden-hashes.json";
import { sha256Hex } from "./hash";
import { genesisHash, traceEventText } from "./trace-event";

const folder = mkdtempSync(path.join(tmpdir(), "holdpoint-verify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function python(...words: readonly string[]): { readonly ok: boolean; readonly said: string } {
  try {
    return { ok: true, said: execFileSync("python3", [...words], { encoding: "utf8", stdio: "pipe" }).trim() };
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") throw fault;
    return { ok: false, said: fault instanceof Error && "stderr" in fault ? String(fault.stderr).trim() : "" };
  }
}

/** The other language is Python; a machine without it has nothing to compare with. */
const hasPython = (() => {
  try {
    return python("--version").ok;
  } catch {
    return false;
  }
})();

describe.runIf(hasPython)("in another language", { timeout: 60_000 }, () => {
  test("the published proposals have the published hashes", () => {
    const program =
      "import hashlib,json,sys\nfor p in json.load(open(sys.argv[1])):\n" +
      ' t=json.dumps({k:p[k] for k in ("action","args","output")},ensure_ascii=False,separators=(",",":"),sort_keys=True)\n' +
      " print(hashlib.sha256(t.encode()).hexdigest())";
    const { said } = python("-c", program, "lib/protocol/fixtures/golden-hashes.json");
    expect(said.split("\n")).toEqual(golden.map((row) => row.proposal_hash));
  });

  test("a bundle verifies by the fifteen lines beside the fixtures, and a changed one does not", () => {
    const ids = { workspace_id: "工作区", run_id: "run-😀" };
    let prev_hash = genesisHash(ids.workspace_id, ids.run_id);
    const trace = [1, 2, 3].map((seq) => {
      const actor = { kind: "agent", id: "p", name: "批准" } as const;
      const at = "2026-01-02T03:04:05.000000Z";
      const payload = { big: 2512292042121000001n, small: 1e-7, large: 1e21, zero: 0 };
      const text = traceEventText({
        v: 1,
        kind: "trace",
        ...ids,
        seq,
        type: "checkpoint_saved",
        at,
        actor,
        payload,
        prev_hash,
      });
      prev_hash = sha256Hex(text);
      return { text, hash: prev_hash };
    });
    expect(verdictOf({ ...ids, trace })).toEqual({ ok: true, said: "verified: 3 events" });
    expect(verdictOf({ ...ids, trace: trace.toSpliced(1, 1) })).toEqual({ ok: false, said: "broken at 2" });
    expect(verdictOf({ ...ids, run_id: "other", trace })).toEqual({ ok: false, said: "broken at 1" });
  });

  function verdictOf(bundle: Parameters<typeof canonicalJson>[0]) {
    const file = path.join(folder, "bundle.json");
    writeFileSync(file, canonicalJson(bundle));
    return python("lib/protocol/fixtures/verify.py", file);
  }
});
