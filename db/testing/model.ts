import type { FinishStatus } from "@/lib/protocol/book/closing";
import type { CallOutcome, OnExpiry } from "@/lib/protocol/call";

/** One call as the model knows it. It knows nothing of rows, clocks or locks. */
export interface ModelCall {
  readonly step: number;
  readonly safe: boolean;
  readonly onExpiry: OnExpiry;
  status: "awaiting" | "approved" | "executing" | "indeterminate" | "completed";
  outcome: CallOutcome | null;
  cause: string | null;
  attempt: number;
  unreported: boolean;
  leaseOver: boolean;
  reported: string | null;
  settled: boolean;
  /** Its newest ticket. */
  ticket: "open" | "held" | "answered" | "expired" | "cancelled";
  deadlinePast: boolean;
}

export type Command =
  | {
      readonly do: "allow" | "deny" | "begin" | "withdraw" | "replace" | "cancelTicket" | "pastDeadline" | "lapse";
      readonly call: number;
    }
  | { readonly do: "complete"; readonly call: number; readonly age: number; readonly output: string | null }
  | { readonly do: "settle"; readonly call: number; readonly happened: boolean }
  | { readonly do: "finish"; readonly status: FinishStatus }
  | { readonly do: "cancelRun" | "sweep" | "pause" | "continue" | "nextStep" };

const MOST_CALLS = 5;

/** Outcomes that take never begun siblings with them in an `all_or_nothing` batch. */
const COUPLING = ["person", "expiry", "ticket_cancelled", "withdrawn"];

/**
 * A small picture of one run, written from the tables of the protocol and not from the code: what each command must answer and
 * what must stand afterwards.
 */
export class Model {
  cause: string | null = null;
  paused = false;
  everPaused = false;
  readonly calls: ModelCall[];

  constructor(
    readonly coupled: boolean,
    classes: readonly { readonly safe: boolean; readonly onExpiry: OnExpiry }[],
  ) {
    this.calls = classes.map(({ safe, onExpiry }) => newCall(1, safe, onExpiry));
  }

  /** The code that the store must answer. */
  apply(command: Command): string {
    if (command.do === "complete") return this.complete(this.at(command.call), command.age, command.output);
    if (command.do === "pastDeadline") return this.pastDeadline(this.at(command.call));
    if (command.do === "lapse") return this.lapseClock(this.at(command.call));
    if (command.do === "continue" && !this.everPaused) return "skip";
    if (command.do === "nextStep" && this.calls.length >= MOST_CALLS) return "skip";
    this.actOnLapses();
    switch (command.do) {
      case "allow":
        return this.decide(this.at(command.call), true);
      case "deny":
        return this.decide(this.at(command.call), false);
      case "begin":
        return this.begin(this.at(command.call));
      case "withdraw":
        return this.withdraw(this.at(command.call));
      case "replace":
        return this.replace(this.at(command.call));
      case "cancelTicket":
        return this.cancelTicket(this.at(command.call));
      case "settle":
        return this.settle(this.at(command.call), command.happened);
      case "finish":
        return this.finish(command.status);
      case "cancelRun":
        return this.cause ? "run_ended" : this.end("cancelled");
      case "sweep":
        return this.sweep();
      case "pause":
        return this.pause();
      case "continue":
        return this.goOn();
      case "nextStep":
        return this.nextStep();
    }
  }

  private at(index: number): ModelCall {
    const call = this.calls[index % this.calls.length];
    if (!call) throw new Error("a run has a call");
    return call;
  }

  private decide(call: ModelCall, allow: boolean): string {
    if (this.cause) return "run_ended";
    if (call.ticket === "expired") return "expired";
    if (call.ticket !== "open" && call.ticket !== "held") return "not_awaiting";
    if (call.deadlinePast) return "expired";
    call.ticket = "answered";
    if (allow) call.status = "approved";
    else this.close(call, "blocked", "person");
    return "ok";
  }

  private begin(call: ModelCall): string {
    if (call.status === "completed" && call.cause !== "run_ended") {
      if (call.outcome === "blocked") return "approval_rejected";
      return call.outcome === "cancelled" ? "call_cancelled" : "ok";
    }
    if (this.cause) return "run_ended";
    if (call.status === "indeterminate") return "indeterminate";
    if (call.status === "awaiting") return "approval_required";
    if (call.status === "executing") return "in_progress";
    if (this.paused) return "run_awaiting";
    call.status = "executing";
    call.attempt += 1;
    call.unreported = true;
    call.leaseOver = false;
    return "ok";
  }

  private complete(call: ModelCall, age: number, output: string | null): string {
    const attempt = call.attempt - age;
    if (call.attempt === 0 || age > 0 || attempt < 1) return "stale_attempt";
    const said = output ?? "error";
    if (call.status === "completed") {
      if (call.settled) return (call.outcome === "succeeded") === (output !== null) ? "ok" : "settlement_contradicted";
      return call.reported === said ? "ok" : "result_conflict";
    }
    call.reported = said;
    this.close(call, output === null ? "failed" : "succeeded", output === null ? "reported_failure" : "executed");
    return "ok";
  }

