"use client";

import { Quoted } from "@/components/console/pieces";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import { payloadKind } from "./payload-section";
import { actOf } from "./ticket-title";

/** UTF-16 units of action and target that one line has room for. */
const LINE = 90;

interface ConsequenceProps {
  readonly page: TicketPage;
  readonly answer: string | null;
  /** Beside the buttons: what a line has no room for is not cut, but stands in the proposal alone. */
  readonly brief?: boolean;
}

/** What happens, spelt out from the committed proposal and the call's class; never from the agent's words. */
export function Consequence({ page, answer, brief = false }: ConsequenceProps) {
  const { action, args, target } = actOf(page);
  const named = !brief || action.length + (target?.length ?? 0) <= LINE;
  const name = named ? <Quoted text={action} /> : "the action shown above";
  const call = page.call;
  const kind = payloadKind(page);
  if (kind === "result") {
    return (
      <>
        <strong className="font-semibold">Does not run {name}.</strong>{" "}
        <span className="text-muted-foreground">The agent gets what you wrote as its result.</span>
      </>
    );
  }
  if (call && !call.executable) {
    return (
      <>
        <strong className="font-semibold text-bad">No worker knows {name}, so it will fail.</strong>{" "}
        <span className="text-muted-foreground">Nothing runs, and the agent is told.</span>
      </>
    );
  }
  const edited = kind === "arguments" && answer !== canonicalJson(args);
  const who = call?.executor === "worker" ? "as soon as a worker claims it" : "as soon as its agent begins it";
  return (
    <>
      <strong className="font-semibold">
        Runs {name}
        {edited && " with your arguments"}
        {!edited && named && target !== null && (
          <>
            {" "}
            on <Quoted text={target} />
          </>
        )}
        , once.
      </strong>{" "}
      <span className="text-muted-foreground">
        {call?.effective_class === "none"
          ? "The tool declares no undo and is not safe to repeat. "
          : "The tool declares no undo. "}
        It runs {who}.
      </span>
    </>
  );
}
