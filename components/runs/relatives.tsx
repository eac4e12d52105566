"use client";

import Link from "next/link";
import { ShortHash } from "@/components/console/hash";
import { Quoted } from "@/components/console/pieces";
import { useServerSecond } from "@/components/console/server-clock";
import type { ChildView, RunPage } from "@/lib/protocol/console-run-view";
import { judgeRun } from "@/lib/protocol/verdict";
import { RunStanding } from "./run-standing";

/** The call whose result this run will be. */
export function WorksFor({ call }: { readonly call: NonNullable<RunPage["works_for"]> }) {
  return (
    <span>
      <Quoted text={call.agent} />, call <span className="mono">{call.call_ref}</span> of{" "}
      <RunLink runId={call.run_id} />
    </span>
  );
}

/** The runs that this one waits for, each with what it waits for itself. */
export function DelegatedRuns({ runs, inAll }: { readonly runs: readonly ChildView[]; readonly inAll: number }) {
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby="delegated">
      <div className="flex min-h-[38px] items-center gap-2 border-y border-border px-[var(--gutter)]">
        <h2 className="font-semibold" id="delegated">
          Delegated runs
        </h2>
        <span className="text-muted-foreground">
          each gives the result of one call
          {inAll > runs.length && `; ${runs.length} of ${inAll}, those that live first`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard. */}
      <section className="scroll-x" aria-label="Delegated runs table" tabIndex={0}>
        <table className="data-table roomy stack-md runs-table">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Agent</th>
              <th scope="col">State</th>
              <th scope="col">Why</th>
              <th scope="col">Call</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((child) => (
              <ChildLine key={child.facts.run_id} child={child} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function ChildLine({ child: { call_ref, facts } }: { readonly child: ChildView }) {
  const verdict = judgeRun(facts, useServerSecond());
  return (
    <tr>
      <td>
        <RunLink runId={facts.run_id} />
      </td>
      <RunStanding facts={facts} verdict={verdict}>
        {verdict.action?.kind === "open_ticket" && (
          <>
            {" "}
            <Link className="text-link" href={`/tickets/${encodeURIComponent(verdict.action.ticket_id)}`}>
              Open ticket
            </Link>
          </>
        )}
      </RunStanding>
      <td className="mono text-muted-foreground">{call_ref}</td>
    </tr>
  );
}

function RunLink({ runId }: { readonly runId: string }) {
  return (
    <Link className="mono text-link" href={`/runs/${encodeURIComponent(runId)}`} prefetch={false}>
      {runId.length > 24 ? <ShortHash value={runId} /> : <Quoted text={runId} />}
    </Link>
  );
}
