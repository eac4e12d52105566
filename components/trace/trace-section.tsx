"use client";

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ListFilter, OctagonX } from "lucide-react";
import { parseAsBoolean, parseAsInteger, parseAsString, useQueryStates } from "nuqs";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Filter } from "@/components/console/filter";
import { useShortcuts } from "@/components/console/keyboard";
import { NotReadAgain } from "@/components/console/stale-notice";
import { Failing, LoadingRows, State } from "@/components/console/states";
import type { TraceLine } from "@/lib/protocol/trace-line";
import { ChainMark } from "./chain-mark";
import { PayloadDrawer } from "./payload-drawer";
import { hasDetail } from "./refusal-detail";
import { TraceRowLine } from "./trace-row";
import { useChain, useTraceLines, useTraceQuery } from "./use-trace";

interface TraceSectionProps {
  readonly runId: string;
  readonly workspaceId: string;
  readonly refusals: number;
  /** Its page has said already that it could not be read again: the same cause is told once. */
  readonly told: boolean;
}

const FILTERS = { refused: parseAsBoolean.withDefault(false), type: parseAsString, event: parseAsInteger };

/** The run's record: every event, its chain checked here, refusals standing out. Its filters and its open event are in the URL. */
export function TraceSection({ runId, workspaceId, refusals, told }: TraceSectionProps) {
  const query = useTraceQuery(runId);
  const rows = query.data ?? NONE;
  const lines = useTraceLines(rows);
  const chain = useChain(rows, !query.isFetching && query.isSuccess, workspaceId, runId);
  const [filters, setFilters] = useQueryStates(FILTERS, { history: "replace" });
  const shown = useMemo(
    () =>
      lines.filter(
        (line) => (!filters.refused || line.refused) && (filters.type === null || line.typeWord === filters.type),
      ),
    [lines, filters.refused, filters.type],
  );
  const selected = lines.find((line) => line.seq === filters.event) ?? null;
  const step = (by: -1 | 1) => {
    const next = shown[shown.findIndex((line) => line.seq === filters.event) + by];
    if (next) void setFilters({ event: next.seq });
  };
  const close = () => void setFilters({ event: null });
  useShortcuts({ j: () => step(1), k: () => step(-1), Escape: close });
  return (
    <section aria-labelledby="trace">
      <div className="filterbar border-b-0 max-sm:flex-wrap max-sm:py-2">
        <h2 className="font-semibold" id="trace">
          Trace
        </h2>
        {query.isSuccess && <ChainMark chain={chain} />}
        <span className="ml-auto" />
        <button
          type="button"
          className="chip"
          aria-pressed={filters.refused}
          onClick={() => void setFilters({ refused: filters.refused ? null : true })}
        >
          <OctagonX className="icon icon-sm" aria-hidden="true" />
          Refusals <b>{refusals}</b>
        </button>
        <Filter
          icon={ListFilter}
          name="Type"
          value={filters.type}
          choices={[...new Set(lines.map((line) => line.typeWord))].sort().map((value) => ({ value, label: value }))}
          onChange={(type) => void setFilters({ type })}
        />
      </div>
      {!told && rows.length > 0 && <NotReadAgain what="trace" query={query} />}
      <div className="trace-split" data-drawer={selected ? "" : undefined}>
        {query.isError && rows.length === 0 ? (
          <Failing
            what="The trace"
            unknown="This says nothing about what happened; the record is kept."
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        ) : query.isPending ? (
          <LoadingRows what="the trace" dense />
        ) : (
          <TraceTable
            lines={shown}
            selected={filters.event}
            total={lines.length}
            onOpen={(seq) => void setFilters({ event: seq === filters.event ? null : seq })}
          />
        )}
        {selected && <PayloadDrawer line={selected} onStep={step} onClose={() => void setFilters({ event: null })} />}
      </div>
    </section>
  );
}

const NONE: readonly never[] = [];

interface TraceTableProps {
  readonly lines: readonly TraceLine[];
  readonly selected: number | null;
  readonly total: number;
  readonly onOpen: (seq: number) => void;
}

function TraceTable({ lines, selected, total, onOpen }: TraceTableProps) {
  if (lines.length === 0) {
    return (
      <State icon={ListFilter} tone="off" title={total === 0 ? "No event yet" : "No event matches"}>
        <p>
          {total === 0 ? "The first one is written with the run’s first step." : `${total} events are in the trace.`}
        </p>
      </State>
    );
  }
  return (
    <div className="trace min-w-0" role="table" aria-label="Trace table" aria-rowcount={lines.length}>
      <div role="rowgroup">
        <div role="row" className="trace-head">
          <span role="columnheader" className="text-right">
            Seq
          </span>
          <span role="columnheader">Time</span>
          <span role="columnheader">Event</span>
          <span role="columnheader" className="cell-actor">
            Actor
          </span>
          <span role="columnheader">Reason</span>
          <span role="columnheader" className="cell-hash text-right">
            Hash
          </span>
        </div>
      </div>
      {lines.length > DRAWN_WHOLE ? (
        <LongTrace lines={lines} selected={selected} onOpen={onOpen} />
      ) : (
        <ShortTrace lines={lines} selected={selected} onOpen={onOpen} />
      )}
    </div>
  );
}

/** Up to here all rows are in the page, so that the browser's own search finds them. */
const DRAWN_WHOLE = 200;

type RowsProps = Omit<TraceTableProps, "total">;

function ShortTrace({ lines, selected, onOpen }: RowsProps) {
  return (
    <div role="rowgroup">
      {lines.map((line) => (
        <TraceRowLine key={line.seq} line={line} selected={line.seq === selected} onOpen={() => onOpen(line.seq)} />
      ))}
    </div>
  );
}

const ROW = 33;
const ROW_WITH_DETAIL = 150;

/** Only the rows near the window are drawn; each is measured, since a refusal is taller. */
function LongTrace({ lines, selected, onOpen }: RowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (lines[index] && hasDetail(lines[index]) ? ROW_WITH_DETAIL : ROW),
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => lines[index]?.seq ?? index,
  });
  useEffect(() => {
    const index = lines.findIndex((line) => line.seq === selected);
    if (index >= 0) rows.scrollToIndex(index, { align: "auto" });
  }, [selected, lines, rows]);
  return (
    <div role="rowgroup" ref={list} className="relative" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map((item) => {
        const line = lines[item.index];
        return line ? (
          <div
            key={item.key}
            ref={rows.measureElement}
            data-index={item.index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${item.start - top}px)` }}
          >
            <TraceRowLine line={line} selected={line.seq === selected} onOpen={() => onOpen(line.seq)} />
          </div>
        ) : null;
      })}
    </div>
  );
}
