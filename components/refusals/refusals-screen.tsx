"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import { DoorOpen, OctagonX, ShieldCheck, User } from "lucide-react";
import { parseAsString, useQueryStates } from "nuqs";
import { useState } from "react";
import { Filter } from "@/components/console/filter";
import { pathWith, readConsole } from "@/components/console/read";
import { StaleNotice } from "@/components/console/stale-notice";
import { NoMatch, State, Unread } from "@/components/console/states";
import { useReader } from "@/components/shell/reader";
import { TopBar } from "@/components/shell/top-bar";
import { Button } from "@/components/ui/button";
import type { RefusalsPage } from "@/lib/protocol/console-run-view";
import { SURFACES } from "@/lib/protocol/principal";
import { REFUSAL_GROUPS } from "@/lib/protocol/refusal-groups";
import { RefusalLine, SURFACE_WORDS } from "./refusal-line";

const FILTERS = { group: parseAsString, code: parseAsString, actor: parseAsString, surface: parseAsString };
type Filters = { readonly [Name in keyof typeof FILTERS]: string | null };

export function RefusalsScreen() {
  const [filters, setFilters] = useQueryStates(FILTERS, { history: "replace" });
  const { role } = useReader();
  const query = useInfiniteQuery({
    queryKey: ["refusals", filters],
    initialPageParam: "",
    enabled: role !== "approver",
    queryFn: ({ pageParam, signal }) =>
      readConsole<RefusalsPage>(pathWith("/console/refusals", { ...filters, cursor: pageParam }), signal),
    getNextPageParam: (page) => page.next_cursor,
  });
  const first = query.data?.pages[0];
  const rows = query.data?.pages.flatMap((page) => page.rows) ?? [];
  const today = first?.by_verb.reduce((sum, it) => sum + it.count, 0) ?? 0;
  return (
    <>
      <TopBar>
        <h1>Refusals</h1>
        {first && (
          <>
            <span className="whitespace-nowrap text-subtle-foreground">{today} in 24 hours</span>
            <span className="whitespace-nowrap text-subtle-foreground max-md:hidden">
              · none changed anything but the trace
            </span>
          </>
        )}
      </TopBar>
      {role === "approver" ? (
        <State icon={OctagonX} tone="off" title="Operators and owners read the refusals">
          <p>Your role decides; what concerns a ticket of yours stands on its page.</p>
        </State>
      ) : (
        <>
          <RefusalsFilterBar
            filters={filters}
            first={first ?? null}
            today={today}
            onChange={(change) => void setFilters(change)}
          />
          <StaleNotice what="list of refusals" query={query} />
          {first && rows.length > 0 && <RefusalsTable rows={rows} />}
          {first && rows.length === 0 && (
            <NoRefusals
              filtered={Object.values(filters).some((value) => value !== null)}
              onClear={() => void setFilters(null)}
            />
          )}
          {query.hasNextPage && (
            <div className="list-foot">
              <Button onClick={() => void query.fetchNextPage()}>Show more</Button>
            </div>
          )}
          {!first && (
            <Unread
              what="refusals"
              unknown="This says nothing about what was refused; the record is kept."
              query={query}
              dense
            />
          )}
        </>
      )}
    </>
  );
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly first: RefusalsPage | null;
  readonly today: number;
  readonly onChange: (change: Partial<Filters>) => void;
}

function RefusalsFilterBar({ filters, first, today, onChange }: FilterBarProps) {
  const countOf = (verbs: readonly string[]) =>
    first?.by_verb.filter((it) => verbs.includes(it.verb)).reduce((sum, it) => sum + it.count, 0) ?? 0;
  return (
    <section className="filterbar" aria-label="Filters">
      <button
        type="button"
        className="chip"
        aria-pressed={filters.group === null}
        onClick={() => onChange({ group: null })}
      >
        All <b>{today}</b>
      </button>
      {REFUSAL_GROUPS.map((group) => (
        <button
          key={group.name}
          type="button"
          className="chip"
          aria-pressed={filters.group === group.name}
          onClick={() => onChange({ group: group.name })}
        >
          {group.word} <b>{countOf(group.verbs)}</b>
        </button>
      ))}
      <span className="rule" aria-hidden="true" />
      <Filter
        icon={OctagonX}
        name="Reason"
        value={filters.code}
        choices={first?.by_code.map(({ code }) => ({ value: code, label: code })) ?? []}
        onChange={(code) => onChange({ code })}
      />
      <Filter
        icon={User}
        name="Actor"
        value={filters.actor}
        choices={first?.actors.map((value) => ({ value, label: value, quoted: true })) ?? []}
        onChange={(actor) => onChange({ actor })}
      />
      <Filter
        icon={DoorOpen}
        name="Surface"
        value={filters.surface}
        choices={SURFACES.map((value) => ({ value, label: SURFACE_WORDS[value] }))}
        onChange={(surface) => onChange({ surface })}
      />
    </section>
  );
}

function NoRefusals({ filtered, onClear }: { readonly filtered: boolean; readonly onClear: () => void }) {
  if (!filtered) {
    return (
      <State icon={ShieldCheck} tone="off" title="Nothing was refused">
        <p>
          Every refused decision, resume, claim and signal of the workspace is kept here, with what would have passed.
        </p>
      </State>
    );
  }
  return <NoMatch what="refusal" onClear={onClear} />;
}

function RefusalsTable({ rows }: { readonly rows: RefusalsPage["rows"] }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard.
    <section className="scroll-x flex-1" aria-label="Refusals table" tabIndex={0}>
      <table className="data-table roomy stack-md refusals-table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Reason</th>
            <th scope="col">Attempted</th>
            <th scope="col">By</th>
            <th scope="col">Through</th>
            <th scope="col">Run</th>
            <th scope="col">What would have passed</th>
            <th scope="col" className="num">
              Supplied hash
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RefusalLine
              key={row.id}
              row={row}
              open={open === row.id}
              onToggle={() => setOpen(open === row.id ? null : row.id)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}
