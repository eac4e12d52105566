import "server-only";
import { readRefusals } from "@/db/queries/refusals";
import type { RefusalsPage } from "@/lib/protocol/console-run-view";
import { msOf } from "@/lib/protocol/instant";
import type { Caller } from "@/lib/protocol/principal";
import { REFUSAL_GROUPS } from "@/lib/protocol/refusal-groups";
import { isRefusalCode, refusalRule } from "@/lib/protocol/refusals";
import { database } from "../database";

const PAGE = 100;

export async function loadRefusals(caller: Caller, query: URLSearchParams): Promise<RefusalsPage> {
  const group = REFUSAL_GROUPS.find((it) => it.name === query.get("group"));
  const filter = {
    verbs: group?.verbs ?? null,
    code: query.get("code"),
    actor: query.get("actor"),
    surface: query.get("surface"),
  };
  const reading = await readRefusals(await database(), caller.workspace, filter, PAGE, query.get("cursor"));
  return {
    rows: reading.rows.map((record) => ({
      id: record.id,
      code: record.code,
      verb: record.verb,
      late_verdict: record.lateVerdict,
      actor: record.actor,
      surface: record.surface,
      run_id: record.runId,
      named_run: record.namedRun,
      named_ticket: record.namedTicket,
      seq: record.seq,
      supplied_hash: record.suppliedHash,
      current_hash: record.currentHash,
      stored_hash: record.storedHash,
      approval_hash: record.approvalHash,
      advice: isRefusalCode(record.code) ? refusalRule(record.code).advice : "",
      at_ms: msOf(record.at),
    })),
    next_cursor: reading.next,
    by_code: reading.byCode,
    by_verb: reading.byVerb,
    actors: reading.actors,
    now_ms: msOf(reading.now),
  };
}
