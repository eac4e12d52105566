import type { ControllerName } from "./agent-definition";
import type { RunFacts } from "./console-run-view";
import type { ShownRefusal, ThreadMessage } from "./console-view";

/** Why the reader may not talk on a thread. */
export type TalkHindrance = "role" | "elsewhere" | "ended" | "another_principal";

export interface ThreadPage {
  readonly now_ms: number;
  readonly thread_id: string;
  /** The newest, oldest of them first. */
  readonly messages: readonly ThreadMessage[];
  readonly messages_in_all: number;
  /** Newest first. */
  readonly runs: readonly RunFacts[];
  /** What models are saying now. Nothing of it is committed. */
  readonly live: readonly { readonly run_id: string; readonly text: string; readonly at_ms: number }[];
  readonly talk:
    | { readonly run_id: string; readonly hindrance: null }
    | { readonly run_id: null; readonly hindrance: TalkHindrance };
}

export interface AgentRow {
  readonly name: string;
  readonly is_demo: boolean;
  /** Null: it does not run here. */
  readonly here: {
    readonly controller: ControllerName;
    readonly provider: string | null;
    readonly model: string | null;
    readonly tools: number;
  } | null;
  /** The reader may start it: its name is theirs. */
  readonly startable: boolean;
  readonly last_run_ms: number | null;
}

export interface AgentsPage {
  readonly now_ms: number;
  readonly rows: readonly AgentRow[];
  readonly agents_in_all: number;
  /** People beside the reader who may decide what a run of theirs asks for. */
  readonly others_may_decide: number;
}

export interface StartRequest {
  readonly run_id: string;
  readonly agent: string;
  readonly message: string;
}

export interface TalkRequest {
  readonly run_id: string;
  readonly message_id: string;
  readonly text: string;
}

export type StartAnswer =
  | { readonly ok: true; readonly thread_id: string }
  | { readonly ok: false; readonly refusal: ShownRefusal };

export type TalkAnswer =
  | { readonly ok: true; readonly added: boolean }
  | { readonly ok: false; readonly refusal: ShownRefusal };
