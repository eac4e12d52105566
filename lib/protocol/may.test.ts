import { describe, expect, test } from "vitest";
import { may, type Right, VERBS, type Verb } from "./may";
import { PRINCIPAL_KINDS, ROLES } from "./principal";

/** The contract's table: agent key, operator key, worker key, approver, operator, owner. `✓` is yes, `o` own, `–` no. */
const CONTRACT: Readonly<Record<string, readonly Verb[]>> = {
  "✓ – – – ✓ ✓": ["publish_snapshot", "open_run"],
  "o – – – o o": ["talk", "propose", "ask", "wait", "put_state", "withdraw", "finish", "resume_failed"],
  "o – – – – –": ["begin", "renew", "complete", "read_state", "answer_own_wait"],
  "o ✓ – ✓ ✓ ✓": ["read_run", "read_trace", "read_tickets"],
  "– – – ✓ – ✓": ["decide", "undo", "edit", "ask_back", "assign"],
  "– – – – ✓ ✓": ["answer_pause"],
  "o ✓ – – ✓ ✓": ["cancel_run"],
  "– ✓ – – ✓ ✓": [
    "replace_ticket",
    "cancel_ticket",
    "pause_run",
    "settle",
    "read_bundle",
    "read_refusals",
    "read_jobs",
    "requeue_job",
    "cancel_job",
    "interrupt_mailbox",
  ],
  "– – ✓ – – –": ["enqueue_job", "claim_job", "report_job", "execute_claimed"],
  "– – – – – ✓": ["manage_rules", "manage_members", "manage_keys", "manage_agent_names", "manage_retention"],
  "– ✓ – – – –": ["read_metrics"],
  "– – – – – –": ["answer_for_system", "drive_cli_run"],
};

const SIGN: Readonly<Record<Right, string>> = { yes: "✓", own: "o", no: "–" };
const COLUMNS = [
  { kind: "agent", role: null },
  { kind: "operator", role: null },
  { kind: "worker", role: null },
  ...ROLES.map((role) => ({ kind: "person" as const, role })),
] as const;

describe("may", () => {
  test.each(VERBS)("%s is the contract's row", (verb) => {
    const row = COLUMNS.map((caller) => SIGN[may(caller, verb)]).join(" ");
    expect(CONTRACT[row], row).toContain(verb);
  });

  test("gives a person without a role nothing", () => {
    for (const verb of VERBS) expect(may({ kind: "person", role: null }, verb)).toBe("no");
  });

  test("lets no key decide, of whatever kind, nor the command line, nor the system", () => {
    for (const kind of PRINCIPAL_KINDS) {
      if (kind === "person") continue;
      for (const verb of ["decide", "undo", "edit", "answer_pause"] as const)
        expect(may({ kind, role: null }, verb)).toBe("no");
    }
  });

  test("lets the command line set up who acts, read, and drive its own runs, and nothing else", () => {
    const allowed = VERBS.filter((verb) => may({ kind: "cli", role: null }, verb) !== "no");
    expect(allowed).toEqual([
      "read_run",
      "read_trace",
      "read_tickets",
      "read_bundle",
      "manage_rules",
      "manage_members",
      "manage_keys",
      "drive_cli_run",
    ]);
  });

  test("leaves what waits for the system to the system alone", () => {
    const callers = [...PRINCIPAL_KINDS.map((kind) => ({ kind, role: null })), ...COLUMNS];
    const answering = callers.filter((caller) => may(caller, "answer_for_system") !== "no").map(({ kind }) => kind);
    expect(answering).toEqual(["system"]);
  });
});
