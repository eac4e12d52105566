"use client";

import Link from "next/link";
import { Effect } from "@/components/console/effect";
import { ShortHash } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { Status } from "@/components/console/status";
import { callLook, TICKET_LOOKS } from "@/components/console/status-table";
import { Moment } from "@/components/console/time";
import type { BatchCall, BatchView, RunPage } from "@/lib/protocol/console-run-view";

/** The calls of the run, newest step first: what was asked, decided, begun, and what came of it. */
export function BatchTables({ page }: { readonly page: RunPage }) {
  const [newest, ...earlier] = page.batches;
  if (newest === undefined) return null;
  return (
    <>
      <Batch batch={newest} title="Batch" />
      {earlier.length > 0 && (
        <details className="border-b border-border">
          <summary className="flex min-h-9 cursor-pointer items-center gap-2 px-[var(--gutter)] text-muted-foreground">
            {earlier.length} earlier {earlier.length === 1 ? "step" : "steps"}
            {page.older_batches > 0 && `, and ${page.older_batches} older in the trace`}
          </summary>
          {earlier.map((batch) => (
            <Batch key={batch.step} batch={batch} title={`Step ${batch.step}`} />
          ))}
        </details>
      )}
    </>
  );
}

function Batch({ batch, title }: { readonly batch: BatchView; readonly title: string }) {
  const id = `batch-${batch.step}`;
  const { calls } = batch;
  return (
    <section aria-labelledby={id}>
      <div className="flex min-h-[38px] items-center gap-2 border-y border-border px-[var(--gutter)]">
        <h2 className="font-semibold" id={id}>
          {title}
        </h2>
        <span className="text-muted-foreground">
          step {batch.step}, {calls.length} {calls.length === 1 ? "call" : "calls"}, {batch.mode.replace("_", " ")}
          {batch.coupling === "all_or_nothing" && ", all or nothing"}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard. */}
      <section className="scroll-x" aria-label={`${title} table`} tabIndex={0}>
        <table className="data-table stack-md batch-table">
          <thead>
            <tr>
              <th scope="col" className="num">
                #
              </th>
              <th scope="col">Call</th>
              <th scope="col">State</th>
              <th scope="col">Decision</th>
              <th scope="col">Lease</th>
              <th scope="col" className="num">
                Proposal
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => (
              <CallRow key={call.call_ref} call={call} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function CallRow({ call }: { readonly call: BatchCall }) {
  return (
    <tr>
      <td className="num text-subtle-foreground">{call.batch_index}</td>
      <td className="fill">
        <span className="flex min-w-0 gap-x-2 max-md:flex-wrap">
          <span className="action-name max-w-full flex-none md:truncate md:[&:has(+.target)]:max-w-[60%] max-md:[overflow-wrap:anywhere]">
            {call.ticket_id === null ? (
              <Quoted text={call.action} />
            ) : (
              <Link className="text-link" href={`/tickets/${call.ticket_id}`}>
                <Quoted text={call.action} />
              </Link>
            )}
          </span>
          <Effect effect={call.effect} />
        </span>
      </td>
      <td>
        <Status look={callLook(call.status, call.outcome)} />
      </td>
      <td>
        <Decided call={call} />
      </td>
      <td className="text-muted-foreground">
        <Lease call={call} />
      </td>
      <td className="num">
        <ShortHash value={call.proposal_hash} />
      </td>
    </tr>
  );
}

/** Causes that say less than they should when they are only spelt out. */
const CAUSE_WORDS: Readonly<Record<string, string>> = { replaced_by: "replaced by an edit" };

const VERDICT_LOOKS = { allow: "allowed", deny: "denied", answer: "answered", continue: "continued" } as const;

function Decided({ call }: { readonly call: BatchCall }) {
  const { decision } = call;
  if (decision !== null) {
    const name =
      decision.verdict in VERDICT_LOOKS ? VERDICT_LOOKS[decision.verdict as keyof typeof VERDICT_LOOKS] : "answered";
    return (
      <span className="status">
        <Status look={TICKET_LOOKS[name]} />
        <span className="text-muted-foreground">
          <Quoted text={decision.by} />, <Moment atMs={decision.at_ms} />
        </span>
      </span>
    );
  }
  if (call.authorised_by === "rule" || call.outcome_cause === "rule") {
    return (
      <span className="text-muted-foreground">
        Not asked
        {call.rule_id !== null && (
          <>
            , rule <Quoted text={call.rule_id} />
          </>
        )}
      </span>
    );
  }
  if (call.status === "awaiting") return <span className="text-muted-foreground">Awaited</span>;
  return (
    <span className="text-subtle-foreground">
      {call.outcome_cause === null ? "–" : (CAUSE_WORDS[call.outcome_cause] ?? call.outcome_cause.replaceAll("_", " "))}
    </span>
  );
}

function Lease({ call }: { readonly call: BatchCall }) {
  if (call.settled_by !== null) {
    return (
      <>
        settled by <Quoted text={call.settled_by} />
      </>
    );
  }
  if (call.attempt === 0) return <span className="text-subtle-foreground">Not begun</span>;
  if (call.lease_until_ms === null) {
    return (
      <>
        attempt {call.attempt}
        {call.unreported && call.outcome === null ? ", unreported" : ", released"}
      </>
    );
  }
  return (
    <>
      {call.claimed_by !== null && (
        <>
          <Quoted text={call.claimed_by} />,{" "}
        </>
      )}
      attempt {call.attempt}, until <Moment atMs={call.lease_until_ms} />
    </>
  );
}
