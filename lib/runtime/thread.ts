import type { ThreadLine } from "@/db/queries/agent-facts";
import type { Message } from "@/db/store/messages";
import type { CallFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import type { CallRef } from "@/lib/protocol/call";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { sha256Hex } from "@/lib/protocol/hash";
import { CALLS_ROLE, readSaidCalls, type SaidCall, saidCallsText } from "@/lib/protocol/said-calls";
import type { ModelMessage, ModelToolCall } from "./model/model";

/** A decision's own words and calls, as they join the thread. */
export function saidMessages(
  runId: string,
  turn: number,
  texts: readonly string[],
  calls: readonly SaidCall[],
): Message[] {
  const words = texts.map((text, index) => ({ id: `assistant:${runId}:${turn}:${index}`, role: "assistant", text }));
  if (calls.length === 0) return words;
  return [...words, { id: `calls:${runId}:${turn}`, role: CALLS_ROLE, text: saidCallsText(calls) }];
}

/** What became of one call of a decision. */
export function toolMessage(runId: string, turn: number, index: number, text: string): Message {
  return { id: `result:${runId}:${turn}:${index}`, role: "tool", text };
}

/** What the runtime tells the model where no call of its own can carry it. */
export function runtimeMessage(runId: string, turn: number, text: string): Message {
  return { id: `runtime:${runId}:${turn}`, role: "runtime", text };
}

/** What the model is told of a call: its result, or that it failed, was blocked or cancelled, and why. */
export function resultText(call: CallFacts, reason?: string): string {
  // The model must not take a result for that of the arguments it chose.
  if (call.editNo > 0) {
    const ran = resultText({ ...call, editNo: 0 }, reason);
    return canonicalJson({ changed_by_a_person: { arguments: stored(call.args) }, result: stored(ran) });
  }
  if (call.outcome === "succeeded") return call.result ?? "null";
  if (call.outcome === "failed") return canonicalJson({ error: call.error === null ? "failed" : stored(call.error) });
  return canonicalJson({
    [call.outcome ?? "unfinished"]: call.outcomeCause ?? "",
    call: call.callRef,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** Results of the last decision's calls that the thread does not have yet; they are committed with the next step. */
export function missingResults(
  runId: string,
  thread: readonly ThreadLine[],
  calls: readonly CallFacts[],
  reasons: ReadonlyMap<string, string>,
): Message[] {
  const last = thread.findLast((line) => isOf(line.sourceId, `calls:${runId}:`));
  if (!last) return [];
  const known = new Set(thread.map((line) => line.sourceId));
  const turn = turnOf(last.sourceId);
  return saidCalls(last.content).flatMap(({ callRef }, index) => {
    const call = calls.findLast((it) => callRef !== null && isPlaceOf(it, callRef));
    if (!call) return [];
    const message = toolMessage(runId, turn, index, resultText(call, reasons.get(call.callRef)));
    return known.has(message.id) ? [] : [message];
  });
}

/** An edited call stands for the one that it replaced, at the same place. */
function isPlaceOf(call: CallFacts, ref: CallRef): boolean {
  return ref === `s${call.step}.${call.batchIndex}`;
}

/**
 * The thread as a model reads it, rebuilt from committed messages alone. A call's result stands right behind the calls wherever it
 * was committed, because providers want it there.
 */
export function conversation(thread: readonly Pick<ThreadLine, "sourceId" | "role" | "content">[]): ModelMessage[] {
  const results = new Map(thread.map((line) => [line.sourceId, line.content]));
  const messages: ModelMessage[] = [];
  for (const { sourceId, role, content } of thread) {
    if (role === "user" || role === "runtime") messages.push({ role: "user", text: content });
    else if (role === "assistant") messages.push({ role: "assistant", text: content, toolCalls: [] });
    else if (role === CALLS_ROLE) pushCalls(messages, sourceId, content, results);
  }
  return messages;
}

function pushCalls(
  messages: ModelMessage[],
  sourceId: string,
  content: string,
  results: ReadonlyMap<string, string>,
): void {
  const calls = saidCalls(content);
  const place = sourceId.slice("calls:".length);
  const toolCalls: ModelToolCall[] = calls.map(({ name, argumentsText }, index) => ({
    callId: wireId(place, index),
    name,
    argumentsText,
  }));
  const before = messages.at(-1);
  const text = before?.role === "assistant" && before.toolCalls.length === 0 ? before.text : null;
  if (text !== null) messages.pop();
  messages.push({ role: "assistant", text, toolCalls });
  for (const index of calls.keys()) {
    const result = results.get(`result:${place}:${index}`) ?? '{"unfinished":""}';
    messages.push({ role: "tool", callId: wireId(place, index), text: result });
  }
}

/** A model reuses its call ids, so each place on the thread has one of ours. */
function wireId(place: string, index: number): string {
  return `call_${sha256Hex(place).slice(0, 16)}_${index}`;
}

/** A run's id may hold a colon, so the rest must be a turn and nothing else. */
function isOf(sourceId: string, prefix: string): boolean {
  return sourceId.startsWith(prefix) && /^[0-9]+$/.test(sourceId.slice(prefix.length));
}

function turnOf(sourceId: string): number {
  return Number(sourceId.slice(sourceId.lastIndexOf(":") + 1));
}

/** Our own writing, read back. */
function saidCalls(content: string): readonly SaidCall[] {
  const calls = readSaidCalls(content);
  if (calls === null) throw new Error("a thread's calls are no list");
  return calls;
}
