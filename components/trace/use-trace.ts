"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { pathWith, readConsole } from "@/components/console/read";
import type { TracePage, TraceRow } from "@/lib/protocol/console-run-view";
import { type ChainVerdict, verifyChain } from "@/lib/protocol/trace-event";
import { type TraceLine, traceLine } from "@/lib/protocol/trace-line";

/** All events so far, window by window, oldest first; what is known already is never read twice. */
export function useTraceQuery(runId: string) {
  const queries = useQueryClient();
  const queryKey = ["run", runId, "trace"];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      let rows = queries.getQueryData<readonly TraceRow[]>(queryKey) ?? [];
      for (;;) {
        const after = String(rows.at(-1)?.seq ?? 0);
        const page = await readConsole<TracePage>(
          pathWith(`/console/runs/${encodeURIComponent(runId)}/trace`, { after }),
          signal,
        );
        if (page.rows.length > 0) rows = [...rows, ...page.rows];
        if (!page.more) return rows;
        // The first windows are shown while the rest is read.
        queries.setQueryData(queryKey, rows);
      }
    },
    structuralSharing: false,
  });
}

export function useTraceLines(rows: readonly TraceRow[]): readonly TraceLine[] {
  return useMemo(() => rows.map(traceLine), [rows]);
}

/** A long chain takes a while to hash; checking it again waits until no more events come. */
const AT_ONCE = 2_000;

export type ChainState = { readonly kind: "checking" } | { readonly kind: "checked"; readonly verdict: ChainVerdict };

/** Every hash and link recomputed in this browser, from the texts as they were stored. */
export function useChain(rows: readonly TraceRow[], complete: boolean, workspaceId: string, runId: string): ChainState {
  const [state, setState] = useState<ChainState>({ kind: "checking" });
  useEffect(() => {
    if (!complete) return undefined;
    const check = () => {
      const chain = rows.map((row) => ({ text: row.event_text, hash: row.hash }));
      setState({ kind: "checked", verdict: verifyChain(chain, { workspace_id: workspaceId, run_id: runId }) });
    };
    const timer = setTimeout(check, rows.length > AT_ONCE ? 400 : 0);
    return () => clearTimeout(timer);
  }, [rows, complete, workspaceId, runId]);
  return state;
}
