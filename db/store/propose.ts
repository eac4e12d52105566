import type { Scope, Tx } from "@/db/client";
import type { Book } from "@/lib/protocol/book/book";
import type { CallFacts, TicketFacts } from "@/lib/protocol/book/facts";
import { type ProposedCall, type ProposedStep, propose, verdictOf } from "@/lib/protocol/book/propose";
import { stored } from "@/lib/protocol/book/stored";
import type {
  BatchMode,
  CallVerdict,
  Coupling,
  IdempotencyClass,
  OnDeny,
  OnExpiry,
  ResumeMode,
  Risk,
} from "@/lib/protocol/call";
import { canonicalJson, hashJson, isObject, type JsonValue } from "@/lib/protocol/canonical-json";
import { isGatewayAction, shapeOf } from "@/lib/protocol/gateway-actions";
import type { Caller } from "@/lib/protocol/principal";
import { checkOutput, proposalHash } from "@/lib/protocol/proposal";
import { type Refusal, refusalAt } from "@/lib/protocol/refusals";
import { ok, type Result, refuse } from "@/lib/result";
import { addMessages, type Message } from "./messages";
import { bindState, findState, type StateClaim } from "./states";
import { type Outcome, type Visited, visit } from "./visit";

/** One call as its agent proposes it; what was not said is null or the default of http-api. */
export interface CallRequest {
  readonly callId: string | null;
  readonly action: string;
  readonly args: JsonValue;
  readonly output: JsonValue;
  /** `delegation`: the worker opens a run of another agent and answers with its end. Nobody else can ask for it. */
  readonly target: "permission" | "client_execution" | "delegation";
  readonly declaredClass: IdempotencyClass | null;
  readonly mcpServer: string | null;
  readonly why: string | null;
  readonly risk: Risk;
  readonly prompt: string | null;
  readonly schema: JsonValue;
  readonly options: JsonValue;
  readonly deadlineMs: number | null;
  readonly deadlineInMs: number | null;
  readonly onExpiry: OnExpiry;
  readonly onDeny: OnDeny;
  readonly allowValidMs: number | null;
  readonly resumeMode: ResumeMode;
  readonly rebind: boolean;
}

/** What a call is that says nothing but its act: the defaults of http-api "Calls and waits". */
export const PLAIN_CALL = {
  callId: null,
  target: "permission",
  declaredClass: null,
  mcpServer: null,
  why: null,
  risk: "medium",
  prompt: null,
  schema: null,
  options: null,
  deadlineMs: null,
  deadlineInMs: null,
  onExpiry: "hold",
  onDeny: "continue",
  allowValidMs: null,
  resumeMode: "replay_tool_call",
  rebind: false,
} as const satisfies Omit<CallRequest, "action" | "args" | "output">;

export interface StepRequest {
  readonly step: number;
  readonly mode: BatchMode;
  readonly coupling: Coupling;
  readonly state: StateClaim | null;
  readonly messages: readonly Message[];
  readonly calls: readonly CallRequest[];
}

/** One call as propose answers it: with its newest ticket, open or not. */
export interface ProposedAnswer {
  readonly call: CallFacts;
  readonly verdict: CallVerdict;
  readonly ticket: TicketFacts | null;
}

export interface StepAnswer {
  readonly step: number;
  readonly fromRecord: boolean;
  readonly calls: readonly ProposedAnswer[];
}

/** Record one model step and park what must ask. All of it commits, or none. Source: protocol §5 "Commit boundary". */
export async function proposeStep(
  scope: Scope,
  caller: Caller,
  runId: string,
  request: StepRequest,
  /** The recorded agent's tools return what was recorded and touch nothing. */
  effectClass?: IdempotencyClass,
): Promise<Outcome<StepAnswer>> {
  const attempted = { run: runId, input: { step: request.step, actions: request.calls.map((call) => call.action) } };
  const what = {
    verb: "propose" as const,
    ...(caller.kind === "cli" ? { right: "drive_cli_run" as const } : {}),
    at: { run: runId },
    step: request.step,
    attempted,
    beside: (tx: Tx) => deniedBefore(tx, runId, request.calls),
  };
  return visit(scope, caller, what, async (visited) => {
    const { tx, book, open } = visited;
    const recorded = book.callsOf(request.step).length > 0 ? book.batch(request.step) : null;
    const calls = proposedCalls(book, request.calls, recorded !== null, effectClass);
    if (!calls.ok) return calls;
    const state = await findState(tx, book.run.id, recorded ? null : request.state);
    if (!state.ok) return state;
    const step: ProposedStep = {
      ...request,
      contentHash: contentHash(request),
      messages: request.messages.length,
      calls: calls.value,
    };
    const done = propose(book, step, {
      recorded,
      highest: open.highest,
      deniedBefore: visited.beside,
      deniedLimit: deniedLimit(open.rights.settings),
    });
    if (!done.ok) return done;
    if (!done.value.fromRecord) await recordBeside(visited, request.messages, request.state);
    return ok({ ...done.value, calls: done.value.calls.map(({ call }) => answerFor(book, call)) });
  });
}

