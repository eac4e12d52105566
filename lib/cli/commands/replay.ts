import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type Db, inWorkspace } from "@/db/client";
import { ensurePrincipal } from "@/db/store/identity";
import { canonicalJson, isObject, type JsonObject, type JsonValue, readJsonBytes } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { startRecording } from "@/lib/runtime/recorded-agent";
import type { RecordedCall, RecordedStep, Recording } from "@/lib/runtime/recording";
import { CommandRefused } from "../refused";

export interface ReplayOptions {
  readonly file: string;
  /** Only threads whose id contains this. */
  readonly thread: string | null;
  readonly most: number | null;
  /** Ask about every call, also those that the recording marks as reading only. */
  readonly askAll: boolean;
}

export interface RecordedThread {
  readonly recording: Recording;
  readonly agent: string;
  /** Tools that the recording never marks as changing anything. */
  readonly readOnlyTools: readonly string[];
}

interface Line {
  readonly threadId: string;
  readonly source: string;
  readonly step: number;
  readonly batchIndex: number;
  readonly model: string | null;
  readonly context: string | null;
  readonly isWrite: boolean;
  readonly call: RecordedCall;
}

/** Start a run for each recorded thread of a file. Workers move them; people decide. */
export async function replay(db: Db, cli: Caller, options: ReplayOptions): Promise<JsonObject> {
  const threads = await readThreads(options.file);
  const wanted = threads
    .filter(({ recording }) => options.thread === null || recording.thread.includes(options.thread))
    .slice(0, options.most ?? undefined);
  if (wanted.length === 0) {
    const among = options.thread === null ? "" : ` whose id contains "${options.thread}"`;
    throw new CommandRefused(
      "no_such_thread",
      `${options.file} has no thread${among}; it has ${threads.length} in all.`,
    );
  }
  const runs: JsonValue[] = [];
  for (const thread of wanted) runs.push(await startThread(db, cli, thread, options.askAll));
  return { file: options.file, threads: threads.length, started: runs.length, runs };
}

export async function startThread(db: Db, cli: Caller, thread: RecordedThread, askAll: boolean): Promise<string> {
  const agent = await recordedAgent(db, cli.workspace, thread.agent);
  const started = await startRecording(db, agent, cli, thread.recording, {
    agent: thread.agent,
    runId: null,
    allowed: askAll ? [] : thread.readOnlyTools,
    isDemo: false,
  });
  if (!started.ok)
    throw new CommandRefused(
      started.refusal.code,
      `thread ${thread.recording.thread}: ${started.refusal.detail ?? ""}`,
    );
  return started.value;
}

/** The principal that a recorded agent acts as. It has no key, so nobody else can act as it. */
export async function recordedAgent(db: Db, workspace: string, name: string): Promise<Caller> {
  const principal = await inWorkspace(db, workspace, (tx) => ensurePrincipal(tx, "agent", `recorded:${name}`));
  return {
    workspace,
    principal,
    kind: "agent",
    role: null,
    person: null,
    display: name,
    surface: "cli",
    credential: null,
  };
}

/** Read a file of recorded calls, one a line, threads whole and in order. A line that cannot be read is named by its number. */
export async function readThreads(file: string): Promise<readonly RecordedThread[]> {
  const threads = new Map<string, Line[]>();
  let number = 0;
  await requireReadable(file);
  for await (const bytes of linesOf(file)) {
    number += 1;
    if (bytes.every(isBlank)) continue;
    const line = readLine(bytes, number);
    const lines = threads.get(line.threadId) ?? [];
    lines.push(line);
    threads.set(line.threadId, lines);
  }
  const writing = new Set([...threads.values()].flat().flatMap((line) => (line.isWrite ? [line.call.tool] : [])));
  return [...threads].map(([id, lines]) => threadOf(id, lines, writing));
}

const LINE_FEED = 0x0a;
const isBlank = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0d;

/** As bytes, since what is no UTF-8 must be refused and not mended; and a line ends at a line feed alone, as JSON lines do. */
async function* linesOf(file: string): AsyncGenerator<Buffer, void> {
  let rest = Buffer.alloc(0);
  for await (const piece of createReadStream(file)) {
    rest = Buffer.concat([rest, piece as Buffer]);
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}

async function requireReadable(file: string): Promise<void> {
  const is = await stat(file).catch(() => null);
  if (is === null)
    throw new CommandRefused("no_such_file", `There is no file ${file}, or this account may not read it.`);
  if (!is.isFile()) throw new CommandRefused("no_such_file", `${file} is no file.`);
}

function threadOf(id: string, lines: readonly Line[], writing: ReadonlySet<string>): RecordedThread {
  const sorted = [...lines].sort((a, b) => a.step - b.step || a.batchIndex - b.batchIndex);
  const steps: RecordedStep[] = [];
  let at: number | null = null;
  for (const line of sorted) {
    const last = steps.at(-1);
    if (line.step === at && last?.kind === "calls")
      steps[steps.length - 1] = { ...last, calls: [...last.calls, line.call] };
    else steps.push({ kind: "calls", message: line.context, calls: [line.call] });
    at = line.step;
  }
  const tools = [...new Set(sorted.map((line) => line.call.tool))];
  return {
    recording: { thread: id, model: sorted[0]?.model ?? null, steps },
    agent: (sorted[0]?.source ?? "recorded").split("/").at(-1) ?? "recorded",
    // A name with a star would be a pattern, so it asks.
    readOnlyTools: tools.filter((tool) => !writing.has(tool) && !tool.includes("*")),
  };
}

const NO_LIMITS = { maxDepth: 256, maxKeys: 1_000_000 };

function readLine(bytes: Uint8Array, number: number): Line {
  const read = readJsonBytes(bytes, NO_LIMITS);
  if (!read.ok)
    throw new CommandRefused(read.refusal.code, `line ${number}, ${read.refusal.path}: ${read.refusal.detail}`);
  const line = read.value;
  if (!isObject(line)) throw new CommandRefused("invalid_body", `line ${number} is no object`);
  const threadId = textField(line, "thread_id");
  const tool = textField(line, "tool");
  if (threadId === null || tool === null)
    throw new CommandRefused("invalid_body", `line ${number} has no thread_id or no tool`);
  return {
    threadId,
    source: textField(line, "source") ?? "recorded",
    step: numberField(line, "step"),
    batchIndex: numberField(line, "batch_index"),
    model: textField(line, "model"),
    context: textField(line, "context"),
    isWrite: line.is_write !== false,
    call: {
      callId: textField(line, "call_id"),
      tool,
      // Arguments that were no JSON stand there as the text that was recorded, and are carried whole.
      args: line.args ?? null,
      output: null,
      result: resultText(line.result),
      error: textField(line, "error"),
      risk: line.is_attack === true ? "high" : line.is_write === false ? "low" : "medium",
      why: null,
    },
  };
}

function resultText(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : canonicalJson(value);
}

function textField(line: JsonObject, name: string): string | null {
  const value = line[name];
  return typeof value === "string" && value !== "" ? value : null;
}

function numberField(line: JsonObject, name: string): number {
  const value = line[name];
  return typeof value === "number" ? value : 0;
}
