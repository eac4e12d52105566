import type postgres from "postgres";
import { pauseRun } from "@/db/store/ask";
import { decideTicket } from "@/db/store/decide";
import { completeCall } from "@/db/store/execute";
import { cancel, cancelCall, finishRun, replace, settle, sweepRun, withdrawCall } from "@/db/store/operate";
import { proposeStep } from "@/db/store/propose";
import type { OnExpiry } from "@/lib/protocol/call";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import { type Command, Model } from "./model";
import { aCall, allow, begin, codeOf, deny, openTestRun, park, standing, verdict, type World } from "./world";

/** A guard that is broken on purpose, so that the model can be seen to notice. */
export type Mutant =
  | "ignores deadlines"
  | "ignores leases"
  | "accepts any attempt"
  | "allows what was denied"
  | "forgets the end";

export interface Trial {
  readonly coupled: boolean;
  readonly classes: readonly { readonly safe: boolean; readonly onExpiry: OnExpiry }[];
  readonly commands: readonly Command[];
}

export interface TrialResult {
  readonly commands: number;
  readonly refused: number;
  /** The first place where the store and the model differ. */
  readonly divergence: string | null;
}

const HOUR = 3_600_000;

/** Run commands against the store and the model side by side; stop at the first difference. */
export async function runTrial(
  world: World,
  admin: postgres.Sql,
  trial: Trial,
  mutant: Mutant | null = null,
): Promise<TrialResult> {
  const runId = await openTestRun(world);
  const calls = trial.classes.map(({ safe, onExpiry }, index) =>
    aCall({ action: `act_${index}`, declaredClass: safe ? "read_only" : "none", onExpiry, deadlineInMs: HOUR }),
  );
  await park(world, runId, calls, { coupling: trial.coupled ? "all_or_nothing" : "independent" });
  const model = new Model(trial.coupled, trial.classes);
  let refused = 0;
  for (const [index, command] of trial.commands.entries()) {
    const expected = model.apply(command);
    const actual =
      expected === "skip" && !isDriven(command) ? "skip" : await drive(world, admin, runId, model, command, mutant);
    if (actual !== "ok" && actual !== "skip" && actual !== "in_progress") refused += 1;
    const where = `#${index} ${JSON.stringify(command)}`;
    if (actual !== expected)
      return { commands: index + 1, refused, divergence: `${where}: model ${expected}, store ${actual}` };
    const difference = await compare(admin, runId, model);
    if (difference) return { commands: index + 1, refused, divergence: `${where}: ${difference}` };
  }
  const records = await refusalsOf(admin, runId);
  const kept = records.ledger === refused && records.traced === refused;
  const divergence = kept
    ? null
    : `${refused} refusals were returned, ${records.ledger} kept, ${records.traced} traced`;
  return { commands: trial.commands.length, refused, divergence };
}

/** The clock's commands are done to the database; the model answers "skip" because nobody is answered. */
function isDriven({ do: name }: Command): boolean {
  return name === "pastDeadline" || name === "lapse" || name === "sweep";
}

async function drive(
  world: World,
  admin: postgres.Sql,
  runId: string,
  model: Model,
  command: Command,
  mutant: Mutant | null,
): Promise<string> {
  if (mutant === "ignores leases")
    await admin`update calls set lease_until = clock_timestamp() + interval '1 hour' where status = 'executing' and run = (select id from runs where run_id = ${runId})`;
  switch (command.do) {
    case "pause":
      return codeOf(await pauseRun(world.db, world.operator, runId, "hold"));
    case "continue":
      return goOn(world, admin, runId);
    case "cancelRun":
      return mutant === "forgets the end" ? "ok" : codeOf(await cancel(world.db, world.operator, runId, "stop"));
    case "finish":
      return codeOf(await finishRun(world.db, world.agent, runId, command.status, undefined));
    case "nextStep":
      return nextStep(world, runId, model);
    case "sweep": {
      const [run] = await admin<{ id: string }[]>`select id from runs where run_id = ${runId}`;
      await sweepRun(world.db, world.system, run?.id ?? "");
      return "skip";
    }
    default:
      return driveCall(world, admin, runId, model, command, mutant);
  }
}

type CallCommand = Extract<Command, { readonly call: number }>;