/** Messages and state of a step that was recorded just now, in its transaction. */
export async function recordBeside(
  { tx, book }: Pick<Visited, "tx" | "book">,
  messages: readonly Message[],
  state: StateClaim | null,
): Promise<void> {
  await addMessages(tx, book.run.threadId, messages);
  if (state !== null) await bindState(tx, book.run.id, state);
}

export function answerFor(book: Book, ref: CallFacts["callRef"]): ProposedAnswer {
  return { call: book.call(ref), verdict: verdictOf(book, ref).verdict, ticket: book.newestTicketOf(ref) ?? null };
}

/** What makes a step the same one: the acts it proposes, not the clock or the model's explanations around them. */
function contentHash({ mode, coupling, calls }: StepRequest): string {
  return hashJson({
    mode,
    coupling,
    calls: calls.map(({ callId, action, args, output, target }) => ({ call_id: callId, action, args, output, target })),
  });
}

function proposedCalls(
  book: Book,
  requests: readonly CallRequest[],
  isRecorded: boolean,
  effectClass: IdempotencyClass | undefined,
): Result<readonly ProposedCall[], Refusal> {
  const calls: ProposedCall[] = [];
  for (const [index, request] of requests.entries()) {
    const call = proposedCall(book, request, `calls[${index}]`, effectClass);
    if (!call.ok) return call;
    // A step that was in time when it was recorded is still that step when its agent sends it again after the deadline.
    if (!isRecorded && (call.value.terms.deadlineInMs ?? 0) < 0) {
      return refuse(refusalAt("deadline_in_past", `calls[${index}].deadline_ms`));
    }
    calls.push(call.value);
  }
  return ok(calls);
}

function proposedCall(
  book: Book,
  request: CallRequest,
  path: string,
  effectClass: IdempotencyClass | undefined,
): Result<ProposedCall, Refusal> {
  // What is only played back opens no target of ours, whatever its tool is called.
  const isOurs = effectClass === undefined && book.run.executor !== "client";
  const shape = isOurs && isGatewayAction(request.action) ? shapeOf(request.action, request.args) : null;
  const output = shape ? checkOutput(request.output, shape) : ok(request.output);
  if (!output.ok) return refuse(refusalAt("invalid_output", `${path}.output`, output.refusal.detail));
  const own = book.run.executor === "client" ? request.declaredClass : null;
  return ok({
    callId: request.callId,
    action: request.action,
    args: canonicalJson(request.args),
    target: canonicalJson(request.output),
    mcpServer: request.mcpServer,
    why: request.why,
    declaredClass: request.declaredClass,
    effectiveClass: effectClass ?? shape?.effectClass ?? own ?? "none",
    resumeMode: request.resumeMode,
    onDeny: request.onDeny,
    rebind: request.rebind,
    terms: {
      kind: "tool_call",
      reason: request.target,
      deadlineInMs: deadlineInMs(book, request),
      onExpiry: request.onExpiry,
      allowValidMs: request.allowValidMs,
      prompt: request.prompt,
      schema: request.schema,
      options: request.options,
      risk: request.risk,
    },
  });
}

export function deadlineInMs(
  book: Book,
  { deadlineMs, deadlineInMs: relative }: { readonly deadlineMs: number | null; readonly deadlineInMs: number | null },
): number | null {
  return relative ?? (deadlineMs === null ? null : deadlineMs - book.now.ms);
}

/** How often a person denied each of these acts in this run. Source: protocol §6 "Repeats". */
async function deniedBefore(
  tx: Tx,
  runId: string,
  calls: readonly CallRequest[],
): Promise<ReadonlyMap<string, number>> {
  const hashOf = ({ action, args, output }: CallRequest) =>
    proposalHash(action, canonicalJson(args), canonicalJson(output));
  const hashes = [...new Set(calls.map(hashOf))];
  if (hashes.length === 0) return new Map();
  const rows = await tx.sql<{ proposalHash: string; times: number }[]>`
    select proposal_hash, count(*) as times from calls
    where workspace_id = ${tx.workspace} and run = (select id from runs where workspace_id = ${tx.workspace} and run_id = ${runId})
      and proposal_hash in ${tx.sql(hashes)}
      and outcome = 'blocked' and outcome_cause = 'person'
    group by proposal_hash`;
  return new Map(rows.map((row) => [row.proposalHash, row.times]));
}

const DENIED_LIMIT = 3;

function deniedLimit(settings: string): number {
  const read = stored(settings);
  const limit = isObject(read) ? read.denied_limit : undefined;
  return typeof limit === "number" && limit > 0 ? limit : DENIED_LIMIT;
}
