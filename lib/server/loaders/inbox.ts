import "server-only";
import {
  COUNT_CAP,
  type InboxFilter,
  type InboxRecord,
  type ListReader,
  readInbox,
  readInboxSummary,
  readOpenCount,
} from "@/db/queries/inbox";
import { type AwaitReason, isOfferedToPeople } from "@/lib/protocol/await-target";
import { RISKS } from "@/lib/protocol/call";
import { isObject } from "@/lib/protocol/canonical-json";
import type { InboxFacts, InboxPage, InboxRow, OpenCount } from "@/lib/protocol/console-inbox-view";
import type { AnswerKind, EffectLine, TicketFlag } from "@/lib/protocol/console-view";
import { msOf } from "@/lib/protocol/instant";
import type { Caller } from "@/lib/protocol/principal";
import { database } from "../database";
import { effectOf, hiddenIn, storedJson } from "./effects";

const PAGE = 50;
const KINDS = ["permission", "question", "pause"] as const;

export async function loadInbox(caller: Caller, query: URLSearchParams): Promise<InboxPage> {
  const { workspace } = caller;
  const cursor = query.get("cursor");
  const reading = await readInbox(await database(), workspace, readerOf(caller), filterOf(query), PAGE, cursor);
  return { rows: reading.rows.map(inboxRow), next_cursor: reading.next, now_ms: msOf(reading.now) };
}

/** What stands around the list. A read of its own: the rows never wait for counts. */
export async function loadInboxFacts(caller: Caller, query: URLSearchParams): Promise<InboxFacts> {
  const summary = await readInboxSummary(await database(), caller.workspace, readerOf(caller), filterOf(query));
  return {
    count: summary.counted,
    count_capped: summary.counted >= COUNT_CAP,
    open_in_all: summary.openInAll,
    due_soon: summary.dueSoon,
    agents: summary.agents,
    actions: summary.actions,
    now_ms: msOf(summary.now),
  };
}

function readerOf(caller: Caller): ListReader {
  return { person: caller.person ?? "", role: caller.role ?? "approver" };
}

function filterOf(query: URLSearchParams): InboxFilter {
  return {
    mine: query.get("who") !== "everyone",
    agent: query.get("agent"),
    action: query.get("action"),
    risk: RISKS.find((risk) => risk === query.get("risk")) ?? null,
    kind: KINDS.find((kind) => kind === query.get("kind")) ?? null,
  };
}

export async function loadOpenCount(caller: Caller): Promise<OpenCount> {
  const { open, now } = await readOpenCount(await database(), caller.workspace);
  return { open, capped: open >= COUNT_CAP, now_ms: msOf(now) };
}

function inboxRow(record: InboxRecord): InboxRow {
  const kind = answerKind(record.reason);
  return {
    ticket_id: record.ticketId,
    kind,
    action: record.action ?? "pause",
    effect: kind === "permission" ? effectOf(record.args, record.target) : wordsOf(record),
    why_it_asks: whyItAsks(kind, record),
    agent: record.agent,
    run_id: record.runId,
    risk: record.risk,
    deadline_ms: record.deadlineMs,
    expired_ms: record.expiredAt === null ? null : msOf(record.expiredAt),
    asked_ms: msOf(record.openedAt),
    flag: flagOf(record),
    is_demo: record.isDemo,
    may_decide: record.mayDecide,
  };
}

export function answerKind(reason: AwaitReason): AnswerKind {
  if (!isOfferedToPeople({ reason })) return "elsewhere";
  if (reason === "permission") return "permission";
  return reason === "user_input" ? "question" : "pause";
}

/** The question itself, or why it was paused. */
function wordsOf(record: InboxRecord): EffectLine {
  const args = storedJson(record.args);
  const question = args !== null && isObject(args) ? args.question : null;
  const words = typeof question === "string" ? question : (record.prompt ?? "");
  return { lead: effectOfWords(words), keep: "" };
}

function effectOfWords(words: string): string {
  return words.length > 160 ? `${words.slice(0, 160)}…` : words;
}

function whyItAsks(kind: AnswerKind, record: InboxRecord): string {
  if (kind === "question") return "The agent asks a person";
  if (kind === "pause") return record.reason === "budget_reached" ? "Its budget is reached" : "Paused";
  return record.ruleId ?? "No rule allows it";
}

/** The single most unusual thing: hidden text, then denied before, then an open quorum. */
function flagOf(record: InboxRecord): TicketFlag | null {
  const hidden = record.action === null ? 0 : hiddenIn(record.action, record.args, record.target);
  if (hidden > 0) return { kind: "hidden", count: hidden };
  if (record.deniedBefore > 0) return { kind: "denied_before", times: record.deniedBefore };
  return record.quorumNeeded > 1 ? { kind: "quorum", allowed: record.allowed, needed: record.quorumNeeded } : null;
}
