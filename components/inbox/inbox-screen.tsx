"use client";

import {
  ArrowUp,
  Bot,
  Gauge,
  Inbox,
  ListFilter,
  MessageCircleQuestionMark,
  SquareFunction,
  Users,
  X,
} from "lucide-react";
import { useRouter } from "next/navigation";
import { useMemo, useState } from "react";
import { Filter } from "@/components/console/filter";
import { Key } from "@/components/console/key";
import { useShortcuts } from "@/components/console/keyboard";
import { RemoveDemo } from "@/components/console/remove-demo";
import { Failing, LoadingRows, StaleNotice, State } from "@/components/console/states";
import { Moment } from "@/components/console/time";
import { useReader } from "@/components/shell/reader";
import { TopBar } from "@/components/shell/top-bar";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { RISKS } from "@/lib/protocol/call";
import type { InboxPage } from "@/lib/protocol/console-view";
import { BulkBar } from "./bulk-bar";
import { InboxRowLine } from "./inbox-row";
import { type InboxFilters, useInboxFilters, useInboxQuery, useSteadyInbox } from "./use-inbox";

export function InboxScreen() {
  const [filters, setFilters] = useInboxFilters();
  const query = useInboxQuery(filters);
  const pages = query.data?.pages;
  const first = pages?.[0];
  return (
    <>
      <TopBar>
        <h1>Inbox</h1>
        {first && (
          <>
            <span className="whitespace-nowrap text-subtle-foreground">
              {first.count}
              {first.count_capped && "+"} open
            </span>
            {first.due_soon > 0 && (
              <span className="whitespace-nowrap text-subtle-foreground max-md:hidden">
                · {first.due_soon} due within 20 minutes
              </span>
            )}
          </>
        )}
      </TopBar>
      <FilterBar filters={filters} onChange={(change) => void setFilters(change)} first={first ?? null} />
      <StaleNotice />
      {pages && first ? (
        <InboxList
          // Other filters are another list: its layout and its selection begin anew.
          key={JSON.stringify(filters)}
          pages={pages}
          hasMore={query.hasNextPage}
          loadingMore={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
          empty={<Nothing filters={filters} first={first} onChange={(change) => void setFilters(change)} />}
        />
      ) : query.isPending ? (
        <LoadingRows what="the inbox" />
      ) : (
        <Failing
          what="The inbox"
          unknown="This says nothing about what is waiting: tickets may be open and their deadlines are running."
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      )}
    </>
  );
}

type Change = Partial<{ readonly [Name in keyof InboxFilters]: InboxFilters[Name] | null }>;

interface FilterBarProps {
  readonly filters: InboxFilters;
  readonly onChange: (change: Change) => void;
  readonly first: InboxPage | null;
}

const RISK_WORDS = { low: "Low", medium: "Medium", high: "High" } as const;
const KIND_WORDS = { permission: "Permission", question: "Question", pause: "Pause" } as const;

function FilterBar({ filters, onChange, first }: FilterBarProps) {
  const quoted = (values: readonly string[]) => values.map((value) => ({ value, label: value, quoted: true }));
  return (
    <section className="filterbar" aria-label="Filters">
      <button
        type="button"
        className="chip"
        aria-pressed={filters.who === "mine"}
        onClick={() => onChange({ who: null })}
      >
        I may decide
      </button>
      <button
        type="button"
        className="chip"
        aria-pressed={filters.who === "everyone"}
        onClick={() => onChange({ who: "everyone" })}
      >
        Everyone’s
      </button>
      <span className="rule" aria-hidden="true" />
      <Filter
        icon={Bot}
        name="Agent"
        value={filters.agent}
        choices={quoted(first?.agents ?? [])}
        onChange={(agent) => onChange({ agent })}
      />
      <Filter
        icon={SquareFunction}
        name="Action"
        value={filters.action}
        choices={quoted(first?.actions ?? [])}
        onChange={(action) => onChange({ action })}
      />
      <Filter
        icon={Gauge}
        name="Risk"
        value={filters.risk}
        choices={[...RISKS].reverse().map((value) => ({ value, label: RISK_WORDS[value] }))}
        onChange={(risk) => onChange({ risk: RISKS.find((it) => it === risk) ?? null })}
      />
      <Filter
        icon={MessageCircleQuestionMark}
        name="Kind"
        value={filters.kind}
        choices={(["permission", "question", "pause"] as const).map((value) => ({ value, label: KIND_WORDS[value] }))}
        onChange={(kind) =>
          onChange({ kind: (["permission", "question", "pause"] as const).find((it) => it === kind) ?? null })
        }
      />
      <RemoveDemo rows={first?.rows ?? []} />
    </section>
  );
}

const CLEARED: Change = { agent: null, action: null, risk: null, kind: null };

interface NothingProps {
  readonly filters: InboxFilters;
  readonly first: InboxPage;
  readonly onChange: (change: Change) => void;
}

/** A query that answered, with no rows: by its filters, or because nothing waits. */
function Nothing({ filters, first, onChange }: NothingProps) {
  const { workspace } = useReader();
  const set = (["kind", "risk", "agent", "action"] as const).filter((name) => filters[name] !== null);
  if (set.length > 0) {
    return (
      <State
        icon={ListFilter}
        tone="off"
        title={`No ticket matches ${set.map((name) => `${name} ${filters[name]}`).join(", ")}`}
        actions={
          <Button onClick={() => onChange(CLEARED)}>
            <X className="icon icon-sm" aria-hidden="true" />
            {set.length === 1 ? "Clear the filter" : `Clear ${set.length} filters`}
          </Button>
        }
      >
        <p>
          {first.open_in_all === 0
            ? "Nothing is open."
            : `${first.open_in_all} ${first.open_in_all === 1 ? "ticket is" : "tickets are"} open in all.`}
        </p>
      </State>
    );
  }
  const mine = filters.who === "mine";
  return (
    <State
      icon={Inbox}
      tone="off"
      title={mine ? "Nothing is waiting for you" : "Nothing is waiting"}
      actions={
        mine &&
        first.open_in_all > 0 && (
          <Button onClick={() => onChange({ who: "everyone" })}>
            <Users className="icon icon-sm" aria-hidden="true" />
            Everyone’s open tickets
          </Button>
        )
      }
    >
      <p>
        No open ticket in {workspace}
        {mine && " that you may decide"}, read from committed rows at <Moment atMs={first.now_ms} />. A new one appears
        here within a second.
      </p>
    </State>
  );
}

interface InboxListProps {
  readonly pages: readonly InboxPage[];
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  readonly onMore: () => void;
  readonly empty: React.ReactNode;
}

function InboxList({ pages, hasMore, loadingMore, onMore, empty }: InboxListProps) {
  const { rows, fresh, sinceMs, layOut } = useSteadyInbox(pages);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(-1);
  const chosen = useMemo(
    () => rows.filter((it) => selected.has(it.row.ticket_id)).map((it) => it.row),
    [rows, selected],
  );
  const selectable = rows.filter((it) => !it.gone && it.row.may_decide && it.row.kind === "permission");
  const toggle = (ticketId: string, on: boolean) => setSelected((now) => withMember(now, ticketId, on));
  useRowKeys(
    rows.map((it) => it.row.ticket_id),
    active,
    setActive,
    (ticketId) => {
      if (selectable.some((it) => it.row.ticket_id === ticketId)) toggle(ticketId, !selected.has(ticketId));
    },
    layOut,
  );
  if (rows.length === 0 && fresh === 0) return empty;
  return (
    <>
      <div className="inbox flex-1" role="table" aria-label="Open tickets">
        <div role="rowgroup">
          <div role="row" className="inbox-head">
            <div role="columnheader">
              <span className="select-cell">
                <Checkbox
                  aria-label="Select all on this page"
                  checked={selected.size > 0 && selected.size === selectable.length}
                  indeterminate={selected.size > 0 && selected.size < selectable.length}
                  onChange={(event) =>
                    setSelected(new Set(event.target.checked ? selectable.map((it) => it.row.ticket_id) : []))
                  }
                />
              </span>
            </div>
            <div role="columnheader">Risk</div>
            <div role="columnheader">Action and target</div>
            <div role="columnheader">Why it asks</div>
            <div role="columnheader">Agent</div>
            <div role="columnheader" className="text-right">
              Deadline
            </div>
            <div role="columnheader" className="text-right">
              Age
            </div>
          </div>
        </div>
        <div role="rowgroup">
          {fresh > 0 && <NewRows fresh={fresh} sinceMs={sinceMs} onShow={layOut} />}
          {rows.map(({ row, gone }, index) => (
            <InboxRowLine
              key={row.ticket_id}
              row={row}
              gone={gone}
              active={index === active}
              selected={selected.has(row.ticket_id)}
              onSelect={(on) => toggle(row.ticket_id, on)}
              onFocus={() => setActive(index)}
            />
          ))}
        </div>
      </div>
      <ListFoot shown={rows.length} pages={pages} hasMore={hasMore} loadingMore={loadingMore} onMore={onMore} />
      {chosen.length > 0 && (
        <BulkBar
          rows={chosen}
          onRemove={(ticketId) => toggle(ticketId, false)}
          onClear={() => setSelected(new Set())}
        />
      )}
    </>
  );
}

function NewRows({
  fresh,
  sinceMs,
  onShow,
}: {
  readonly fresh: number;
  readonly sinceMs: number;
  readonly onShow: () => void;
}) {
  return (
    <div role="row">
      <div role="cell">
        <button type="button" className="new-rows" aria-keyshortcuts="n" onClick={onShow}>
          <ArrowUp className="icon icon-sm" aria-hidden="true" />
          {fresh} new
          <span className="font-normal text-muted-foreground">
            since <Moment atMs={sinceMs} />
          </span>
        </button>
      </div>
    </div>
  );
}

function withMember(set: ReadonlySet<string>, member: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (on) next.add(member);
  else next.delete(member);
  return next;
}

function useRowKeys(
  ticketIds: readonly string[],
  active: number,
  setActive: (index: number) => void,
  onToggle: (ticketId: string) => void,
  onShowNew: () => void,
): void {
  const router = useRouter();
  const go = (index: number) => {
    const next = Math.max(0, Math.min(ticketIds.length - 1, index));
    setActive(next);
    const link = document.querySelector<HTMLElement>(`[data-row="${ticketIds[next]}"] .row-link`);
    link?.focus({ preventScroll: true });
    link?.closest("[data-row]")?.scrollIntoView({ block: "nearest" });
  };
  const current = ticketIds[active];
  useShortcuts({
    j: () => go(active + 1),
    k: () => go(active - 1),
    x: current === undefined ? undefined : () => onToggle(current),
    n: onShowNew,
    f: () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
    Enter:
      current !== undefined && document.activeElement === document.body
        ? () => router.push(`/tickets/${current}`)
        : undefined,
  });
}

interface ListFootProps {
  readonly shown: number;
  readonly pages: readonly InboxPage[];
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  readonly onMore: () => void;
}

function ListFoot({ shown, pages, hasMore, loadingMore, onMore }: ListFootProps) {
  const first = pages[0];
  return (
    <div className="list-foot">
      <span>
        {shown} of {first?.count ?? shown}
        {first?.count_capped && "+"}
      </span>
      {hasMore && (
        <Button onClick={onMore} aria-disabled={loadingMore || undefined}>
          Show more
        </Button>
      )}
      <span className="ml-auto max-md:hidden">
        <Key>J</Key>
        <Key>K</Key> move
      </span>
      <span className="max-md:hidden">
        <Key>⏎</Key> open
      </span>
      <span className="max-md:hidden">
        <Key>X</Key> select
      </span>
      <span className="max-md:hidden">
        <Key>?</Key> all keys
      </span>
    </div>
  );
}