async function driveCall(
  world: World,
  admin: postgres.Sql,
  runId: string,
  model: Model,
  command: CallCommand,
  mutant: Mutant | null,
): Promise<string> {
  const ref = refOf(model, command.call);
  const { call, ticket } = await standing(world, runId, ref);
  if (!ticket) throw new Error(`${ref} has no ticket`);
  const what = { runId, call, ticket };
  switch (command.do) {
    case "allow":
      if (mutant === "ignores deadlines")
        await admin`update tickets set deadline_ms = null where id = ${ticket.id} and status = 'open'`;
      return codeOf(await allow(world, ticket));
    case "deny":
      return codeOf(await (mutant === "allows what was denied" ? allow(world, ticket) : deny(world, ticket)));
    case "begin":
      return codeOf(await begin(world, what));
    case "withdraw":
      return codeOf(await withdrawCall(world.db, world.agent, runId, ref, "back"));
    case "replace":
      return codeOf(await replace(world.db, world.operator, ticket.id, "again", null));
    case "cancelTicket":
      return codeOf(await cancelCall(world.db, world.operator, ticket.id, "no"));
    case "settle": {
      const verdictWord = command.happened ? "happened" : "did_not_happen";
      return codeOf(
        await settle(world.db, world.operator, runId, ref, { verdict: verdictWord, output: null, evidence: "log" }),
      );
    }
    case "complete": {
      const attempt = mutant === "accepts any attempt" ? Math.max(call.attempt, 1) : call.attempt - command.age;
      const output = command.output === null ? null : canonicalJson(command.output);
      const error = command.output === null ? canonicalJson("error") : null;
      return codeOf(
        await completeCall(world.db, world.agent, runId, ref, { attempt, output, error, recovered: false }),
      );
    }
    case "pastDeadline":
      await admin`update tickets set deadline_ms = deadline_ms - ${2 * HOUR}, opened_at = opened_at - interval '2 hours'
        where id = ${ticket.id} and status = 'open' and deadline_ms > floor(extract(epoch from clock_timestamp()) * 1000)`;
      return "skip";
    case "lapse":
      await admin`update calls set lease_until = clock_timestamp() - interval '1 second'
        where run = (select id from runs where run_id = ${runId}) and call_ref = ${ref} and status = 'executing'`;
      return "skip";
  }
}

function refOf(model: Model, index: number): string {
  const at = index % model.calls.length;
  const step = model.calls[at]?.step ?? 1;
  const before = model.calls.slice(0, at).filter((call) => call.step === step).length;
  return `s${step}.${before}`;
}

async function goOn(world: World, admin: postgres.Sql, runId: string): Promise<string> {
  const [pause] = await admin<{ id: string }[]>`
    select id from tickets where run = (select id from runs where run_id = ${runId}) and target_kind = 'pause'
    order by opened_at desc, id desc limit 1`;
  if (!pause) return "skip";
  const attempt = { ...(await verdict(world, pause, "allow")), result: { kind: "continue" } as const };
  return codeOf(await decideTicket(world.db, world.owner, pause.id, attempt));
}

/** Propose the step that the model has just added, or would have added had it been let. */
async function nextStep(world: World, runId: string, model: Model): Promise<string> {
  const steps = model.calls.map((call) => call.step);
  const highest = Math.max(...steps);
  const added = model.calls.length > 2 && model.calls.at(-1)?.ticket === "open" && model.calls.at(-1)?.attempt === 0;
  const step = added && !(await exists(world, runId, highest)) ? highest : highest + 1;
  const call = aCall({ action: `act_${step}`, deadlineInMs: HOUR });
  const request = {
    step,
    mode: "parallel",
    coupling: "independent",
    state: null,
    messages: [],
    calls: [call],
  } as const;
  return codeOf(await proposeStep(world.db, world.agent, runId, request));
}

async function exists(world: World, runId: string, step: number): Promise<boolean> {
  return standing(world, runId, `s${step}.0`).then(
    () => true,
    () => false,
  );
}

/** What stands in the database against what the model says stands there. */
async function compare(admin: postgres.Sql, runId: string, model: Model): Promise<string | null> {
  const rows = await admin<{ line: string }[]>`
    select concat_ws(' ', c.status, coalesce(c.outcome, '-'), coalesce(c.outcome_cause, '-'), c.attempt, c.unreported,
      exists (select from tickets t where t.run = c.run and t.call_ref = c.call_ref and t.status = 'open')) as line
    from calls c where c.run = (select id from runs where run_id = ${runId}) order by c.step, c.batch_index`;
  const [run] = await admin<
    { line: string }[]
  >`select concat_ws(' ', state, coalesce(cause, '-')) as line from runs where run_id = ${runId}`;
  const stored = [run?.line ?? "", ...rows.map((row) => row.line)];
  const waiting = model.paused || model.calls.some((call) => call.ticket === "open" || call.ticket === "held");
  const state = model.cause ? "ended" : waiting ? "awaiting" : "running";
  const wanted = [
    `${state} ${model.cause ?? "-"}`,
    ...model.calls.map(
      (call) =>
        `${call.status} ${call.outcome ?? "-"} ${call.cause ?? "-"} ${call.attempt} ${call.unreported ? "t" : "f"} ` +
        `${call.ticket === "open" || call.ticket === "held" ? "t" : "f"}`,
    ),
  ];
  const at = wanted.findIndex((line, index) => line !== stored[index]);
  if (at < 0 && wanted.length === stored.length) return null;
  return `line ${at}: model "${wanted[at]}", store "${stored[at]}"`;
}

async function refusalsOf(admin: postgres.Sql, runId: string) {
  const [row] = await admin<{ ledger: number; traced: number }[]>`
    select (select count(*)::int from refusals where named_run = ${runId}) as ledger,
      (select count(*)::int from trace_events where refusal_code is not null
        and run = (select id from runs where run_id = ${runId})) as traced`;
  return row ?? { ledger: -1, traced: -1 };
}
