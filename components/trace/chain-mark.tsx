"use client";

import { Loader, ShieldCheck, ShieldX } from "lucide-react";
import { TONE_CLASS } from "@/components/console/status";
import type { ChainFault } from "@/lib/protocol/trace-event";
import type { ChainState } from "./use-trace";

const FAULTS: Readonly<Record<ChainFault, string>> = {
  hash_mismatch: "its text does not hash to what stands beside it",
  not_json: "its text is not JSON",
  not_canonical: "its text is not in canonical form",
  not_an_event: "it is not an event",
  another_run: "it belongs to another run",
  seq_gap: "the event before it is missing",
  broken_link: "it does not follow from the event before it",
  column_differs: "a column beside it says something else",
};

export function ChainMark({ chain }: { readonly chain: ChainState }) {
  if (chain.kind === "checking") {
    return (
      <span className={`status ${TONE_CLASS.off} text-muted-foreground`}>
        <Loader className="icon icon-sm" aria-hidden="true" />
        Checking the chain
      </span>
    );
  }
  const { verdict } = chain;
  if (!verdict.ok) {
    return (
      <span className={`status ${TONE_CLASS.bad} text-bad`} role="alert">
        <ShieldX className="icon icon-sm" aria-hidden="true" />
        Chain broken at event {verdict.seq}: {FAULTS[verdict.why]}
      </span>
    );
  }
  return (
    <span className={`status ${TONE_CLASS.ok}`}>
      <ShieldCheck className="icon icon-sm" aria-hidden="true" />
      Chain verified: {verdict.count.toLocaleString("en-US")} {verdict.count === 1 ? "event" : "events"}
    </span>
  );
}
