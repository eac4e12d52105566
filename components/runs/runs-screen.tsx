"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { Bot, CirclePlay, Search, TimerOff, Unplug, Workflow } from "lucide-react";
import Link from "next/link";
import { parseAsBoolean, parseAsString, useQueryStates } from "nuqs";
import { useState } from "react";
import { Filter } from "@/components/console/filter";
import { useShortcuts } from "@/components/console/keyboard";
import { Quoted } from "@/components/console/pieces";
import { pathWith, readConsole } from "@/components/console/read";
import { useServerSecond } from "@/components/console/server-clock";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoMatch, State, Unread } from "@/components/console/states";
import { RUN_LOOKS } from "@/components/console/status-table";
import { Ago, Moment } from "@/components/console/time";
import { TopBar } from "@/components/shell/top-bar";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import type { RunRow, RunsPage } from "@/lib/protocol/console-run-view";
import { drawnAsText } from "@/lib/protocol/hidden-characters";
import { judgeRun } from "@/lib/protocol/verdict";
import { RunStanding } from "./run-standing";

const FILTERS = {
  state: parseAsString,
  agent: parseAsString,
  stuck: parseAsBoolean.withDefault(false),
  expired: parseAsBoolean.withDefault(false),
  q: parseAsString,
};

type Filters = ReturnType<typeof useRunsFilters>[0];

function useRunsFilters() {
  return useQueryStates(FILTERS, { history: "replace" });
}

export function RunsScreen() {
  const [filters, setFilters] = useRunsFilters();
  const asked = {
    state: filters.state,
    agent: filters.agent,
    stuck: filters.stuck ? "true" : null,
    expired: filters.expired ? "true" : null,
    q: filters.q,
  };
  const query = useInfiniteQuery({
    queryKey: ["runs", asked],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      readConsole<RunsPage>(pathWith("/console/runs", { ...asked, cursor: pageParam }), signal),
    getNextPageParam: (page) => page.next_cursor,
  });
  const first = query.data?.pages[0];
  const rows = query.data?.pages.flatMap((page) => page.rows) ?? [];
  const searchedToMs = query.data?.pages.at(-1)?.searched_to_ms ?? null;
  const clear = () => void setFilters(null);
  return (
    <>
      <TopBar>
        <h1>Runs</h1>
        {first && (
          <span className="whitespace-nowrap text-subtle-foreground">
            {first.runs_in_all}
            {first.runs_in_all >= 1_000 && "+"} in all
          </span>
        )}
      </TopBar>
      <RunsFilterBar filters={filters} agents={first?.agents ?? []} onChange={(change) => void setFilters(change)} />
      <StaleNotice what="list of runs" query={query} />
      {first && rows.length > 0 && <RunsTable rows={rows} />}
      {first && rows.length === 0 && (
        <NoRuns
          filtered={Object.values(asked).some((value) => value !== null)}
          searchedToMs={searchedToMs}
          inAll={first.runs_in_all}
          onClear={clear}
        />
      )}
      {query.hasNextPage && (
        <div className="list-foot">
          {searchedToMs !== null && (
            <span>
              Searched the runs since <Moment atMs={searchedToMs} />
            </span>
          )}
          <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {searchedToMs === null ? "Show more" : "Search older runs"}
          </Button>
        </div>
      )}
      {!first && <Unread what="runs" unknown="This says nothing about what runs or waits." query={query} dense />}
    </>
  );
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly agents: readonly string[];
  readonly onChange: (change: Partial<{ [Name in keyof Filters]: Filters[Name] | null }>) => void;
}

