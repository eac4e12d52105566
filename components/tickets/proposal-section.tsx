"use client";

import { type RefObject, useMemo, useState } from "react";
import { Quoted } from "@/components/console/pieces";
import { Day } from "@/components/console/time";
import type { CanonicalJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";
import { jsonRows } from "@/lib/protocol/json-lines";
import type { ProposalField } from "@/lib/protocol/proposal-fields";
import { isLong } from "./field-value";
import { ProposalRaw, ProposalTable } from "./proposal";
import type { VerifiedView } from "./verify-view";

interface ProposalSectionProps {
  readonly page: TicketPage;
  readonly verified: VerifiedView;
  readonly before: readonly ProposalField[];
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly opened: ReadonlySet<string>;
  readonly onOpen: (path: string) => void;
}

/** `Structured` and `Raw` are two views of the same bytes; nothing is summarised in either. */
export function ProposalSection({ page, verified, before, frame, opened, onOpen }: ProposalSectionProps) {
  const [raw, setRaw] = useState(false);
  const { fields } = verified;
  const openedAll = fields.filter((field) => !isLong(field) || opened.has(field.path)).length;
  const rows = useMemo(
    () => (raw && verified.proposalText !== "" ? jsonRows(verified.proposalText as CanonicalJson) : []),
    [raw, verified.proposalText],
  );
  return (
    <section className="section mt-[22px]" aria-labelledby="proposal">
      <div className="section-head">
        <h2 id="proposal">Proposal</h2>
        <span className="note max-md:hidden">
          {openedAll} of {fields.length} fields shown whole
        </span>
        <fieldset className="segmented ml-auto" aria-label="View" data-view-switch="">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Structured
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            Raw
          </button>
        </fieldset>
      </div>
      {raw && (
        <div className="frame">
          <ProposalRaw rows={rows} />
        </div>
      )}
      {/* Stays in the page, hidden, while Raw is shown: it is what was hashed, folds and all. */}
      <div className="frame" ref={frame} hidden={raw}>
        <ProposalTable fields={fields} compared={page.compared} before={before} opened={opened} onOpen={onOpen} />
      </div>
      {page.compared && <ComparedWords page={page} />}
    </section>
  );
}

function ComparedWords({ page }: { readonly page: TicketPage }) {
  const compared = page.compared;
  if (compared === null) return null;
  const verb = { allow: "allowed", deny: "denied", answer: "answered", continue: "continued" }[compared.verdict];
  return (
    <p className="mt-2.5 text-muted-foreground">
      Compared with the last {verb} call of this action by <Quoted text={page.agent.name} />, and with{" "}
      {compared.calls_read === 1 ? "1 call" : `${compared.calls_read} calls`} since <Day atMs={compared.since_ms} />.
    </p>
  );
}
