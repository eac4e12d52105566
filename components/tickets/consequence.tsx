"use client";

import { Quoted } from "@/components/console/pieces";
import { canonicalJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import { payloadKind } from "./payload-section";
import { actOf } from "./ticket-title";

/** What happens, spelt out from the committed proposal and the call's class; never from the agent's words. */
export function Consequence({ page, answer }: { readonly page: TicketPage; readonly answer: string | null }) {
  const { action, args, target } = actOf(page);
  const call = page.call;
  const kind = payloadKind(page);
  if (kind === "result") {
    return (
      <>
        <strong className="font-semibold">
          Does not run <Quoted text={action} />.
        </strong>{" "}
        <span className="text-muted-foreground">The agent gets what you wrote as its result.</span>
      </>
    );
  }
  if (call && !call.executable) {
    return (
      <>
        <strong className="font-semibold text-bad">
          No worker knows <Quoted text={action} />, so it will fail.
        </strong>{" "}
        <span className="text-muted-foreground">Nothing runs, and the agent is told.</span>
      </>
    );
  }
  const edited = kind === "arguments" && answer !== canonicalJson(args);
  const who = call?.executor === "worker" ? "as soon as a worker claims it" : "as soon as its agent begins it";
  return (
    <>
      <strong className="font-semibold">
        Runs <Quoted text={action} />
        {edited && " with your arguments"}
        {!edited && target !== null && (
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
