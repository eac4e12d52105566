import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonObject } from "./canonical-json";
import { VERBS } from "./may";
import { attemptedWord, REFUSAL_GROUPS } from "./refusal-groups";
import { plainText, type Sentence } from "./sentence";
import { REFUSAL_TRACE_TYPES, TRACE_TYPES } from "./trace-event";
import { lineSentence, reasonCode, refusedHashes, refusedPairs, traceLine } from "./trace-line";

function line(type: string, payload: JsonObject) {
  const event = { type, payload, at: "2026-03-01T09:00:00.000000Z", actor: { name: "ada" }, prev_hash: "ab" };
  return traceLine({ seq: 7, hash: "cd", event_text: canonicalJson(event) });
}

const said = (type: string, payload: JsonObject = {}) => wordsOf(lineSentence(line(type, payload)));

function wordsOf(sentence: Sentence): string {
  return plainText(sentence, { time: (atMs) => new Date(atMs).toISOString(), ago: String });
}

describe("an event's line", () => {
  test("is read from the text that was hashed", () => {
    expect(line("run_ended", { cause: "completed" })).toMatchObject({
      seq: 7,
      hash: "cd",
      type: "run_ended",
      actor: "ada",
      prevHash: "ab",
      payloadText: '{"cause":"completed"}',
      refused: false,
    });
  });

  test("a text that no longer reads, or a type nobody knows, is told and not guessed", () => {
    const broken = traceLine({ seq: 1, hash: "", event_text: "{" });
    expect(broken).toMatchObject({ type: null, typeWord: "unreadable", actor: "", at: "", payload: {} });
    expect(wordsOf(lineSentence(broken))).toBe("");
    expect(line("teleported", {}).type).toBeNull();
  });

  test.each<readonly [string, JsonObject, readonly string[]]>([
    ["checkpoint_saved", { step: 2, snapshot_id: "0123456789abcdefgh" }, ["Step 2", "01234567…efgh"]],
    [
      "proposal_recorded",
      { call_ref: "s1.0", action: "send", verdict: "blocked", rule: "no" },
      ["s1.0", "send", "blocked", "rule", "no"],
    ],
    ["policy_evaluated", { behaviour: "allow", rule: "reads" }, ["allowed by", "reads"]],
    ["policy_evaluated", { behaviour: "deny" }, ["denied by the default"]],
    ["pending_recorded", { ticket_id: "t-1" }, ["waits, ticket", "t-1"]],
    ["proposal_verified", { phase: "approval" }, ["recomputed equals stored"]],
    ["proposal_verified", { phase: "resume" }, ["recomputed equals approved"]],
    ["approval_recorded", { verdict: "allow", settles: false }, ["Allow, more are needed"]],
    ["approval_recorded", { verdict: "deny", reason: { hash: "x" } }, ["Deny, with a reason"]],
    ["input_received", { call_ref: "s1.0" }, ["s1.0", "answered"]],
    [
      "resume_started",
      { attempt: 2, worker: "w", lease_until: "2026-03-01T09:00:00Z" },
      ["attempt 2", "w", "lease until 2026-03-01T09:00:00.000Z"],
    ],
    ["resume_started", { attempt: 1 }, ["attempt 1"]],
    ["action_executed", { attempt: 1, late: true }, ["attempt 1, late"]],
    ["action_conflict", { attempt: 1, code: "output_conflict" }, ["output_conflict"]],
    [
      "state_transition",
      { from: "approved", to: "completed", outcome: "cancelled", cause: "not_picked_up" },
      ["approved → cancelled, not picked up"],
    ],
    ["state_transition", { cause: "lease_over" }, ["lease over"]],
    ["ticket_expired", { on_expiry: "deny" }, ["then deny"]],
    ["ticket_superseded", { successor_ticket_id: "t-2" }, ["replaced by", "t-2"]],
    ["ticket_cancelled", { cause: "run_ended" }, ["run ended"]],
    ["run_ended", { cause: "failed", code: "x" }, ["failed", "x"]],
    ["resume_rejected", { attempted: "begin", call: "s1.0" }, ["Begin", "s1.0"]],
    ["transition_rejected", { attempted: "decide", late_verdict: "late_allow" }, ["Late allow"]],
  ])("%s says what happened", (type, payload, parts) => {
    for (const part of parts) expect(said(type, payload)).toContain(part);
  });

  test("no type is without words or throws on an empty payload", () => {
    for (const type of TRACE_TYPES) expect(typeof said(type)).toBe("string");
  });
});

describe("a refusal's line", () => {
  test("leads with its reason, and says so where none is there", () => {
    for (const type of REFUSAL_TRACE_TYPES) {
      expect(reasonCode(line(type, { reason: "run_ended" }))).toBe("run_ended");
      expect(reasonCode(line(type, {}))).toBe("unknown");
    }
    expect(reasonCode(line("run_ended", { reason: "x" }))).toBeNull();
  });

  test("holds its hashes against the approval where there is one, else against what is stored", () => {
    const facts = { supplied_hash: "1", current_hash: "2", stored_hash: "3" };
    expect(refusedHashes({ ...facts, approval_hash: "4" })).toEqual({
      reference: { name: "approval", value: "4" },
      lines: [
        { name: "supplied", value: "1" },
        { name: "current", value: "2" },
        { name: "stored", value: "3" },
      ],
    });
    expect(refusedHashes(facts).reference?.name).toBe("stored");
    expect(refusedHashes({ supplied_hash: "1", current_hash: null })).toEqual({
      reference: null,
      lines: [{ name: "supplied", value: "1" }],
    });
  });

  test("shows what was sent beside what was frozen, whatever its kind", () => {
    const payload = { supplied_output: ["a"], approved_output: "b", request_id: "1", view_digest: null };
    expect(refusedPairs(payload)).toEqual([{ name: "output", supplied: '["a"]', frozen: "b" }]);
  });

  test("every group's verbs have a word, also those that nobody gave one", () => {
    const verbs = REFUSAL_GROUPS.flatMap((group) => group.verbs);
    expect(new Set(verbs).size).toBe(verbs.length);
    for (const verb of VERBS.filter((it) => it !== "drive_cli_run"))
      expect(attemptedWord(verb, null)).toMatch(/^[A-Z][a-z ]+$/);
    expect(attemptedWord("a_verb_of_a_later_version", null)).toBe("a verb of a later version");
    expect(attemptedWord("decide", "late_deny")).toBe("Late deny");
  });
});