  private settle(call: ModelCall, happened: boolean): string {
    const unknown = call.status === "indeterminate" || (call.status === "approved" && call.unreported);
    if (!unknown) return "not_indeterminate";
    call.settled = true;
    this.close(call, happened ? "succeeded" : "failed", happened ? "settled" : "effect_did_not_happen");
    return "ok";
  }

  private withdraw(call: ModelCall): string {
    if (call.status === "completed") {
      if (call.cause === "withdrawn") return "ok";
      return this.cause && call.cause === "run_ended" ? "run_ended" : "result_conflict";
    }
    if (this.cause) return "run_ended";
    if (call.attempt > 0) return "call_unfinished";
    if (isWaiting(call)) call.ticket = "cancelled";
    this.close(call, "cancelled", "withdrawn");
    return "ok";
  }

  private replace(call: ModelCall): string {
    if (this.cause) return "run_ended";
    const voids = call.ticket === "answered" && call.status === "approved" && call.attempt === 0;
    if (!isWaiting(call) && !voids) return "not_awaiting";
    call.ticket = "open";
    call.deadlinePast = false;
    call.status = "awaiting";
    return "ok";
  }

  private cancelTicket(call: ModelCall): string {
    if (this.cause) return "run_ended";
    if (!isWaiting(call)) return "not_awaiting";
    call.ticket = "cancelled";
    this.close(call, "cancelled", "ticket_cancelled");
    return "ok";
  }

  private finish(status: FinishStatus): string {
    if (this.cause) return "run_ended";
    if (this.paused || this.calls.some(isWaiting)) return "run_awaiting";
    const begun = this.calls.some(mayHaveHappened);
    if (begun && status === "completed") return "call_unfinished";
    return this.end(begun ? "indeterminate" : status);
  }

  private pause(): string {
    if (this.cause) return "run_ended";
    this.paused = true;
    this.everPaused = true;
    return "ok";
  }

  private goOn(): string {
    if (this.cause) return "run_ended";
    if (!this.paused) return "not_awaiting";
    this.paused = false;
    return "ok";
  }

  private nextStep(): string {
    if (this.cause) return "run_ended";
    const open = this.calls.some(
      (call) => call.status !== "completed" && !(call.status === "approved" && !call.unreported),
    );
    if (open) return "batch_open";
    for (const call of this.calls) if (call.status === "approved") this.close(call, "cancelled", "not_picked_up");
    this.calls.push(newCall(Math.max(...this.calls.map((call) => call.step)) + 1, false, "hold"));
    return "ok";
  }

  private pastDeadline(call: ModelCall): string {
    if (isWaiting(call)) call.deadlinePast = true;
    return "skip";
  }

  private lapseClock(call: ModelCall): string {
    if (call.status === "executing") call.leaseOver = true;
    return "skip";
  }

  private sweep(): string {
    for (const call of this.calls) {
      if (call.ticket !== "open" || !call.deadlinePast) continue;
      if (call.onExpiry === "hold") call.ticket = "held";
      else if (call.onExpiry === "end_run") {
        call.ticket = "expired";
        this.end("cancelled");
      } else {
        call.ticket = "expired";
        this.close(call, call.onExpiry === "deny" ? "blocked" : "cancelled", "expiry");
      }
    }
    return "skip";
  }

  private actOnLapses(): void {
    for (const call of this.calls) {
      if (call.status !== "executing" || !call.leaseOver) continue;
      call.leaseOver = false;
      call.status = call.safe && !this.cause ? "approved" : "indeterminate";
    }
  }

  private close(call: ModelCall, outcome: CallOutcome, cause: string): void {
    call.status = "completed";
    call.outcome = outcome;
    call.cause = cause;
    call.unreported = false;
    if (!this.coupled || call.step !== 1 || this.cause || !COUPLING.includes(cause)) return;
    for (const sibling of this.calls) {
      if (sibling.step !== 1 || sibling.status === "completed" || sibling.attempt > 0) continue;
      if (isWaiting(sibling)) sibling.ticket = "cancelled";
      sibling.status = "completed";
      sibling.outcome = "cancelled";
      sibling.cause = "sibling_denied";
    }
  }

  private end(cause: string): string {
    this.paused = false;
    for (const call of this.calls) {
      if (isWaiting(call)) call.ticket = "cancelled";
      if (call.status === "approved" && call.unreported) call.status = "indeterminate";
      if (call.status !== "awaiting" && call.status !== "approved") continue;
      call.status = "completed";
      call.outcome = "cancelled";
      call.cause = "run_ended";
    }
    this.cause = cause;
    return "ok";
  }
}

function newCall(step: number, safe: boolean, onExpiry: OnExpiry): ModelCall {
  return {
    step,
    safe,
    onExpiry,
    status: "awaiting",
    outcome: null,
    cause: null,
    attempt: 0,
    unreported: false,
    leaseOver: false,
    reported: null,
    settled: false,
    ticket: "open",
    deadlinePast: false,
  };
}

function isWaiting(call: ModelCall): boolean {
  return call.ticket === "open" || call.ticket === "held";
}

function mayHaveHappened(call: ModelCall): boolean {
  return (
    call.status === "executing" || call.status === "indeterminate" || (call.status === "approved" && call.unreported)
  );
}
