"use client";

import Link from "next/link";
import { Quoted } from "@/components/console/pieces";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoSuch, Unread } from "@/components/console/states";
import { RunTopBar, useRunQuery } from "@/components/runs/run-screen";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { TraceSection } from "./trace-section";

/** The trace alone, for a link that means nothing else. */
export function TraceScreen({ runId }: { readonly runId: string }) {
  const query = useRunQuery(runId);
  const page = query.data;
  return (
    <>
      <RunTopBar runId={runId} page={page ?? null}>
        <Link
          className="mono cut min-w-0 text-muted-foreground hover:text-foreground"
          href={`/runs/${encodeURIComponent(runId)}`}
          title={drawnAsText(runId)}
        >
          <Quoted text={runId} />
        </Link>
        <span className="text-faint" aria-hidden="true">
          /
        </span>
        <h1>Trace</h1>
      </RunTopBar>
      <StaleNotice what="run" query={query} />
      {page ? (
        <TraceSection
          runId={page.run_id}
          workspaceId={page.workspace_id}
          refusals={page.refusals}
          told={query.isError}
        />
      ) : (
        <Unread
          what="trace"
          unknown="This says nothing about what happened; the record is kept."
          query={query}
          dense
          missing={<NoSuch what="run" list="runs" />}
        />
      )}
    </>
  );
}
