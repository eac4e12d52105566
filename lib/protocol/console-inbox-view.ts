import type { Risk } from "./call";
import type { AnswerKind, EffectLine, TicketFlag } from "./console-view";

export interface InboxRow {
  readonly ticket_id: string;
  readonly kind: AnswerKind;
  readonly action: string;
  readonly effect: EffectLine;
  readonly why_it_asks: string;
  readonly agent: string;
  readonly run_id: string;
  readonly risk: Risk;
  readonly deadline_ms: number | null;
  readonly expired_ms: number | null;
  readonly asked_ms: number;
  readonly flag: TicketFlag | null;
  readonly is_demo: boolean;
  /** Whether this reader may decide it; a colleague's own run or an operator's pause may be out of reach. */
  readonly may_decide: boolean;
}

export interface InboxPage {
  readonly rows: readonly InboxRow[];
  readonly next_cursor: string | null;
  readonly now_ms: number;
}

/** What stands around the inbox's rows; read beside them. */
export interface InboxFacts {
  /** Open tickets under these filters, counted up to `count_capped`. */
  readonly count: number;
  readonly count_capped: boolean;
  /** Open tickets that people answer, without filters. */
  readonly open_in_all: number;
  readonly due_soon: number;
  readonly agents: readonly string[];
  readonly actions: readonly string[];
  readonly now_ms: number;
}

/** How many tickets are open that people answer; counted no further than where `capped` says so. */
export interface OpenCount {
  readonly open: number;
  readonly capped: boolean;
  readonly now_ms: number;
}
