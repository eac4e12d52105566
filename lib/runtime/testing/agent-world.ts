import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import postgres from "postgres";
import { inWorkspace } from "@/db/client";
import { readRunBook } from "@/db/queries/ticket-view";
import { readTrace } from "@/db/queries/trace";
import { decideTicket } from "@/db/store/decide";
import { type ClaimedJob, claimNext } from "@/db/store/mailbox/claim";
import { enqueueResumes } from "@/db/store/mailbox/enqueue";
import { ackJob, deferJobBy } from "@/db/store/mailbox/report";
import { cancel } from "@/db/store/operate";
import { allowList, setPolicy } from "@/db/store/set-policy";
import { startAgentRun } from "@/db/testing/start-agent";
import { newWorld, verdict, type World } from "@/db/testing/world";
import type { TicketFacts } from "@/lib/protocol/book/facts";
import { stored } from "@/lib/protocol/book/stored";
import { canonicalJson, isObject, type JsonObject, type JsonValue } from "@/lib/protocol/canonical-json";
import type { Caller } from "@/lib/protocol/principal";
import { ok, type Result, refuse } from "@/lib/result";
import type { Advanced, Advancing } from "@/lib/runtime/advance";
import { deliver } from "@/lib/runtime/deliver";
import type { FailAt } from "@/lib/runtime/failpoint";
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from "@/lib/runtime/model/model";

/** What a scripted model says next: words, tool calls, or why it says nothing; a function may look at what it is asked. */
export type Line =
  | string
  | readonly [name: string, args: JsonValue | string][]
  | { readonly failure: ModelFailure }
  | Spoken;
type Spoken = (request: ModelRequest, onText?: (delta: string) => void) => Promise<Line> | Line;

/** A model that says what it was told to say, and keeps what it was asked. */
export class Script implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly lines: readonly Line[]) {}

  get calls(): number {
    return this.requests.length;
  }

  async answer(
    request: ModelRequest,
    options: { readonly onText?: (delta: string) => void } = {},
  ): Promise<Result<ModelAnswer, ModelFailure>> {
    this.requests.push(request);
    // The last line is said for ever, so that a loop that does not stop is seen in its budget.
    let line = this.lines[this.requests.length - 1] ?? this.lines.at(-1);
    while (typeof line === "function") line = await line(request, options.onText);
    if (line === undefined) throw new Error("the script is empty");
    if (typeof line === "object" && "failure" in line) return refuse(line.failure);
    const calls = typeof line === "string" ? [] : line;
    return ok({
      text: typeof line === "string" ? line : null,
      toolCalls: calls.map(([name, args], index) => ({
        callId: `c${index}`,
        name,
        argumentsText: typeof args === "string" ? args : canonicalJson(args),
      })),
      finish: "stop",
      usage: null,
    });
  }
}

/** A world whose worker runs agents, with a folder that they may write beneath. */
export class AgentWorld {
  private constructor(
    readonly world: World,
    readonly folder: string,
  ) {}

  static async open(): Promise<AgentWorld> {
    return new AgentWorld(await newWorld(), mkdtempSync(path.join(os.tmpdir(), "holdpoint-agent-")));
  }

