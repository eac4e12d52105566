"use client";

import { createContext, type ReactNode, useContext } from "react";
import type { SettleRequest } from "@/lib/protocol/console-run-view";
import type { StartAnswer, StartRequest, TalkAnswer, TalkRequest } from "@/lib/protocol/console-thread-view";
import type {
  BulkDecisionAnswer,
  BulkDecisionRequest,
  DecisionAnswer,
  DecisionRequest,
  DemoAnswer,
  OperatorAnswer,
} from "@/lib/protocol/console-view";

/** Everything that the console may ask the server to do. Each returns plain data; none navigates or draws the page again. */
export interface ConsoleActions {
  readonly decide: (request: DecisionRequest) => Promise<DecisionAnswer>;
  readonly decideMany: (request: BulkDecisionRequest) => Promise<BulkDecisionAnswer>;
  readonly cancelCall: (request: { readonly ticket_id: string; readonly reason: string }) => Promise<OperatorAnswer>;
  readonly replaceTicket: (request: {
    readonly ticket_id: string;
    readonly reason: string;
    readonly deadline_in_ms: number | null;
  }) => Promise<OperatorAnswer>;
  readonly cancelRun: (request: { readonly run_id: string; readonly reason: string }) => Promise<OperatorAnswer>;
  readonly settleCall: (request: SettleRequest) => Promise<OperatorAnswer>;
  readonly startRun: (request: StartRequest) => Promise<StartAnswer>;
  readonly talk: (request: TalkRequest) => Promise<TalkAnswer>;
  readonly requeueJob: (request: { readonly job_id: string; readonly reason: string }) => Promise<OperatorAnswer>;
  readonly cancelJob: (request: { readonly job_id: string; readonly reason: string }) => Promise<OperatorAnswer>;
  readonly interruptMailbox: (request: {
    readonly mailbox_id: string;
    readonly reason: string;
  }) => Promise<OperatorAnswer>;
  readonly removeDemo: (request: null) => Promise<DemoAnswer>;
}

const Actions = createContext<ConsoleActions | null>(null);

export function ActionsProvider({
  actions,
  children,
}: {
  readonly actions: ConsoleActions;
  readonly children: ReactNode;
}) {
  return <Actions.Provider value={actions}>{children}</Actions.Provider>;
}

export function useActions(): ConsoleActions {
  const actions = useContext(Actions);
  if (actions === null) throw new Error("The console's actions are provided by its layout.");
  return actions;
}
