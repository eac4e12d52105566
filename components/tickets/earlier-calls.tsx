"use client";

import { ChevronRight } from "lucide-react";
import Link from "next/link";
import { Effect } from "@/components/console/effect";
import { Quoted } from "@/components/console/pieces";
import { Status } from "@/components/console/status";
import { callLook } from "@/components/console/status-table";
import { Moment } from "@/components/console/time";
import { readJson } from "@/lib/protocol/canonical-json";
import type { TicketPage } from "@/lib/protocol/console-view";

/** A result that is a text is shown as that text; anything else, and a text that was cut, as the JSON that it is. */
function wordsOf(preview: string): string {
  const read = readJson(preview);
  return read.ok && typeof read.value === "string" ? read.value : preview;
}

export function EarlierCalls({ page }: { readonly page: TicketPage }) {
  if (page.earlier_calls.length === 0) return null;
  return (
    <section className="section" aria-labelledby="earlier">
      <div className="section-head mb-0.5">
        <h2 id="earlier">Earlier in this run</h2>
        <span className="note max-md:hidden">
          {page.earlier_calls_count} {page.earlier_calls_count === 1 ? "call" : "calls"}, newest first
        </span>
        <Link className="crumb ml-auto" href={`/runs/${encodeURIComponent(page.run_id)}`}>
          Whole run
          <ChevronRight className="icon icon-sm" aria-hidden="true" />
        </Link>
      </div>
      <table className="plain-table calls">
        <thead className="sr-only">
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Call</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {page.earlier_calls.map((call) => (
            <tr key={call.call_ref}>
              <td className="lead-time">
                <Moment atMs={call.at_ms} />
              </td>
              <td>
                <span className="flex min-w-0 flex-wrap gap-x-2">
                  <span className="mono">
                    <Quoted text={call.action} />
                  </span>
                  <Effect effect={call.effect} />
                </span>
                {call.result_preview !== null && (
                  <span className="frame mt-1.5 mb-1 block px-2.5 py-1.5">
                    <span className="mono quoted-text block">
                      <Quoted text={wordsOf(call.result_preview)} lines="shown" />
                    </span>
                  </span>
                )}
              </td>
              <td className="text-right">
                <Status look={callLook(call.status, call.outcome)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