  async close(): Promise<void> {
    await this.world.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Start a run of an agent whose `write_file` and `look` need no consent. */
  async start(
    definition: JsonObject,
    name = `agent-${definition.controller}`,
    agent: Caller = this.world.agent,
  ): Promise<string> {
    const { db, cli } = this.world;
    const tools = ["look", "send_mail", "write_file"].map((tool) => ({ name: tool }));
    const content = { name, provider: "scripted", model: "m", mcpServers: null, tools, build: null, definition };
    const started = await startAgentRun(db, agent, { agent: content, input: "Write a brief." });
    if (!started.ok) throw new Error(canonicalJson({ code: started.refusal.code, path: started.refusal.path ?? null }));
    const rules = allowList(["write_file", "look"]);
    const policy = await setPolicy(db, cli, name, { default: "ask", rules });
    if (!policy.ok) throw new Error(policy.refusal.code);
    return started.value;
  }

  /** Do every job that is due, as a worker does. Gives what became of each. */
  async drive(model: Model | null | ((name: string) => Model)): Promise<Advanced[]> {
    const done: Advanced[] = [];
    for (let job = await this.next(); job; job = await this.next()) {
      const advanced = await this.advance(job, model);
      done.push(advanced);
      if (advanced.kind === "done") await ackJob(this.world.db, this.world.system, job);
      else if (advanced.kind === "later") await deferJobBy(this.world.db, this.world.system, job, advanced.inMs);
    }
    return done;
  }

  /** What a worker does with one job. A function gives each agent its model, by the name that its snapshot has. */
  async advance(
    job: ClaimedJob,
    model: Model | null | ((name: string) => Model),
    failAt: FailAt = () => undefined,
    over: Partial<Pick<Advancing, "db" | "reach">> = {},
  ): Promise<Advanced> {
    const context = {
      db: this.world.db,
      system: { ...this.world.system, surface: "worker" as const },
      worker: "w",
      job,
      reach: { writeRoots: [this.folder] },
      failAt,
      stop: new AbortController().signal,
      ...(model
        ? {
            modelFor: (snapshot: { readonly model: string | null }) =>
              ok(typeof model === "function" ? model(snapshot.model ?? "") : model),
          }
        : {}),
      ...over,
    };
    const delivered = await deliver(context, job);
    if (delivered.kind === "never") throw new Error(delivered.why);
    return delivered;
  }

  private async next(): Promise<ClaimedJob | undefined> {
    const [job] = await claimNext(this.world.db, { claimer: "w", leaseMs: 30_000, most: 1 });
    return job;
  }

  /** The next job, claimed by a worker. */
  async claim() {
    const job = await this.next();
    if (!job) throw new Error("no job is due");
    return job;
  }

  async finish(job: ClaimedJob): Promise<void> {
    const acked = await ackJob(this.world.db, this.world.system, job);
    if (!acked.ok) throw new Error(acked.refusal.code);
  }

  /** Its worker is silent for so long that the job is another's: the claim is over, and the job due. */
  async giveUp({ jobId }: ClaimedJob): Promise<void> {
    await inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      await tx.sql`
        update jobs set status = 'Queued', claim_token = null, claimed_by = null, lease_until = null
        where workspace_id = ${tx.workspace} and job_id = ${jobId}`;
    });
  }

  /** What the database says of a run's live text, its jobs and its bound states. */
  async beside(runId: string) {
    return inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      const [row] = await tx.sql<{ live: string | null; bound: number; batches: number }[]>`
        select (select text from live_texts where workspace_id = r.workspace_id and run = r.id) as live,
          (select count(*) from run_states where workspace_id = r.workspace_id and run = r.id and bound_at is not null) as bound,
          (select count(*) from batches where workspace_id = r.workspace_id and run = r.id) as batches
        from runs r where r.workspace_id = ${tx.workspace} and r.run_id = ${runId}`;
      if (!row) throw new Error("no such run");
      return row;
    });
  }

  /** What was put off to a later time is due now. */
  async makeDue(runId: string): Promise<void> {
    const run = await this.internalId(runId);
    await inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      await tx.sql`update jobs set available_at = clock_timestamp() where workspace_id = ${tx.workspace} and run = ${run}`;
    });
  }

  async internalId(runId: string): Promise<string> {
    return inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      const [run] = await tx.sql<{ id: string }[]>`
        select id from runs where workspace_id = ${tx.workspace} and run_id = ${runId}`;
      return run?.id ?? "";
    });
  }

  /** A run that nobody is to look at any more: its jobs would be found by the next test. */
  async abandon(runId: string): Promise<void> {
    const ended = await cancel(this.world.db, this.world.owner, runId, "the test is over");
    if (!ended.ok) throw new Error(ended.refusal.code);
  }

  async suspend(suspended: boolean): Promise<void> {
    const admin = postgres(this.world.adminUrl, { max: 1, onnotice: () => undefined });
    await admin`update workspaces set suspended_at = ${suspended ? new Date() : null} where id = ${this.world.workspace}`;
    await admin.end();
  }

  /** Have a worker look at the run again, whatever its state. */
  async look(runId: string): Promise<void> {
    const { db, workspace } = this.world;
    await inWorkspace(db, workspace, async (tx) => {
      const [run] = await tx.sql<{ id: string; runId: string; agentId: string; threadId: string }[]>`
        select id, run_id, agent_id, thread_id from runs where workspace_id = ${workspace} and run_id = ${runId}`;
      if (!run) throw new Error("no such run");
      await enqueueResumes(tx, run, [{ dedupeKey: `look:${runId}`, ticketId: null }]);
    });
  }

  async openTickets(runId: string): Promise<readonly TicketFacts[]> {
    const book = await readRunBook(this.world.db, this.world.workspace, runId, {});
    return book?.openTickets() ?? [];
  }

  async onlyTicket(runId: string): Promise<TicketFacts> {
    const [ticket, ...others] = await this.openTickets(runId);
    if (!ticket || others.length > 0) throw new Error(`${others.length + (ticket ? 1 : 0)} tickets are open`);
    return ticket;
  }

  async answer(ticket: TicketFacts, input: JsonValue): Promise<void> {
    const attempt = { ...(await verdict(this.world, ticket, "allow")), result: { kind: "input", input } as const };
    const answered = await decideTicket(this.world.db, this.world.approver, ticket.id, attempt);
    if (!answered.ok) throw new Error(answered.refusal.code);
  }

  async row(runId: string) {
    return inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      const [row] = await tx.sql<
        {
          state: string;
          cause: string | null;
          causeCode: string | null;
          output: string | null;
          rejectedSignals: number;
          codes: string[] | null;
        }[]
      >`
        select r.state, r.cause, r.cause_code, r.output, r.rejected_signals,
          (select array_agg(f.code order by f.at, f.id) from refusals f where f.workspace_id = r.workspace_id and f.run = r.id) as codes
        from runs r where r.workspace_id = ${tx.workspace} and r.run_id = ${runId}`;
      if (!row) throw new Error("no such run");
      return { ...row, codes: row.codes ?? [] };
    });
  }

  /** A person is let go: nothing is theirs to do any more. */
  async disable({ person }: Caller): Promise<void> {
    await inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      await tx.sql`
        update members set disabled_at = clock_timestamp() where workspace_id = ${tx.workspace} and person_id = ${person}`;
    });
  }

  /** Who produced the first signal on record. */
  async sourceOf(runId: string): Promise<JsonValue> {
    const events = await readTrace(this.world.db, this.world.workspace, runId);
    const event = events.find(({ type }) => type === "signal_received");
    const read = event ? stored(event.text) : null;
    const payload = read !== null && isObject(read) ? (read.payload ?? null) : null;
    return payload !== null && isObject(payload) ? (payload.source ?? null) : null;
  }

  /** The thread as committed: `role:content`. */
  async thread(runId: string): Promise<readonly string[]> {
    return inWorkspace(this.world.db, this.world.workspace, async (tx) => {
      const rows = await tx.sql<{ line: string }[]>`
        select m.role || ':' || m.content as line from messages m
        join runs r on r.workspace_id = m.workspace_id and r.thread_id = m.thread_id
        where r.workspace_id = ${tx.workspace} and r.run_id = ${runId} order by m.seq`;
      return rows.map(({ line }) => line);
    });
  }
}
