"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import Link from "next/link";
import { Advice } from "@/components/console/advice";
import { ShortHash } from "@/components/console/hash";
import { HashComparison } from "@/components/console/hash-comparison";
import { Quoted } from "@/components/console/pieces";
import { TONE_CLASS } from "@/components/console/status";
import { Moment } from "@/components/console/time";
import type { RefusalRow } from "@/lib/protocol/console-run-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import type { Surface } from "@/lib/protocol/principal";
import { attemptedWord } from "@/lib/protocol/refusal-groups";
import { refusedHashes } from "@/lib/protocol/trace-line";

export const SURFACE_WORDS: Readonly<Record<Surface, string>> = {
  console: "Console",
  api: "API",
  cli: "Command line",
  worker: "Worker",
  system: "System",
};

interface RefusalLineProps {
  readonly row: RefusalRow;
  readonly open: boolean;
  readonly onToggle: () => void;
}

export function RefusalLine({ row, open, onToggle }: RefusalLineProps) {
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <>
      <tr data-refused={open || undefined}>
        <td className="time text-muted-foreground">
          <Moment atMs={row.at_ms} />
        </td>
        <td className="lead">
          <button
            type="button"
            className={`status ${TONE_CLASS.bad} h-6`}
            aria-expanded={open}
            aria-label={`${row.code}, open details`}
            onClick={onToggle}
          >
            <Chevron className="icon icon-sm" aria-hidden="true" />
            <span className={open ? "mono font-medium text-bad" : "mono"}>{row.code}</span>
          </button>
        </td>
        <td>
          {attemptedWord(row.verb, row.late_verdict)}
          <span className="ml-2 text-muted-foreground sm:hidden">
            <Quoted text={row.actor} />
          </span>
        </td>
        <td className="by text-muted-foreground">
          <Quoted text={row.actor} />
        </td>
        <td className="max-md:hidden text-muted-foreground">{SURFACE_WORDS[row.surface]}</td>
        <td className="run">
          <RunLink row={row} />
        </td>
        <td className="fill text-muted-foreground">
          <Advice words={row.advice} />
        </td>
        <td className="num max-md:hidden">
          {row.supplied_hash === null ? (
            <span className="text-subtle-foreground">None</span>
          ) : (
            <ShortHash value={row.supplied_hash} />
          )}
        </td>
      </tr>
      {open && <Details row={row} />}
    </>
  );
}

/** What was to be opened is not there yet, and what names no run misses none. */
function withoutRun({ verb, named_run }: RefusalRow): string {
  if (verb === "open_run") return "Not opened";
  return named_run === null ? "–" : "No such run";
}

function RunLink({ row }: { readonly row: RefusalRow }) {
  if (row.run_id === null) return <span className="text-subtle-foreground">{withoutRun(row)}</span>;
  const event = row.seq === null ? "" : `?event=${row.seq}`;
  return (
    <Link
      className="mono text-link inline-block max-w-[16ch] overflow-hidden text-ellipsis align-bottom"
      href={`/runs/${encodeURIComponent(row.run_id)}${event}`}
      title={drawnAsText(row.run_id)}
    >
      <Quoted text={row.run_id} />
    </Link>
  );
}

function Details({ row }: { readonly row: RefusalRow }) {
  const { lines, reference } = refusedHashes({ ...row });
  return (
    <tr className="detail">
      <td className="max-md:hidden" />
      <td colSpan={7}>
        <div className="grid gap-3">
          {reference !== null && (
            <HashComparison
              lines={lines}
              reference={reference}
              says={reference.name === "approval" ? "what was allowed" : "what is stored"}
            />
          )}
          <p className="flex flex-wrap gap-x-2 text-muted-foreground">
            {row.seq !== null && row.run_id !== null && (
              <>
                <span>
                  Kept as event {row.seq} of{" "}
                  <Link className="mono text-link" href={`/runs/${encodeURIComponent(row.run_id)}?event=${row.seq}`}>
                    <Quoted text={row.run_id} />
                  </Link>
                </span>
                <span>·</span>
              </>
            )}
            {row.run_id === null && row.named_run !== null && (
              <>
                <span>
                  It named <Quoted text={row.named_run} />
                </span>
                <span>·</span>
              </>
            )}
            {row.named_ticket !== null && row.run_id !== null && (
              <>
                <Link className="text-link" href={`/tickets/${row.named_ticket}`}>
                  its ticket
                </Link>
                <span>·</span>
              </>
            )}
            <span>ticket, call and run unchanged</span>
            <span>·</span>
            <span>nothing was executed</span>
          </p>
        </div>
      </td>
    </tr>
  );
}