function RunsFilterBar({ filters, agents, onChange }: FilterBarProps) {
  const [typed, setTyped] = useState(filters.q ?? "");
  return (
    <section className="filterbar" aria-label="Filters">
      <Filter
        icon={CirclePlay}
        name="State"
        value={filters.state}
        choices={Object.entries(RUN_LOOKS).map(([value, look]) => ({ value, label: look.word }))}
        onChange={(state) => onChange({ state })}
      />
      <Filter
        icon={Bot}
        name="Agent"
        value={filters.agent}
        choices={agents.map((value) => ({ value, label: value, quoted: true }))}
        onChange={(agent) => onChange({ agent })}
      />
      <span className="rule" aria-hidden="true" />
      <button
        type="button"
        className="chip"
        aria-pressed={filters.stuck}
        onClick={() => onChange({ stuck: filters.stuck ? null : true })}
      >
        <Unplug className="icon icon-sm" aria-hidden="true" />
        Stuck
      </button>
      <button
        type="button"
        className="chip"
        aria-pressed={filters.expired}
        onClick={() => onChange({ expired: filters.expired ? null : true })}
      >
        <TimerOff className="icon icon-sm" aria-hidden="true" />
        Expired
      </button>
      <form
        className="relative ml-auto w-56 flex-none"
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ q: typed.trim() || null });
        }}
      >
        <Search
          className="icon icon-sm pointer-events-none absolute top-[7px] left-2 text-subtle-foreground"
          aria-hidden="true"
        />
        <Input
          className="pl-7"
          aria-label="Text in arguments"
          placeholder="Text in arguments, or an id"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => onChange({ q: typed.trim() || null })}
        />
      </form>
    </section>
  );
}

function NoRuns({
  filtered,
  searchedToMs,
  inAll,
  onClear,
}: {
  readonly filtered: boolean;
  readonly searchedToMs: number | null;
  readonly inAll: number;
  readonly onClear: () => void;
}) {
  if (filtered) {
    return (
      <NoMatch what="run" onClear={onClear}>
        {searchedToMs === null ? (
          <p>
            {inAll} {inAll === 1 ? "run is" : "runs are"} here in all.
          </p>
        ) : (
          <p>
            None since <Moment atMs={searchedToMs} />. Older ones have not been looked at yet.
          </p>
        )}
      </NoMatch>
    );
  }
  return (
    <State icon={Workflow} tone="off" title="No run yet">
      <p>A run appears here when an agent opens one, by the API or a recording.</p>
    </State>
  );
}

function RunsTable({ rows }: { readonly rows: readonly RunRow[] }) {
  const [active, setActive] = useState(-1);
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    document.querySelectorAll<HTMLElement>(".runs-table .row-link")[next]?.focus();
  };
  useShortcuts({
    j: () => go(active + 1),
    k: () => go(active - 1),
    f: () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard.
    <section className="scroll-x flex-1" aria-label="Runs table" tabIndex={0}>
      <table className="data-table roomy stack-md runs-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Agent</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col" className="num">
              Steps
            </th>
            <th scope="col">Last seen</th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <RunLine key={row.facts.run_id} row={row} active={index === active} onFocus={() => setActive(index)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RunLine({
  row,
  active,
  onFocus,
}: {
  readonly row: RunRow;
  readonly active: boolean;
  readonly onFocus: () => void;
}) {
  const now = useServerSecond();
  const { facts } = row;
  const verdict = judgeRun(facts, now);
  return (
    <tr data-link="" data-active={active || undefined}>
      <td>
        <Link
          className="row-link mono"
          href={`/runs/${encodeURIComponent(facts.run_id)}`}
          onFocus={onFocus}
          prefetch={false}
        >
          <span
            className="inline-block max-w-[22ch] overflow-hidden text-ellipsis align-bottom"
            title={drawnAsText(facts.run_id)}
          >
            <Quoted text={facts.run_id} />
          </span>
        </Link>
        {row.is_demo && <span className="flag flag-outline tone-off ml-2">Demo</span>}
      </td>
      <RunStanding facts={facts} verdict={verdict} />
      <td className="num max-md:hidden text-muted-foreground">{row.steps}</td>
      <td className="max-md:hidden text-subtle-foreground">
        {facts.last_seen_ms === null ? "–" : <Ago atMs={facts.last_seen_ms} />}
      </td>
      <td className="max-md:hidden text-subtle-foreground">
        <Moment atMs={facts.created_ms} />
      </td>
    </tr>
  );
}
